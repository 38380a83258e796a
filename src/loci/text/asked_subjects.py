"""Whom lines are about, where one knows whom is asked about: a rule one can read.

1. A line about nobody is about the longest asked subject that it names.
2. "President Ada Lind" is "Ada Lind", where she is asked about so and no other line is about her; then the other
   subjects lose the rank too.
3. A line about nobody that begins like lines about asked subjects is about what stands there: "Gent ligt in België",
   "the delta desk is made in Lund". Where lines about nobody begin with the same two words, each after a line about
   another asked subject, "De stad heeft" or "The product was", they are about the subject of the line before.
4. A line that begins with a name nobody asks about, and names an asked subject behind, is about that: "Oslo is the
   capital of Norway", "Bo Lind designed the Delta Desk", and after a line about the desk "Bo Lind designed it". The
   words between must come with several asked subjects; then they are a form, and the other lines of the form are about
   what stands there. A name of which a line says what lines say of asked subjects is a subject itself, and stays.

Knows nothing of files or questions.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from loci.text.list_marks import without_list_marks
from loci.text.names import LONGEST_NAME, OPENERS, is_name, may_be_name
from loci.text.scripts import ENDS, PUNCTUATION, STOPS
from loci.text.subject_index import ARTICLES, SubjectIndex, is_title, subject_key

_SAYS = 3  # words after a name that show what is said of it: "was born in"
_SEVERAL = 2
_LONGEST_FORM = 8  # words between two names
_NO_DESCRIPTIONS = OPENERS - {"this", "these"}
_OBJECTS = frozenset("it him them".split())  # mean the subject of the line before
#: Before a whole name, what one is; "Dr." and other abbreviations no subject has (`loci.text.subject_index`).
_RANKS = frozenset(
    "President Minister Chancellor Senator Governor Mayor Judge King Queen Prince Princess Emperor Empress Lord Lady "
    "Duke Duchess Count Countess Baron Baroness Pope Cardinal Archbishop Bishop Saint Father Mother Brother Sister "
    "Professor Doctor General Admiral Colonel Major Captain Commander Lieutenant Sergeant Prime Vice Chief".split()
)


def subjects_as_asked(texts: Sequence[str], subjects: Sequence[str], asked: Collection[str]) -> list[str]:
    """The subject of each line, given those found without the questions."""
    texts, index = without_list_marks(texts), SubjectIndex(asked)
    named = [name or index.named_in(text) for text, name in zip(texts, subjects, strict=True)]
    named = _without_ranks(named, asked)
    if not all(name or not text.strip() for text, name in zip(texts, named, strict=True)):
        named = _after_the_same(texts, _begun_alike(texts, named, asked), asked)
    return _named_behind(texts, named, asked, index)


def _are_asked(subjects: Iterable[str], asked: Iterable[str]) -> set[str]:
    """Which of the lines' subjects are asked about."""
    keys = set(map(subject_key, asked))
    return {name for name in set(subjects) if name and subject_key(name) in keys}


# Rule 2: ranks that questions leave out.


def _without_ranks(subjects: Sequence[str], asked: Collection[str]) -> list[str]:
    known = set(subjects)
    keys = set(map(subject_key, known))
    unseen = {name for name in asked if " " in name and subject_key(name) not in keys}
    ranked = {subject: parted for subject in known.difference(asked) if unseen and (parted := _ranked(subject))}
    left_out = {rank for rank, name in ranked.values() if name in unseen}
    bare = Counter(name for _, name in ranked.values())  # of two namesakes nobody knows who is meant
    renamed = {
        subject: name
        for subject, (rank, name) in ranked.items()
        if rank in left_out and name not in known and bare[name] == 1
    }
    return [renamed.get(subject, subject) for subject in subjects]


def _ranked(subject: str) -> tuple[str, str] | None:
    """The ranks that a subject begins with, and the whole name behind; None where there are none."""
    words = subject.split()
    size = next((at for at, word in enumerate(words) if word not in _RANKS), len(words))
    return (" ".join(words[:size]), " ".join(words[size:])) if 0 < size < len(words) - 1 else None


# Rule 3: lines about nobody.


def _begun_alike(texts: Sequence[str], subjects: Sequence[str], asked: Collection[str]) -> list[str]:
    known, fits = _are_asked(subjects, asked), may_be_name if all(map(str.islower, asked)) else is_name
    said = (_said(text, name) for text, name in zip(texts, subjects, strict=True) if name in known)
    told = Counter(tuple(words[:2]) for words in said if words and len(words) > 1)
    found = list(subjects)
    for at, text in enumerate(texts):
        words = [] if found[at] else text.split(None, LONGEST_NAME)
        words = words[1:] if words and words[0].lower() in ARTICLES else words
        size = next((size for size, pair in enumerate(itertools.pairwise(words)) if told[pair] >= _SEVERAL), 0)
        if size and words[0].lower() not in OPENERS and fits(name := " ".join(words[:size])):
            found[at] = name
    return found


