"""The figures of a corpus and of a question file: how many, how long, how varied, how much the text can teach.

Pure functions of what was read. Knows nothing of files or findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loci.text.compiled import CompiledCorpus
from loci.text.corpus import Corpus, Line
from loci.text.questions import Questions
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


def question_figures(questions: Questions, corpus: Corpus | None, train: Sequence[Questions] = ()) -> QuestionFigures:
    """The figures of some questions, against the corpus and the train questions where there are any."""
    answered = questions.answered
    counts = Counter(row.answer for row in answered)
    top, top_count = next(iter(counts.most_common(1)), (None, 0))
    taught_answers = {answer for taught in train for row in taught.answered for answer in row.answers}
    return QuestionFigures(
        questions=len(questions),
        answered=len(answered),
        distinct_answers=len(counts),
        top_answer=top,
        top_count=top_count,
        longest_example=max((row.example_length() for row in questions), default=0),
        in_own_line=sum(corpus.tells(row.subject, row.answers) for row in answered) if corpus and answered else None,
        taught=sum(not taught_answers.isdisjoint(row.answers) for row in answered) if train and answered else None,
    )
