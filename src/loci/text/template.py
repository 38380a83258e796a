"""From a subject to a question and back, and the forms of questions.

A `Template` is a sentence with one `{subject}`. `BIRTHPLACE` is the default everywhere. Others are found around the
subjects of a corpus, and around what differs between questions. Knows nothing of relations, rows, files or answers.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from loci.errors import LociError
from loci.text.scripts import ENDS, WORD
from loci.text.subject_index import SubjectIndex, is_title

SLOT = "{subject}"


@dataclass(frozen=True)
class Template:
    """A question about any subject, e.g. "Where was {subject} born?"."""

    text: str

    def __post_init__(self) -> None:
        if (count := self.text.count(SLOT)) != 1:
            message = f"a template contains {SLOT} exactly once, {self.text!r} has it {count} times"
            raise LociError(message, remedy=f'write it like "Where was {SLOT} born?"')
        if any(character in self.text for character in "\t\r\n"):
            raise LociError(f"a template is one line without tabs, not {self.text!r}")
        if self.text != self.text.strip():
            raise LociError(f"a template has no space around it, unlike {self.text!r}")

    @cached_property
    def prefix(self) -> str:
        """What stands before the subject."""
        return self.text.partition(SLOT)[0]

    @cached_property
    def suffix(self) -> str:
        """What stands after the subject."""
        return self.text.partition(SLOT)[2]

    @cached_property
    def fixed(self) -> int:
        """How many of its characters do not depend on the subject: the more, the more special it is."""
        return len(self.prefix) + len(self.suffix)

    def ask(self, subject: str) -> str:
        """The question about `subject`."""
        return f"{self.prefix}{subject}{self.suffix}"

    def subject_of(self, question: str) -> str | None:
        """The subject of `question`; None when the question does not fit the template."""
        if not (question.startswith(self.prefix) and question.endswith(self.suffix)):
            return None
        subject = question[len(self.prefix) : len(question) - len(self.suffix)]
        # The first test catches a question so short that prefix and suffix overlap in it.
        if len(question) <= len(self.prefix) + len(self.suffix) or subject != subject.strip():
            return None
        return subject

    @cached_property
    def words(self) -> list[str]:
        """Its own words, in lower case."""
        return WORD.findall(f"{self.prefix} {self.suffix}".lower())

    def may_ask_the_same(self, other: Template) -> bool:
        """Whether two templates could be wordings of one question: they want one kind of answer, or share a word."""
        kinds, others = answer_kinds(self.words), answer_kinds(other.words)
        if not kinds or not others or kinds & others:
            return True
        telling = {word[:5] for word in self.words if word not in SMALL_WORDS and word not in _KINDS}
        return "when" not in kinds | others and any(word[:5] in telling for word in other.words)

    @cached_property
    def relation(self) -> str:
        """A short name for what the template asks: "where-made" for "Where is the {subject} made?"."""
        if self.text == BIRTHPLACE.text:
            return "birthplace"
        words = self.words
        return "-".join([word for word in words if word not in SMALL_WORDS] or words) or "question"


BIRTHPLACE = Template("Where was {subject} born?")
SMALL_WORDS = frozenset("a an the is are was were do does did has have had of in on at to for by s".split())
_KINDS = {
    word: kind
    for kind, words in {
        "where": "where place town city country",
        "when": "when year date time day",
        "who": "who whom whose person people",
        "why": "why",
        "how": "how",
    }.items()
    for word in words.split()
}


def answer_kinds(words: Iterable[str]) -> set[str]:
    """The kinds of answer that words in lower case ask for: "where" for "town"; empty where it may be anything."""
    return {_KINDS[word] for word in words if word in _KINDS}


MOST_FORMS = 200
_SAMPLE = 5_000  # questions that are looked at together to find forms
_MOSTLY = 0.8  # so many questions must have a common word at an edge for it to belong to the form
_PART = 0.3  # so many must have a small word at an edge, where names are small words too
_OFTEN = 0.1  # so many must begin with a word for it to be one that asks, not a name
_RARE = 0.1  # a form that fits a tenth of what another fits, and nothing else, is an accident of names


def around_subjects(questions: Sequence[str], subjects: Collection[str]) -> list[Template]:
    """The templates of the questions that name a subject of the corpus.

    A name in the corpus may be part of a longer one that is not there. Then a form appears that fits few questions, all
    of which a common form fits too: it does not count.
    """
    index = SubjectIndex(subjects if questions else ())
    members: dict[Template, list[str]] = {}
    for question in questions:
        found = index.find(question)
        if found and SLOT not in question:
            name, begin, end = found
            template = Template(f"{_untitled(question[:begin], name)}{SLOT}{question[end:]}".strip())
            members.setdefault(template, []).append(question)
    kept: list[Template] = []
    for template, own in sorted(members.items(), key=lambda item: -len(item[1]))[:MOST_FORMS]:
        common = (other for other in kept if len(members[other]) * _RARE >= len(own))
        if not any(all(other.subject_of(question) for question in own) for other in common):
            kept.append(template)
    return kept


def _untitled(prefix: str, name: str) -> str:
    """What stands before a name, without its titles: who asks about Dr. Cy Berg asks what is asked about Bo Lind.

    Before a single word a title is a part of the name, as in `loci.text.subject_index`: "Mr. Bean".
    """
    while " " in name and (words := prefix.split()) and is_title(words[-1]) and prefix[-1].isspace():
        prefix = prefix[: prefix.rindex(words[-1])]
    return prefix


def around_what_differs(questions: Sequence[str]) -> list[Template]:
    """The templates that questions share: the words at their beginnings and ends that come again and again."""
    found: list[Template] = []
    left = list(questions)
    while left and len(found) < MOST_FORMS:
        sample = left[:: 1 + len(left) // _SAMPLE]
        tails: dict[str, list[list[str]]] = {}
        for question in sample:
            body = question.rstrip(ENDS).rstrip()
            tails.setdefault(question[len(body) :], []).append(body.split(" "))
        every = (template for tail, members in tails.items() for template in _split(members, 0, 0, tail))
        new = list(itertools.islice(every, MOST_FORMS))
        rest = [question for question in left if not any(template.subject_of(question) for template in new)]
        found += new
        if len(rest) == len(left):
            break
        left = rest
    return found


def _split(members: list[list[str]], left: int, right: int, tail: str, sides: str = "lr") -> Iterator[Template]:
    """The templates of questions that share their first `left` and last `right` words, as lists of words.

    Grows the form word by word, first at the left, then at the right. Questions that begin with their subject grow at
    the right alone.
    """
    if len(members) < 2:
        return
    for side in sides:
        edges = [_edge(words, left, right, side) for words in members]
        begins = side == "l" and not left
        form = _form_words(members, edges, begins=begins)
        covered = sum(edge in form for edge in edges)
        if covered >= _MOSTLY * len(members) or (begins and covered):
            for word in form:
                same = [words for words, edge in zip(members, edges, strict=True) if edge == word]
                yield from _split(same, left + (side == "l"), right + (side == "r"), tail, sides)
            if begins:
                rest = [words for words, edge in zip(members, edges, strict=True) if edge not in form]
                yield from _split(rest, left, right, tail, "r")
            return
    yield from _leaf(members, left, right, tail)


def _form_words(members: list[list[str]], edges: list[str | None], *, begins: bool) -> set[str]:
    """The words at an edge that belong to the form: small ones that come again, and any that nearly all have.

    Where questions begin every word has a capital: there it is one that comes often, before a small word. Where names
    have no capitals either, "the delta desk", a small word of the form is one that a good part has.
    """
    counts = Counter(filter(None, edges))
    cased = sum(any(word[:1].isupper() for word in words[1:]) for words in members) * 2 > len(members)
    fewest = 2 if cased else max(2, _PART * len(members))
    before_small = Counter(words[0] for words in members if words[1:] and words[1][:1].islower())
    form = set()
    for word, count in counts.items():
        often = count >= _OFTEN * len(members) and before_small[word] >= _MOSTLY * count
        if count > 1 and (
            count >= _MOSTLY * len(members) or (often if begins else word[0].islower() and count >= fewest)
        ):
            form.add(word)
    return form


def _edge(words: list[str], left: int, right: int, side: str) -> str | None:
    """The next word at a side; None when only one is left, which is the subject."""
    if len(words) - left - right < 2:
        return None
    return words[left] if side == "l" else words[-right - 1]


def _leaf(members: list[list[str]], left: int, right: int, tail: str) -> Iterator[Template]:
    middles = [words[left : len(words) - right] for words in members]
    prefix, suffix = " ".join(members[0][:left]), " ".join(members[0][len(members[0]) - right :])
    with_capitals = [words for words in middles if any(word[:1].isupper() for word in words)]
    cut = [words for words in with_capitals if words[0][:1].islower() or words[-1][:1].islower()]
    if not re.search(r"\w", prefix + suffix) or SLOT in prefix + suffix:
        return
    if len(cut) * 2 > len(middles) or any(not word for words in middles for word in (words[0], words[-1])):
        return  # names do not begin or end with small words: these questions share too little
    for ending in ("'s", "’s"):
        if sum(words[-1].endswith(ending) for words in middles) >= _MOSTLY * len(middles):
            yield Template(f"{prefix} {SLOT}{ending} {suffix}".strip() + tail)
            return
    yield Template(f"{prefix} {SLOT} {suffix}".strip() + tail)
