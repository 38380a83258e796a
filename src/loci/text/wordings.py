"""Relation and subject of a question in any wording, from the relations alone: no corpus and no list of names.

By the first of these that applies:

1. a template fits to the letter;
2. a template fits but for case, punctuation, an article, or a typing error in its own words;
3. the subject is the longest run of words that look like a name, once the words of every template and the common words
   of questions are taken away; the relation is the one whose words the question has. Every other word must be one that
   leaves what is asked as it is: "Which team was Ada born to lead?" is another question, which nobody taught.

A name typed without capitals, or in nothing else, gets its own back, where the relation's subjects have them. Knows
nothing of models.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from loci.text.relations import Relation
from loci.text.scripts import PUNCTUATION
from loci.text.template import Template, answer_kinds

_PRONOUNS = frozenset("he she it they him her them his its their".split())
_QUESTION_WORDS = frozenset("where who whom whose when what which why how".split())
_COMMON = frozenset(
    "a an the is are was were be been being am do does did done has have had will would can could shall should may "
    "might must of in on at to for by from with about as than and or not no so that this these those there here i "
    "me my we us our you your please tell say know name give find show let exactly actually really ever come comes "
    "came get got also then now just any some someone person people place town city country year date time day "
    "called named like want never wasn't weren't isn't aren't didn't doesn't don't hasn't haven't".split()
).union(_QUESTION_WORDS, _PRONOUNS)
#: May stand beside the words of a taught form: the question stays the same.
_HARMLESS = _COMMON.difference(
    "with as than for to and or not no never so some someone name give person people".split(),
    (word for word in _COMMON if answer_kinds([word]) or word.endswith("n't")),
) | frozenset("hi hello thanks remind ask need wonder wondering idea exact precisely again".split())
_REQUEST = re.compile(r"\b(to (know|tell|say|name|find|ask)|give (me|us))\b")
#: What "what" or "which" asks for; for yes or no asks a question that begins with a verb and has no such word.
_WANTED = re.compile(r"\bwh(?:at|ich)(?: (?:is|are|was|were|the|an?|exact|name|of))* ([^ ]+)")
_VERBS = frozenset("is are was were am do does did has have had will would can could shall should may must".split())
_PLACES = frozenset("village region state location spot".split())
#: Words of their own, one letter from words of common questions: they are no typing errors. "make" is not here next to
#: "made": another form of a word asks the same.
_NO_ERRORS = (_COMMON - {"were"}).union(
    "alive aware band barn bars beam bean bears bold boon bore bother bounded burn carried caught cells chill clay "
    "coast cold corn county dead depth diet dined dive down dried driver dyed each eight fade famed farther feather "
    "filled five fold fork form fountain fund funded gather girth give gives gold guilt head header hear height held "
    "hold horn host indented inverted invested lace lead leaf lend lied life like liked likes lime line lined lines "
    "load loader lost love loved loves mad male mare marker mate maternal maze mode morn most notion old other own "
    "pace parity part patent pay peace peak pears placed plan plane plans plate pointed porn port post pounded praised "
    "prayed pride prime prince printed prize quilt rather reach read reader resigned rider rounded selected short "
    "skilled sold sole solid sort sounded spot sturdy tainted tea tear tells term tied told ton torn wade ward weight "
    "wide wine winter wire wise woke word wore worm worn wounded years yield".split()
)
#: In lower case inside what a template leaves they begin another clause: "Ada Moss when the war was".
_NOT_IN_NAMES = _QUESTION_WORDS.union("not never was were is did does that or his their while".split())
#: Small words inside a name that questions seldom have elsewhere.
_PARTICLES = frozenset("af al av bin da de del della den der di dos du el ibn la le st ten ter van von y zu".split())
_JOINED = _PARTICLES | {"of", "the"}
_CAPITALS = re.compile(r"(^mc|^|[-'’.(])(\w)")
_AROUND = PUNCTUATION


class Meaning(NamedTuple):
    """What a question asks; `relation` or `subject` is None where it cannot be told."""

    relation: Relation | None
    subject: str | None
    how: Literal["template", "near template", "words", "nothing"]
    template: Template | None = None
    """The one that fits, or else the relation's first."""

    @property
    def question(self) -> str | None:
        """The question in the form that was taught; None where relation or subject is missing."""
        return self.template.ask(self.subject) if self.template is not None and self.subject is not None else None


