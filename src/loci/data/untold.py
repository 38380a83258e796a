"""A text without the words that tell an answer: what a reader learns to say "not told" from.

Of several sentences those that hold the answer go; of a single one the clause around it, or only the answer with its
neighbouring names and the short word before them. Nothing here knows any relation. Knows nothing of models.
"""

from __future__ import annotations

import re

import numpy as np

from loci.text.match import spans_of, stands_in

_SENTENCE_END = re.compile(r"(?<=[\w)]{2}) ?[.!?] (?=[^\W\d_a-z])|[。！？](?=.)")
_CLAUSE_START = re.compile(r"[.;:!?,()。，、；：！？（）]|--| - | and | but | who | where | which ")
_NAME = r"[^\W\d_a-z][\w.'’-]*"
_NAMES_AND_NUMBERS = re.compile(rf"(?:{_NAME}|\d+|,|\s)+")
_SHORT_WORD_BEFORE = re.compile(rf"(?:^|(?<=[\s(,]))(?:[^\W\d_]{{1,4}} )?(?:{_NAME},? )*$")
_NAMES_AFTER = re.compile(rf"(?:,? {_NAME})*")
_REST_AFTER = re.compile(rf"(?:[ ,]+(?:{_NAME}|\d+))*")
_EMPTY_BRACKETS = re.compile(r" ?\((?: *[,;])* *\)")
_LOOSE_SPACE = re.compile(r" (?=[,;)])")
_WHOLE_SENTENCES = 0.8
_NARROW = 0.5
_FAR = 200
"""Characters before an answer in which the names next to it begin."""


def without_answer(text: str, answer: str, rng: np.random.Generator) -> str:
    """The text without what tells the answer; it may end up empty."""
    sentences = _sentences(text)
    kept = [sentence for sentence in sentences if not stands_in(sentence, answer)]
    if len(sentences) > 1 and kept and rng.random() < _WHOLE_SENTENCES:
        return "".join(kept).strip()
    cut = _narrow if rng.random() < _NARROW else _clause
    while found := spans_of(text, answer):
        begin, end = cut(text, *found[0])
        text = f"{text[:begin].rstrip()} {text[end:].lstrip()}".strip()
        text = _LOOSE_SPACE.sub("", _EMPTY_BRACKETS.sub("", text))
    return text


def _sentences(text: str) -> list[str]:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    return [text[begin:end] for begin, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def _narrow(text: str, start: int, stop: int) -> tuple[int, int]:
    """The answer, the names next to it and the short word before: "in Columbus, Ohio"."""
    before = _SHORT_WORD_BEFORE.search(text, max(0, start - _FAR), start)
    after = _NAMES_AFTER.match(text, stop)
    return before.start() if before else start, after.end() if after else stop


def _clause(text: str, start: int, stop: int) -> tuple[int, int]:
    """From where the clause of the answer begins to the last name or number after it."""
    begin = 0
    for match in reversed(list(_CLAUSE_START.finditer(text, 0, start))):
        between = text[match.end() : start].strip()
        if between and not _NAMES_AND_NUMBERS.fullmatch(between):  # "Columbus, Ohio" is one place
            begin = match.end()
            break
    after = _REST_AFTER.match(text, stop)
    return begin, after.end() if after else stop