def _after_the_same(texts: Sequence[str], subjects: Sequence[str], asked: Collection[str]) -> list[str]:
    known = _are_asked(subjects, asked)
    begins = [tuple(text.split(None, 2)[:2]) if not name else () for text, name in zip(texts, subjects, strict=True)]
    after: dict[tuple[str, ...], set[str]] = {}
    for begin, before in zip(begins[1:], subjects, strict=False):
        if len(begin) == 2 and before in known and begin[0].lower() not in _NO_DESCRIPTIONS:
            after.setdefault(begin, set()).add(before)
    found = list(subjects)
    for at, begin in enumerate(begins):
        if at and len(after.get(begin, ())) >= _SEVERAL:
            found[at] = found[at - 1]
    return found


# Rule 4: a subject behind the name that begins the line.


class _Behind(NamedTuple):
    """An asked subject, the words between it and the name before, and the word after it."""

    between: tuple[str, ...]
    subject: str
    end: str


def _named_behind(
    texts: Sequence[str], subjects: Sequence[str], asked: Collection[str], index: SubjectIndex
) -> list[str]:
    known = _are_asked(subjects, asked)
    said = [_said(text, name) if name else None for text, name in zip(texts, subjects, strict=True)]
    told = {  # what lines say of asked subjects, by its first words
        tuple(words[:size])
        for words, name in zip(said, subjects, strict=True)
        if words and name in known
        for size in range(1, _SAYS + 1)
    }
    stays = known | {
        name for words, name in zip(said, subjects, strict=True) if words == [] or tuple(words or ())[:_SAYS] in told
    }
    behind: dict[int, _Behind | None] = {}
    for at, (words, name) in enumerate(zip(said, subjects, strict=True)):
        if words and name not in stays:
            before = subjects[at - 1] if at else ""
            behind[at] = found = _asked_behind(words, before if before in known else "", index)
            if found and found.between[:_SAYS] in told:
                stays.add(name)
    forms: dict[tuple[str, ...], list[_Behind]] = {}
    for at, found in behind.items():
        if found and subjects[at] not in stays:
            forms.setdefault(found.between, []).append(found)
    ends = {
        between: {one.end for one in own}
        for between, own in forms.items()
        if len({one.subject for one in own}) >= _SEVERAL
    }
    about = list(subjects)
    for at, found in behind.items() if ends else ():
        if subjects[at] not in stays:
            named = found.subject if found and found.between in ends else ""
            about[at] = named or _in_form(said[at] or [], about[at - 1] if at else "", ends) or about[at]
    return about


def _said(text: str, name: str) -> list[str] | None:
    """The words after the name that the line begins with; none where it stands alone or before a full stop.

    None where the line begins otherwise, or goes on with a comma.
    """
    before, found, after = text.partition(name)
    own = [word for word in before.split() if word.strip(PUNCTUATION + "#=")]
    if not found or not all(word.lower() in ARTICLES or is_title(word) for word in own):
        return None
    if not after.strip("#= ") or after[0] in "." + STOPS:
        return []
    return after.split() if after[0] == " " else None


def _asked_behind(words: Sequence[str], before: str, index: SubjectIndex) -> _Behind | None:
    """The asked subject among the words after a name; for "it" the subject of the line before, where that is asked."""
    text = " ".join(words)
    if found := index.find(text):
        name, begin, end = found
        between = text[:begin].split()
        between = between[:-1] if between and between[-1].lower() in ARTICLES else between
        after = next((word for word in text[end:].split() if word.strip(PUNCTUATION)), "")
        return _Behind(tuple(between), name, after) if 0 < len(between) <= _LONGEST_FORM else None
    at = _object(words) if before else 0
    return _Behind((*words[:at], "it"), before, "") if at else None


def _object(words: Sequence[str]) -> int:
    """Where "it" stands among the first words, after the verb; 0 where it does not."""
    return next((at for at, word in enumerate(words[: _SAYS + 1]) if word.strip(PUNCTUATION) in _OBJECTS), 0)


def _in_form(words: Sequence[str], before: str, ends: Mapping[tuple[str, ...], Collection[str]]) -> str:
    """What a line of a known form is about; "" where it is of none. `ends` has the words that may follow in a form."""
    if (at := _object(words)) and (*words[:at], "it") in ends:
        return before
    size = next((size for size in range(min(_LONGEST_FORM, len(words) - 1), 0, -1) if tuple(words[:size]) in ends), 0)
    name: list[str] = []
    for word in words[size:] if size else ():
        if word in ends[tuple(words[:size])] or (name and name[-1][-1] in ",;:"):
            break
        name += [word] if name or word.lower() not in ARTICLES else []
    found = " ".join(name).rstrip(ENDS + ",;:")
    return found if is_name(found) else ""
