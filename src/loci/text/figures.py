"""The figures of a corpus and of questions: how many, how long, how varied, how much the text can teach.

Pure functions of what was read. Finds nothing wrong; knows nothing of bytes or forms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loci.text.compiled import CompiledCorpus
from loci.text.corpus import Corpus, Line
from loci.text.questions import Question, Questions
from loci.text.vocab import MASK, PAD


@dataclass(frozen=True)
class Lengths:
    """How long things are, in characters."""

    shortest: int
    median: float
    p90: float
    longest: int


def lengths_of(texts: Sequence[str]) -> Lengths | None:
    """The lengths of `texts`; None when there are none."""
    return _lengths(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))) if texts else None


def _lengths(sizes: NDArray[np.int64]) -> Lengths:
    median, p90 = np.percentile(sizes, [50, 90])
    return Lengths(int(sizes.min()), float(median), float(p90), int(sizes.max()))


@dataclass(frozen=True)
class CorpusFigures:
    """`symbols` counts the pad and the mask, as the vocabulary does; `no_subject` the lines without a subject."""

    lines: int
    subjects: int
    no_subject: int
    characters: int
    symbols: int
    lengths: Lengths | None


def corpus_figures(lines: Sequence[Line], raw: str) -> CorpusFigures:
    """The figures of a corpus as it stands on disk, special symbols and all."""
    symbols = len(set(raw) | {PAD, MASK})
    nowhere = sum(not line.subject and bool(line.text.strip()) for line in lines)
    subjects = {line.subject for line in lines} - {""}
    lengths = lengths_of([line.text for line in lines])
    return CorpusFigures(len(lines), len(subjects), nowhere, len(raw), symbols, lengths)


def mapped_figures(corpus: CompiledCorpus) -> CorpusFigures:
    """The same figures of a corpus in mapped arrays, without reading its text."""
    sizes = np.diff(corpus.offsets) - 1
    nameless = np.flatnonzero(np.diff(corpus.arrays["subject_offsets"]) == 0)
    nowhere = sum(bool(corpus.text(int(index)).strip()) for index in nameless)
    characters = int(corpus.offsets[-1]) - (not corpus.about_text.final_newline)
    subjects = len(corpus.by_subject)
    return CorpusFigures(len(corpus), subjects, nowhere, characters, len(corpus.vocab), _lengths(sizes))


@dataclass(frozen=True)
class QuestionFigures:
    """`in_own_line`: a line about the subject contains an answer. `taught`: some train question has that answer too."""

    questions: int
    answered: int
    distinct_answers: int
    top_answer: str | None
    top_count: int
    longest_example: int
    in_own_line: int | None
    taught: int | None


def figures_by_relation(
    questions: Questions, corpus: Corpus | None, train: Sequence[Questions] = ()
) -> dict[str | None, QuestionFigures]:
    """The figures of each relation, in the order met, and of all together under None.

    Against the corpus, and against what the train questions of the relation have for answers, where there are any.
    """
    taught: dict[str | None, set[str]] = {None: set()}
    for one in train:
        taught[None] |= one.answers
        for name, own in one.by_relation().items():
            taught.setdefault(name, set()).update(own.answers)
    tallies: dict[str | None, _Tally] = {None: _Tally(taught[None])}
    for row in questions:
        told = corpus is not None and bool(row.answers) and corpus.tells(row.subject, row.answers)
        if row.relation not in tallies:
            tallies[row.relation] = _Tally(taught.get(row.relation, set()))
        tallies[None].add(row, told)
        tallies[row.relation].add(row, told)
    known = {name for name in tallies if name in taught} if train else set()
    return {name: tally.figures(corpus is not None, name in known) for name, tally in tallies.items()}


class _Tally:
    """Counts questions as they come."""

    def __init__(self, taught: set[str]):
        self.known = taught
        self.questions = self.longest = self.told = self.taught = 0
        self.answers: Counter[str] = Counter()

    def add(self, row: Question, told: bool) -> None:
        self.questions += 1
        self.longest = max(self.longest, row.example_length())
        if row.answers:
            self.answers[row.answers[0]] += 1
            self.told += told
            self.taught += not self.known.isdisjoint(row.answers)

    def figures(self, corpus: bool, train: bool) -> QuestionFigures:
        answered = self.answers.total()
        top, top_count = next(iter(self.answers.most_common(1)), (None, 0))
        return QuestionFigures(
            questions=self.questions,
            answered=answered,
            distinct_answers=len(self.answers),
            top_answer=top,
            top_count=top_count,
            longest_example=self.longest,
            in_own_line=self.told if corpus and answered else None,
            taught=self.taught if train and answered else None,
        )