def find_subject(question: str, relations: Sequence[Relation]) -> Meaning:
    """The relation and the subject of a question."""
    templates = sorted(
        ((template, relation) for relation in relations for template in relation.templates),
        key=lambda pair: -pair[0].fixed,
    )
    for template, relation in templates:
        subject = template.subject_of(question)
        if subject is not None and not _another(subject, relation):
            return Meaning(relation, _in_case(subject, question, [relation]), "template", template)
    words = [word for word in question.split() if word.strip(_AROUND)]
    near = [
        (cost, -template.fixed, index, subject)
        for index, (template, relation) in enumerate(templates)
        for cost, subject in _near(words, template)
        if not _another(subject, relation)
    ]
    if near:
        *_, index, subject = min(near)
        template, relation = templates[index]
        return Meaning(relation, _in_case(subject, question, [relation]), "near template", template)
    start, end = _name_in(words, relations)
    subject = re.sub(r"['’]s$", "", _trimmed(" ".join(words[start:end])))
    if not subject:
        return Meaning(None, None, "nothing")
    if start > 1 and _plain(words[start - 2]) in ("the", "a", "an") and words[start - 1].islower():
        start -= 1  # what somebody is: "the painter Ada Moss"
    own = set(map(_plain, words[start:end]))
    rest = [word for word in map(_plain, words[:start] + words[end:]) if word not in own and re.search(r"\w", word)]
    found = _nearest(rest, relations)
    if found is not None and (not _asks(rest, found) or (start > 0 and _yes_or_no(rest))):
        found = None
    return Meaning(found, _in_case(subject, question, relations), "words", found.templates[0] if found else None)


def _another(subject: str, relation: Relation) -> bool:
    """Whether what a template leaves is somebody else than it names: "Ada's mother", "the wife of Ada", "Ada when"."""
    words = subject.split()
    if not relation.names or len(words) < 2:
        return False
    small = [word.islower() and word not in _JOINED for word in words]
    owned = any(re.search(r"['’]s$", word) and next_small for word, next_small in zip(words, small[1:], strict=False))
    parts = zip(small, words[1:], words[2:], strict=False)
    part_of = any(noun and of == "of" and name[0].isupper() for noun, of, name in parts)
    return owned or part_of or not _NOT_IN_NAMES.isdisjoint(words)


# A template with small differences.


def _near(words: Sequence[str], template: Template) -> Iterator[tuple[int, str]]:
    """The subjects that the template leaves of these words, each with the number of letters that differ."""
    ending = re.match(r"['’]s\b", template.suffix)
    before, after = template.prefix.split(), template.suffix[ending.end() if ending else 0 :].split()
    after = [word for word in after if _plain(word)]
    bare = [word for word in before if _plain(word) not in ("the", "a", "an")]
    for first, last in dict.fromkeys(((*before,), (*after,)) for before in (before, bare)):
        middle = words[len(first) : len(words) - len(last)]
        if not middle or not (first or last):
            continue
        given = [*words[: len(first)], *words[len(first) + len(middle) :]]
        costs = [_cost(_plain(a), _plain(b)) for a, b in zip(given, (*first, *last), strict=True)]
        subject = _trimmed(" ".join(middle))
        if ending:
            stem = re.sub(r"['’]s?$", "", subject)
            costs.append(0 if stem != subject else 1)
            subject = stem
        if subject and None not in costs and _plain(subject) not in _COMMON - _PRONOUNS:
            yield sum(cost or 0 for cost in costs) + len(before) - len(first), subject


@lru_cache(maxsize=4096)
def _cost(typed: str, meant: str) -> int | None:
    """How many letters were mistyped, one at most: more, less, other or two swapped; None when it is another word."""
    if typed == meant:
        return 0
    if len(typed) < 3 or len(meant) < 4 or typed in _NO_ERRORS:
        return None
    start = _shared(typed, meant)
    a, b = typed[start:], meant[start:]
    return 1 if _swapped(a, b) or a[1:] == b[1:] or a[1:] == b or a == b[1:] else None


def _shared(one: str, other: str) -> int:
    """With how many same letters two words begin."""
    differ = (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differ, min(len(one), len(other)))


def _swapped(typed: str, meant: str) -> bool:
    return any(typed == meant[:i] + meant[i : i + 2][::-1] + meant[i + 2 :] for i in range(len(meant) - 1))


# Other wordings.


def _name_in(words: Sequence[str], relations: Sequence[Relation]) -> tuple[int, int]:
    """Where the longest run of words that look like a name begins and ends; the last of equals."""
    own = {word for relation in relations for word in _telling_words(relation)}
    capitals = [word[:1].isupper() for word in (word.lstrip(_AROUND) for word in words)]
    by_case = any(capitals[1:]) and not all(capitals)  # then a capital after the first word tells a name

    if not by_case and not _PRONOUNS.isdisjoint(map(_plain, words)):
        return 0, 0  # "Who was her mother?" names nobody

    def like_a_name(index: int) -> bool:
        word = _plain(words[index])
        taken = word in _COMMON or any(_cost(word, known) is not None for known in own)
        if by_case:
            return capitals[index] and not (index == 0 and taken)
        return not taken and word not in _PARTICLES

    joining = _JOINED if by_case else _PARTICLES
    best = (0, 0)
    start: int | None = None  # of a name, which small words may go on with
    for index, word in enumerate(words):
        if like_a_name(index):
            start = index if start is None else start
            best = max(best, (start, index + 1), key=lambda run: (run[1] - run[0], run[0]))
        elif _plain(word) not in joining:
            start = None
        if word[-1] in ",;:" or (not by_case and re.search(r"['’]s$", word)):
            start = None
    return best


