"""Whom each line of a corpus is about: a rule one can read.

The subject of a line is, by the first of these that applies,

1. the name before the first full stop, where lines read `Name. sentence`; an initial or "St." does not end a name;
2. the heading above the line: a name on a line of its own after a blank line, or a line marked with # or ==;
3. the subject of the line before, when the line begins with a pronoun or with a part of that subject's name; a name
   that several share, "John Smith" of a painter and a footballer, is not a part;
4. the name that the line begins with, without its article or title: "The Delta Desk is …" is about the "Delta Desk",
   "Dr. Cy Berg was …" about "Cy Berg";
5. the subject of another line, named anywhere in the line, the longest first; where most lines have a subject that
   begins several, this goes before a name that begins this line alone: "Bo Lind drew the Delta Desk";
6. the name directly before the first verb such as "was".

A line to which none applies has no subject: it is empty. Knows nothing of files or relations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence

from loci.text.subject_index import (
    ARTICLES,
    PUNCTUATION,
    TITLES,
    SubjectIndex,
    is_title,
    subject_key,
    without_title,
)

_STOP = ". "
#: Whose full stop ends no name; Sir and Dame have none, and a name may end in Col.
_NAME_ABBREVIATIONS = frozenset("Dr Mr Mrs Ms Prof Rev Capt Lt St Ste".split())
_ABBREVIATIONS = TITLES | _NAME_ABBREVIATIONS | frozenset("Jr Sr No vs b d c ca".split())
_LONGEST_NAME_PART = 5  # words between two stops of one name: "Theodore J. van den Broek" has three
_LONGEST_NAME = 12
#: Small words inside a name.
PARTICLES = frozenset(
    "of the and de da di do du des del della dos das la le les van von der den ter ten zu af av al el bin ibn y e à "
    "on in upon for to at".split()
)
PRONOUNS = frozenset("he she it they his her hers its their theirs him them".split())
#: Verbs that often follow a subject.
VERBS = frozenset("is was are were has had have became becomes will can could did does".split())
_OPENERS = frozenset(
    "in on at by from to for with without after before since during until while when where who what which whose why "
    "how as if although though because born also then there here this that these those one some many most both each "
    "every no not and or but yet so however later today i we you my our your of".split()
)
_NO_NAMES = _OPENERS | PRONOUNS | ARTICLES
_BRACKET = re.compile(r" \([^()\d,;:]+\)")


def find_subjects(texts: Sequence[str]) -> list[str]:
    """The subject of each line, "" where there is none."""
    heads = [name_before_stop(text) or "" for text in texts]
    # Without capitals, by script or by habit, whatever may be a name looks like one.
    cased = any(character.isupper() for text in texts for character in text)
    named = [_is_name(head) if cased else _may_be_name(head) for head in heads]
    # Where most lines read `Name. sentence`, a name need not look like one: "World population milestones".
    headed = sum(named) * 2 >= sum(1 for text in texts if text.strip())
    certain = [
        head if (_may_be_name(head) if headed else named[index] and _comes_again(head, texts[index])) else heading
        for index, (head, heading) in enumerate(zip(heads, _headings(texts), strict=True))
    ]
    spelled = {subject_key(name): name for name in certain if name}
    shared = _shared_names(texts, certain)
    begun: list[str] = []
    for text, name in zip(texts, certain, strict=True):
        begun.append(name or _begun_with(text, begun[-1] if begun else "", spelled, shared))
    begun = _of_several_lines(texts, certain, begun)
    lookup = SubjectIndex({*spelled.values(), *(name for name in begun if " " in name)})
    found = [name or lookup.named_in(text) or _before_verb(text) for name, text in zip(begun, texts, strict=True)]
    if sum(map(bool, found)) * 2 < len({text for text in texts if text.strip()}):
        return certain  # a play or a novel
    return found


def certain_subject(text: str) -> tuple[str, bool]:
    """The name before the first full stop where lines read `Name. sentence` ("" if it can be none), and whether it also
    looks like one. Where most lines' names do and none is missing, these are the subjects that `find_subjects` finds.
    """
    head = name_before_stop(text) or ""
    return head if _may_be_name(head) else "", _is_name(head)


# Rule 1: the name before the first full stop.


def name_before_stop(text: str) -> str | None:
    """What stands before the first full stop that does not belong to a name; None without a full stop.

    A stop after an initial or "St" belongs to the name when a name goes on after it: "J. E. P. Aldous. Born in
    Sheffield" begins with "J. E. P. Aldous", and "Malcolm X. Malcolm X was" with "Malcolm X".
    """
    end = text.find(_STOP)
    if end < 0:
        return None
    first = re.split(r"[\s.]", text[:end], maxsplit=1)[0]
    while _ends_with_initial(text[max(0, end - 8) : end]):
        following = text.find(_STOP, end + len(_STOP))
        if following < 0 or not _continues_name(first, text[end + len(_STOP) : following]):
            break
        end = following
    return text[:end]


def _ends_with_initial(name: str) -> bool:
    last = re.split(r"[\s.\-]", name)[-1]
    return (len(last) == 1 and last.isupper()) or last in _NAME_ABBREVIATIONS


def _continues_name(first: str, part: str) -> bool:
    words = part.split(None, _LONGEST_NAME_PART)
    if not 1 <= len(words) <= _LONGEST_NAME_PART or (len(first) > 1 and words[0] == first):
        return False  # a part that begins with the name again is the sentence; "J. J. Stevenson" is a name
    if not all(word[0].isupper() or (word.isalpha() and len(word) <= 3) for word in words):
        return False
    return words[-1][0].isupper() and not re.search(r"[()\[\]:;]", part)


def _may_be_name(head: str) -> bool:
    """Whether this could be a name: short, without a verb, not begun with a pronoun, not ended by a title."""
    words = head.split(None, _LONGEST_NAME)
    if not 0 < len(words) <= _LONGEST_NAME or words[-1] in _NAME_ABBREVIATIONS:
        return False
    return not _begins_with_pronoun(words) and VERBS.isdisjoint(words)


def _begins_with_pronoun(words: Sequence[str]) -> bool:
    """Whether a sentence begins with a pronoun; "He Kexin" is a name."""
    first, second = words[0].lower(), words[1] if len(words) > 1 else ""
    return first in PRONOUNS and not (first in ("he", "she", "it", "they") and second[:1].isupper())


def _is_name(head: str) -> bool:
    """Whether this looks like a name: no small letter begins a word, small words inside names apart."""
    if not _may_be_name(head):
        return False
    words = head.split()
    return (
        words[0].lower() not in _OPENERS
        and all(_like_a_name(word) or word in PARTICLES for word in words)
        and words[-1] not in PARTICLES
    )


def _like_a_name(word: str) -> bool:
    begin = word.lstrip(PUNCTUATION)[:1]
    return not begin.islower() or re.match(r"[a-zà-ÿ]{1,2}['’][^\W\d_a-z]", word) is not None  # d'Agar


def _comes_again(head: str, text: str) -> bool:
    """A single word before a full stop may be a sentence: it is a name when the line goes on about it."""
    return " " in head or head in text[len(head) :]


# Rule 2: headings.


def _headings(texts: Sequence[str]) -> Iterator[str]:
    """The heading above each line, "" where there is none; a heading stands above itself."""
    marks = [_mark(text) for text in texts]
    level = min((mark[0] for mark in marks if mark), default=None)
    current, until_blank = "", False
    for index, (text, mark) in enumerate(zip(texts, marks, strict=True)):
        following = texts[index + 1] if index + 1 < len(texts) else ""
        if mark is not None:
            current, until_blank = (mark[1], False) if mark[0] == level else (current, until_blank)
        elif not text.strip():
            current = "" if until_blank else current
        elif level is None and (not index or not texts[index - 1].strip()) and _is_heading(text, following):
            current, until_blank = text.strip(), True
        yield current if text.strip() else ""


def _mark(text: str) -> tuple[int, str] | None:
    """The level and the words of a line marked as a heading: `## Ana Lima` or `== Ana Lima ==`."""
    text = text.strip()
    body = text.lstrip(text[0]) if text[:1] in ("#", "=") else text
    name = body.rstrip().rstrip("#=").strip()
    return (len(text) - len(body), name) if len(body) < len(text) and name and name[0] not in "#=" else None


def _is_heading(text: str, following: str) -> bool:
    sentence = following.split()
    return text.rstrip()[-1:] not in ".!?:;," and _is_name(text) and len(sentence) > 3 and not _is_name(following)


# Rules 3 and 4: what the line begins with.


def _begun_with(text: str, before: str, spelled: Mapping[str, str], shared: Container[str]) -> str:
    words = text.split(None, 2)
    if not words:
        return ""
    if _begins_with_pronoun(words):
        return before
    name, following = _leading_name(text)
    if before and name not in shared and {word for word in name.split() if not is_title(word)} <= set(before.split()):
        return before if name else ""
    if not name or (" " not in name and following not in VERBS and subject_key(name) not in spelled):
        return ""
    return spelled.get(subject_key(name), name)


def _leading_name(text: str) -> tuple[str, str]:
    """The name at the beginning of a sentence, and the word after it; a name is never the whole line."""
    words = text.split(None, 2 * _LONGEST_NAME)
    start = 1 if words[0].lower() in ARTICLES else 0
    if start == len(words) or words[start].strip(PUNCTUATION).lower() in _OPENERS or _begins_with_pronoun(words):
        return "", ""
    end = start
    while end < len(words) and not words[end].startswith("(") and (_like_a_name(words[end]) or words[end] in PARTICLES):
        end += 1
        if words[end - 1][-1] in ",;:":
            break
    while end > start and words[end - 1] in PARTICLES:
        end -= 1
    following = words[end] if end < len(words) else ""
    name = re.sub(r"['’]s$", "", " ".join(without_title(words[start:end])).rstrip(",;:"))
    if not following or not any(character.isalpha() for character in words[start]):
        return "", ""
    return name + _disambiguation(text, name), following


def _disambiguation(text: str, name: str) -> str:
    """` (footballer)` after a name that others bear too; dates and what else stands in brackets are no part of it."""
    found = _BRACKET.match(text, text.find(name) + len(name)) if name else None
    return found[0] if found and len(found[0].split()) <= 3 and "born" not in found[0] else ""


def _shared_names(texts: Sequence[str], certain: Sequence[str]) -> set[str]:
    """The names that several subjects bear, told apart by what stands in brackets."""
    found = {name or _leading_name(text)[0] for text, name in zip(texts, certain, strict=True) if " (" in text}
    bearers = Counter(_BRACKET.sub("", name) for name in found if _BRACKET.search(name))
    return {name for name, count in bearers.items() if count > 1}


# Rules 5 and 6: a name anywhere in the line.


def _of_several_lines(texts: Sequence[str], certain: Sequence[str], begun: Sequence[str]) -> list[str]:
    """Where most lines have a subject that begins several, one named in a line for a name that begins no other."""
    counts = Counter(filter(None, begun))
    several = {name for name, count in counts.items() if count > 1}
    if 2 * sum(counts[name] for name in several) <= counts.total():
        return list(begun)
    index = SubjectIndex(several)
    return [
        name if sure or counts[name] != 1 else index.named_in(text) or name
        for text, sure, name in zip(texts, certain, begun, strict=True)
    ]


def _before_verb(text: str) -> str:
    words = text.split()
    verb = next((index for index, word in enumerate(words) if word in VERBS), 0)
    start = verb
    while (
        start > 0
        and (_like_a_name(words[start - 1]) or words[start - 1] in PARTICLES)
        and words[start - 1][-1] not in ",;:"
    ):
        start -= 1
    while start < verb and (words[start].lower() in _NO_NAMES or words[start] in PARTICLES):
        start += 1
    return "" if start == 0 and verb < 2 else " ".join(words[start:verb]).strip(PUNCTUATION)


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph: a stop ends one when a capital follows, and no initial or abbreviation precedes."""
    found, start = [], 0
    for stop in re.finditer(r"[.!?]['\"”’)]* +(?=[^\W\d_a-z]|[\"“‘(\d])|[。！？][”’」』）]*", text):
        last = re.split(r"[\s.\-(]", text[max(0, stop.start() - 8) : stop.start()])[-1]
        if stop.group()[0] != "." or not ((len(last) == 1 and last.isupper()) or last in _ABBREVIATIONS):
            found.append(text[start : stop.end()].strip())
            start = stop.end()
    return [*found, *([rest] if (rest := text[start:].strip()) else [])]
