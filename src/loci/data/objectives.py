"""Objectives: pure functions that turn a line or a question into an example.

    course corruption   prefix ⁇ suffix ⁇ masked [⁇]      everything counts
    language model      the line itself                   everything counts
    question–answer     question ⁇ answer ⁇ [degree]      only ⁇answer⁇ counts, and the degree of a pseudo-label
    salient, recall     see `loci.data.recall`
    memorize, reading   see `loci.data.reading`

An objective is made once for a vocabulary and a block size and then called as `(record, rng) -> Example`. Randomness
comes from the passed generator alone. Knows nothing of batches, models or torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from loci.data.degrees import degree_id
from loci.data.draws import RowDraws
from loci.data.example import Example
from loci.data.prompts import closed
from loci.data.reading import Memorize, Reading
from loci.data.reading_examples import ReadingExample
from loci.data.recall import CuedRecall, MarkedLine, SalientSpan, WordRecall
from loci.errors import LociError
from loci.registry import Registry
from loci.text.corpus import Line
from loci.text.questions import Question
from loci.text.vocab import MASK_ID, Vocab

Record = Line | MarkedLine | Question | ReadingExample
Lengths = NDArray[np.int64]
R = TypeVar("R", bound=Record, contravariant=True)
_MASK = np.array([MASK_ID])


class Objective(Protocol[R]):
    """Turns a record into an example; pure but for the generator."""

    def __call__(self, record: R, rng: np.random.Generator) -> Example:
        """The example of a record."""
        ...


@dataclass(frozen=True)
class SpanCorruption:
    """The course's span corruption: cut the line to a random length, move one span behind the rest.

    `prefix ⁇ suffix ⁇ masked` in the 2024 form; the 2021–23 examples end with a third ⁇ after the masked span.
    """

    vocab: Vocab
    block_size: int
    closing_mask: bool
    shortest: int = 4
    cut_to: float = 7 / 8

    def __post_init__(self) -> None:
        if self.block_size < 8:
            raise LociError(f"span corruption needs a block of at least 8 characters, it is {self.block_size}")

    @property
    def longest(self) -> int:
        """The longest cut: 7/8 of the block, and never so long that the masks do not fit."""
        return min(int(self.block_size * self.cut_to), self.block_size - 2 - self.closing_mask)

    def __call__(self, record: Line, rng: np.random.Generator) -> Example:
        """Corrupt the line's text."""
        return self.corrupt(record.ids(self.vocab), rng)

    def example_lengths(self, characters: Lengths, draws: RowDraws, rows: Lengths) -> Lengths:
        """How long the examples of lines of so many characters are, without making them."""
        cuts = draws.integers(rows, self.shortest, self.longest + 1)
        return np.minimum(characters, cuts) + 2 + self.closing_mask

    def corrupt(self, document: NDArray[np.int64], rng: np.random.Generator) -> Example:
        """Corrupt a document of ids."""
        cut = document[: rng.integers(self.shortest, self.longest + 1)]
        size = span_length(len(cut), rng)
        start = rng.integers(0, len(cut) - size + 1)
        parts = [cut[:start], _MASK, cut[start + size :], _MASK, cut[start : start + size]]
        ids = np.concatenate([*parts, _MASK] if self.closing_mask else parts)
        return Example(ids, np.ones(len(ids), dtype=bool))


def span_length(n: int, rng: np.random.Generator) -> int:
    """A random span of n characters' quarter: uniform between n/8 and 3n/8, rounded at random so that the mean is n/4
    exactly.

    Short texts narrow the range so that at least one character is masked; below four the mean cannot be kept.
    """
    if n < 4:
        return min(n, 1)
    low = max(1 / 8, 1 / n)
    wanted = n * rng.uniform(low, 1 / 2 - low)
    return int(wanted + rng.random())


@dataclass(frozen=True)
class LanguageModel:
    """The line itself, from a random start when it is longer than the block; `closing_mask` marks its end."""

    vocab: Vocab
    block_size: int
    closing_mask: bool = True

    def __call__(self, record: Line, rng: np.random.Generator) -> Example:
        """The line, or a window of it."""
        ids = record.ids(self.vocab)
        if self.closing_mask:
            ids = np.append(ids, MASK_ID)
        if len(ids) > self.block_size:
            start = rng.integers(0, len(ids) - self.block_size + 1)
            ids = ids[start : start + self.block_size]
        return Example(ids, np.ones(len(ids), dtype=bool))

    def example_lengths(self, characters: Lengths, draws: RowDraws, rows: Lengths) -> Lengths:
        """How long the examples of lines of so many characters are, without making them."""
        return np.minimum(characters + self.closing_mask, self.block_size)


@dataclass(frozen=True)
class QuestionAnswer:
    """`question ⁇ answer ⁇`, the loss counting only `⁇answer⁇`: the published finetuning example.

    A pseudo-label's degree follows and counts too.
    """

    vocab: Vocab
    block_size: int
    ascii_only: bool = False
    """Characters that are not ASCII are dropped, as the course's code does when it trains (and not when it asks)."""
    count_subject: bool = False
    """The subject's name in the question counts too, and what follows it: so the model knows how likely a name is, and
    where it ends."""

    def __call__(self, record: Question, rng: np.random.Generator) -> Example:
        """The question with its canonical answer; a longer one than the block is refused."""
        if record.answer is None:
            raise LociError(f"{record.text!r} has no answer to learn from", line=record.number)
        question, answer = (
            text.encode("ascii", "ignore").decode() if self.ascii_only else text
            for text in (record.text, record.answer)
        )
        ids = closed(self.vocab, question, answer)
        if record.degree is not None:
            ids = np.append(ids, degree_id(self.vocab, record.degree))
        if len(ids) > self.block_size:
            raise LociError(
                f"question and answer take {len(ids)} characters, the block has {self.block_size}",
                line=record.number,
                remedy="shorten the question or train with a larger block_size",
            )
        mask = np.arange(len(ids)) >= len(question)
        if self.count_subject and record.subject and (start := question.find(record.subject)) >= 0:
            mask[start:] = True
        return Example(ids, mask)


Factory = Callable[..., Objective[Any]]

OBJECTIVES: Registry[Factory] = Registry("objective")
OBJECTIVES.add("corruption-2021", partial(SpanCorruption, closing_mask=True))
OBJECTIVES.add("corruption-2024", partial(SpanCorruption, closing_mask=False))
OBJECTIVES.add("language-model", LanguageModel)
OBJECTIVES.add("salient-span", SalientSpan)
OBJECTIVES.add("word-recall", WordRecall)
OBJECTIVES.add("cued-recall", CuedRecall)
OBJECTIVES.add("memorize", Memorize)
OBJECTIVES.add("question-answer", QuestionAnswer)
OBJECTIVES.add("reading", Reading)


def make_objective(name: str, vocab: Vocab, block_size: int, options: Mapping[str, Any]) -> Objective[Any]:
    """The objective of that name; unknown names and options list what there is."""
    factory = OBJECTIVES[name]
    try:
        return factory(vocab, block_size, **options)
    except TypeError as error:
        raise LociError(f"objective {name!r}: {error}") from None
