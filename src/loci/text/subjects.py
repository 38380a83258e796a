"""Whom each line of a corpus is about: a rule one can read.

The subject of a line is, by the first of these that applies,

1. the name before the first full stop, where lines read `Name. sentence`; an initial or "St." does not end a name;
2. the heading above the line (`loci.text.headings`);
3. the subject of the line before, when the line begins with a pronoun, with a part of that subject's name, or with
   "This desk" or "The desk" after a line about the Delta Desk; for a pronoun lines that name nobody may stand between,
   but no blank line;
4. the name that the line begins with, without its article or title: "The Delta Desk is …" is about the "Delta Desk",
   "Dr. Cy Berg was …" about "Cy Berg"; a name that several share, "John Smith" of a painter and a footballer, is of
   the one whom the line before is about, and otherwise of nobody;
5. the subject of another line, named anywhere in the line, the longest first; where most lines have a subject that
   begins several, this goes before a name that begins this line alone: "Bo Lind drew the Delta Desk";
6. the name directly before the first verb such as "was".

A line to which none applies has no subject: it is empty. The marks of a list, "-" or "1." and "2.", and quotes around a
whole name do not count. Knows nothing of files or relations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Mapping, Sequence

from loci.text.headings import headings
from loci.text.list_marks import without_list_marks
from loci.text.names import (
    LONGEST_NAME,
    NAME_ABBREVIATIONS,
    OPENERS,
    PARTICLES,
    VERBS,
    begins_with_pronoun,
    bracket_at,
    is_name,
    like_a_name,
    may_be_name,
    unquoted,
    without_bracket,
)
from loci.text.names import PRONOUNS as PRONOUNS  # others take it from here
from loci.text.scripts import PUNCTUATION, STOPS
from loci.text.subject_index import ARTICLES, TITLES, SubjectIndex, is_title, subject_key, without_title

_STOP = ". "
_OWN_STOP = re.compile(f"[{STOPS}]")
_ABBREVIATIONS = TITLES | NAME_ABBREVIATIONS | frozenset("Jr Sr No vs b d c ca".split())
_LONGEST_NAME_PART = 5  # words between two stops of one name: "Theodore J. van den Broek" has three
_DASHES = frozenset("-–—")
_NO_NAMES = OPENERS | PRONOUNS | ARTICLES
_OF_ONE = frozenset(("is", "was", "has"))
#: Begin a region of two words, as in "Springfield, New York"; "Cara Dunn, Ada Moss is" has none.
_REGIONAL = frozenset(
    "New North South East West Northern Southern Eastern Western British Rhode Nova Upper Lower".split()
)
_WHEN = frozenset("in on by since from until after before during around".split())
_MONTHS = frozenset("January February March April May June July August September October November December".split())
#: A person; what "it" and "they" mean may be a thing that the line between names.
_PERSONAL = frozenset("he she his her him hers".split())
#: Begin a sentence before a comma, and are no place; so do words in -ly.
_ADVERBS = frozenset(
    "yesterday tomorrow tonight now nowadays soon once again often sometimes meanwhile afterwards afterward thereafter "
    "first second third next last perhaps maybe still thus hence instead indeed moreover furthermore nevertheless "
    "nonetheless otherwise yes well oh besides overall likewise anyway therefore".split()
)


def find_subjects(texts: Sequence[str]) -> list[str]:
    """The subject of each line, "" where there is none."""
    texts = without_list_marks(texts)
    heads = [unquoted(name_before_stop(text) or "") for text in texts]
    # Without capitals, by script or by habit, whatever may be a name looks like one.
    cased = any(character.isupper() for text in texts for character in text)
    named = [is_name(head) if cased else may_be_name(head) for head in heads]
    # Where most lines read `Name. sentence`, a name need not look like one: "World population milestones".
    headed = sum(named) * 2 >= sum(1 for text in texts if text.strip())
    certain = [
        head if (may_be_name(head) if headed else named[index] and _comes_again(head, texts[index])) else heading
        for index, (head, heading) in enumerate(zip(heads, headings(texts), strict=True))
    ]
    spelled = {subject_key(name): name for name in certain if name}
    shared = _shared_names(texts, certain)
    begun: list[str] = []
    for text, name in zip(texts, certain, strict=True):
        begun.append(name or _begun_with(text, begun[-1] if begun else "", spelled, shared))
    begun = _of_several_lines(texts, certain, begun)
    lookup = SubjectIndex({*spelled.values(), *(name for name in begun if " " in name)})
    found = [name or _named_within(text, lookup, shared) for name, text in zip(begun, texts, strict=True)]
    found = _with_pronouns(texts, begun, found)
    if sum(map(bool, found)) * 2 < len({text for text in texts if text.strip()}):
        return certain  # a play or a novel
    return found


def certain_subject(text: str) -> tuple[str, bool]:
    """The name before the first full stop where lines read `Name. sentence` ("" if it can be none), and whether it also
    looks like one. Where most lines' names do and none is missing, these are the subjects that `find_subjects` finds.
    """
    head = unquoted(name_before_stop(text) or "")
    return head if may_be_name(head) else "", is_name(head)


# Rule 1: the name before the first full stop.


def name_before_stop(text: str) -> str | None:
    """What stands before the first full stop that does not belong to a name; None without a full stop.

    A stop after an initial or "St" belongs to the name when a name goes on after it: "J. E. P. Aldous. Born in
    Sheffield" begins with "J. E. P. Aldous", and "Malcolm X. Malcolm X was" with "Malcolm X". Before the stop of
    another script the name must come again, 鲁迅。鲁迅出生于…: a sentence has no capitals there to tell it from a name.
    """
    end = text.find(_STOP)
    own = _OWN_STOP.search(text, 0, end if end >= 0 else len(text))
    if own and (head := text[: own.start()].strip()) and head in text[own.end() :]:
        return head
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
    return (len(last) == 1 and last.isupper()) or last in NAME_ABBREVIATIONS


def _continues_name(first: str, part: str) -> bool:
    words = part.split(None, _LONGEST_NAME_PART)
    if not 1 <= len(words) <= _LONGEST_NAME_PART or (len(first) > 1 and words[0] == first):
        return False  # a part that begins with the name again is the sentence; "J. J. Stevenson" is a name
    if not all(word[0].isupper() or (word.isalpha() and len(word) <= 3) for word in words):
        return False
    return words[-1][0].isupper() and not re.search(r"[()\[\]:;]", part)


def _comes_again(head: str, text: str) -> bool:
    """A single word before a full stop may be a sentence: it is a name when the line goes on about it."""
    return " " in head or head in text[len(head) :]


# Rules 3 and 4: what the line begins with.


def _begun_with(text: str, before: str, spelled: Mapping[str, str], shared: Container[str]) -> str:
    words = text.split(None, 2)
    if not words:
        return ""
    if begins_with_pronoun(words) or _describes(words, before):
        return before
    name, following = _leading_name(text)
    if ", born " in name and without_bracket(name) not in shared:
        name = without_bracket(name)  # a life, where there are no namesakes
    if name in shared:
        return before if without_bracket(before) == name else ""
    borne = {word.rstrip(",") for word in before.split()}
    if before and {word.rstrip(",") for word in name.split() if not is_title(word)} <= borne:
        return before if name else ""
    alone = " " not in name and following not in VERBS and following not in _DASHES
    if not name or (alone and subject_key(name) not in spelled):
        return ""
    return spelled.get(subject_key(name), name)


def _describes(words: Sequence[str], before: str) -> bool:
    """Whether "This desk" or "The desk" begins a line: the small word is the last of the name before, "Delta Desk"."""
    if len(words) < 2 or words[0] not in ("This", "The") or not words[1].islower() or " " not in before:
        return False
    return before.split()[-1].lower() == re.sub(r"['’]s$", "", words[1])


def _leading_name(text: str) -> tuple[str, str]:
    """The name at the beginning of a sentence, and the word after it; a name is never the whole line."""
    words = text.split(None, 2 * LONGEST_NAME)
    start = 1 if words[0].lower() in ARTICLES else 0
    if start == len(words) or words[start].strip(PUNCTUATION).lower() in OPENERS or begins_with_pronoun(words):
        return "", ""
    end = start
    while (
        end < len(words)
        and (like_a_name(words[end]) or words[end] in PARTICLES)
        and not (words[end].startswith("(") or words[end] in _DASHES)
    ):
        end += 1
        if words[end - 1][-1] in ",;:":
            end += _region(words, start, end)
            break
    while end > start and words[end - 1] in PARTICLES:
        end -= 1
    following = words[end] if end < len(words) else ""
    name = unquoted(re.sub(r"['’]s$", "", " ".join(without_title(words[start:end])).rstrip(",;:")))
    if not following or not any(character.isalpha() for character in words[start]):
        return "", ""
    return name + (bracket_at(text, text.find(name) + len(name)) if name else ""), following


def _region(words: Sequence[str], start: int, end: int) -> int:
    """How many words after its comma belong to a name: one of "Springfield, Illinois is".

    They stand directly before a verb; "Finally, Ada Moss was" begins with no place.
    """
    first = words[start].rstrip(",").lower()
    if words[end - 1][-1] != "," or (start + 1 == end and (first in _ADVERBS or first.endswith("ly"))):
        return 0
    behind = words[end : end + 3]
    size = next((size for size, word in enumerate(behind) if word in _OF_ONE), 0)
    if size == 2 and behind[0] not in _REGIONAL:
        return 0
    return size if all(word[0].isupper() and word.isalpha() for word in behind[:size]) else 0


def _shared_names(texts: Sequence[str], certain: Sequence[str]) -> set[str]:
    """The names that several subjects bear, told apart by what stands in brackets, and none bears alone."""
    found = {name or _leading_name(text)[0] for text, name in zip(texts, certain, strict=True) if " (" in text}
    bearers = Counter(bare for name in found if (bare := without_bracket(name)) != name)
    return {name for name, count in bearers.items() if count > 1}.difference(certain)


def _with_pronouns(texts: Sequence[str], begun: Sequence[str], found: Sequence[str]) -> list[str]:
    """The subjects, and for "he" or "she" the last one since a blank line, if the lines between name nobody else."""
    subjects, last = [], ""
    for text, sure, name in zip(texts, begun, found, strict=True):
        words = text.split(None, 2)
        personal = bool(words) and words[0].lower() in _PERSONAL and begins_with_pronoun(words)
        subjects.append(last or name if personal and not sure else name)
        last = sure or (last if words and subjects[-1] in ("", last) else "")
    return subjects


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


def _named_within(text: str, lookup: SubjectIndex, shared: Collection[str]) -> str:
    """The subject named in the line; none where nobody can tell which of several namesakes is meant."""
    if shared and text.strip() and _leading_name(text)[0] in shared:
        return ""
    name = lookup.named_in(text) or _before_verb(text)
    return "" if name in shared else name


def _before_verb(text: str) -> str:
    words = text.split()
    verb = next((index for index, word in enumerate(words) if word in VERBS), 0)
    start = verb
    while (
        start > 0
        and (like_a_name(words[start - 1]) or words[start - 1] in PARTICLES)
        and words[start - 1][-1] not in ",;:"
    ):
        start -= 1
    dated = start > 0 and words[start - 1].lower() in _WHEN
    while start < verb:  # "In May 1961 Ada Moss was" is about no year; "The 1812 Overture is" is
        if words[start].lower() in _NO_NAMES or words[start] in PARTICLES:
            dated = words[start].lower() in _WHEN
        elif not dated or not (words[start].isdigit() or words[start] in _MONTHS):
            break
        start += 1
    name = " ".join(words[start:verb]).strip(PUNCTUATION)
    return "" if (start == 0 and verb < 2) or not any(map(str.isalpha, name)) else name


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph: a stop ends one when a capital follows, and no initial or abbreviation precedes."""
    found, start = [], 0
    for stop in re.finditer(rf"[.!?]['\"”’)]* +(?=[^\W\d_a-z]|[\"“‘(\d])|[{STOPS}！？؟][”’」』）]*", text):
        last = re.split(r"[\s.\-(]", text[max(0, stop.start() - 8) : stop.start()])[-1]
        if stop.group()[0] != "." or not ((len(last) == 1 and last.isupper()) or last in _ABBREVIATIONS):
            found.append(text[start : stop.end()].strip())
            start = stop.end()
    return [*found, *([rest] if (rest := text[start:].strip()) else [])]