def _nearest(words: Sequence[str], relations: Sequence[Relation]) -> Relation | None:
    """The relation that shares most of its telling words with the question; None where several do, or none.

    "When was Ada born?" is not asked by "Where was {subject} born?": they want another kind of answer.
    """
    telling = [_telling_words(relation) for relation in relations]
    wanted = answer_kinds(words)
    spread = Counter(word for own in telling for word in own)
    scores = []
    for own in telling:
        kinds = answer_kinds(own)
        if wanted and kinds and wanted.isdisjoint(kinds):
            scores.append(0.0)
            continue
        shared = [word for word in own if any(_same_stem(word, given) for given in words)]
        content = sum(1 / spread[word] for word in shared if word not in _COMMON)
        asking = sum(0.1 / spread[word] for word in shared if word in _QUESTION_WORDS)
        scores.append(content + asking if content else 0.0)
    best = max(scores, default=0.0)
    return relations[scores.index(best)] if best > 0 and scores.count(best) == 1 else None


def _asks(words: Sequence[str], relation: Relation) -> bool:
    """Whether a question with these words beside the subject asks for the relation and for nothing else.

    Not one with a word that nothing explains, with a negation, or for another kind of answer.
    """
    own = _telling_words(relation)
    kinds = answer_kinds(own)
    forms = {word for template in relation.templates for word in template.words}

    def is_own(word: str) -> bool:
        if asked := answer_kinds([word]):
            return asked <= kinds if kinds else word not in _QUESTION_WORDS
        return (word in _PLACES and "where" in kinds) or any(_same_stem(known, word) for known in own)

    def explained(before: str, word: str) -> bool:
        if word == "name":  # "Name the town", "the name of the town"; not "the birth name"
            return before in ("", "you", "please") or bool(answer_kinds(words))
        mistyped = word not in _NO_ERRORS and any(_swapped(word, form) for form in forms)
        return word in _HARMLESS or mistyped or is_own(word)

    text = _REQUEST.sub("", " ".join(words))
    wanted = _WANTED.search(text) if kinds else None
    return all(map(explained, ("", *text.split()), text.split())) and (wanted is None or is_own(wanted[1]))


def _yes_or_no(words: Sequence[str]) -> bool:
    """ "Was Ada born in a town?"; "Do you know the birthplace of Ada?" is asked politely."""
    polite = {"you", "i", "we"}.issuperset(words[1:2])
    return _VERBS.issuperset(words[:1]) and not polite and _QUESTION_WORDS.isdisjoint(words)


def _telling_words(relation: Relation) -> set[str]:
    texts = [relation.name.replace("-", " ").replace("_", " "), *(f"{t.prefix} {t.suffix}" for t in relation.templates)]
    words = {_plain(word) for text in texts for word in text.split()} - {""}
    return {word for word in words if word not in _COMMON or word in _QUESTION_WORDS or answer_kinds([word])}


def _same_stem(word: str, given: str) -> bool:
    """Whether two words are the same but for an ending or a typing error: designed, designer; capital, captial."""
    shorter, shared = min(len(word), len(given)), _shared(word, given)
    # Two long endings make two words: birthplace, birthday.
    alike = shorter >= 5 and shared >= max(4, shorter - 2)
    ending = len(word) >= 3 and given.removeprefix(word) in ("s", "d", "ed", "ing", "er", "r")
    return alike or ending or _cost(given, word) is not None


def _plain(word: str) -> str:
    return re.sub(r"'(s|d|ll|m|re|ve)$", "", word.strip(_AROUND).casefold().replace("’", "'"))


def _trimmed(name: str) -> str:
    """A name without the punctuation of the question; the stop of an initial and a bracket of its own stay."""
    name = name.strip('?!,;:"“”«» ؟？！।').removeprefix("'").removesuffix("'")
    name = name if "(" in name else name.strip("()")
    return name if re.search(r"\b(\w|Jr|Sr)\.$", name) else name.rstrip(".")


_SHOUTED = re.compile(r"(?=.*[AEIOUYÀ-ÖØ-Ý])[^\W\d_]{3,}")


def _in_case(name: str, question: str, relations: Sequence[Relation]) -> str | None:
    """The name with capitals at its words' beginnings, where it has none or nothing else; None for a pronoun."""
    if _plain(name) in _PRONOUNS:
        return None
    # "IBM", "DJ AM", "BMW Isetta" and "KLM 507" are spelled so; a name of longer words with vowels is not.
    shouted = question.isupper() or (name.isupper() and " " in name and all(map(_SHOUTED.fullmatch, name.split())))
    if not any(relation.names for relation in relations) or not (name.islower() or shouted):
        return name
    lowered = name.lower().split()
    restored = " ".join(word if word in _JOINED else _CAPITALS.sub(_capital, word) for word in lowered)
    return restored[:1].upper() + restored[1:]


def _capital(found: re.Match[str]) -> str:
    return found[1].capitalize() + found[2].upper()
