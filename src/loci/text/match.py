"""The one rule for "this answer stands in this text", and the one for "this answer is accepted".

An answer stands in a text

1. as whole words: Milan does not stand in Milanese, nor 19 in 1940;
2. failing that, as the first four letters or more of a longer word: Milan stands in Milano, Marseille in Marseilles.

Spelling and case count: a turkey is not Turkey. An accent may be part of its letter or a character of its own: both
Unicode forms are the same. A vowel sign is a letter: पटन does not stand in पटना as a whole word. Scripts without spaces
between words have no whole words: an answer may stand anywhere in them. Whoever swaps or quotes an answer needs it as
whole words and asks for `whole`. Knows nothing of subjects or models.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from loci.text.scripts import MARKS, UNSPACED

_SHORTEST_START = 4
# What joins with its neighbour to one word: letters, digits, accents, vowel signs; not in scripts without spaces.
_JOINS = re.compile(rf"[^\W{UNSPACED}]|(?![{UNSPACED}])[{MARKS}]")
_MARK = re.compile(f"[{MARKS}]")


def spans_of(text: str, answer: str, *, whole: bool = False) -> list[tuple[int, int]]:
    """Where `answer` stands in `text`: start and stop of each occurrence, as whole words only if `whole`."""
    return list(_standing(text, answer, whole))


def _standing(text: str, answer: str, whole: bool) -> Iterator[tuple[int, int]]:
    """Where `answer` stands in `text`: whole words if there are any, else starts of words."""
    if not answer:
        return
    forms, found = _forms(answer), False
    for found_at in _occurrences(text, forms, to_the_end=True):
        found = True
        yield found_at
    if not (found or whole or len(answer) < _SHORTEST_START) and (answer[-1].isalpha() or _MARK.match(answer[-1])):
        yield from _occurrences(text, forms, to_the_end=False)


def _occurrences(text: str, forms: Sequence[str], *, to_the_end: bool) -> Iterator[tuple[int, int]]:
    """Where one of the forms begins a word, and ends one if `to_the_end`; of two at one position the first form.

    Nothing is compiled for an answer: training asks about a new one in every example.
    """
    position = 0
    while starts := [(at, rank) for rank, form in enumerate(forms) if (at := text.find(form, position)) >= 0]:
        position = min(starts)[0]
        for at, rank in sorted(starts):
            end = at + len(forms[rank])
            joined = (at > 0 and _JOINS.match(text, at - 1)) or (to_the_end and _JOINS.match(text, end))
            if at == position and not joined:
                yield at, end
                position = end - 1
                break
        position += 1


def stands_in(text: str, answer: str, *, whole: bool = False) -> bool:
    """Whether `answer` stands in `text`, as whole words only if `whole`."""
    return next(_standing(text, answer, whole), None) is not None


def position_of(text: str, answer: str, start: int = 0) -> int:
    """Where `answer` first stands in `text` as whole words, from `start` on; −1 where it does not."""
    return next((begin for begin, _ in spans_of(text, answer, whole=True) if begin >= start), -1)


def any_stands_in(texts: Iterable[str], answers: Sequence[str]) -> bool:
    """Whether one of the answers stands in one of the texts."""
    return any(stands_in(text, answer) for text in texts for answer in answers)


def is_accepted(answer: str, accepted: Sequence[str]) -> bool:
    """Whether `answer` is one of the accepted ones, to the letter."""
    if answer in accepted or answer.isascii():
        return answer in accepted
    return not set(_forms(answer)).isdisjoint(form for other in accepted for form in _forms(other))


def _forms(text: str) -> tuple[str, ...]:
    """The text as written, and with its accents composed and taken apart; each form once."""
    if text.isascii():
        return (text,)
    return tuple(dict.fromkeys((text, *(unicodedata.normalize(form, text) for form in ("NFC", "NFD")))))
