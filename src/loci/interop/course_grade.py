"""Grading predictions files as the course's script scores them, and what a teacher wants to know beyond the score.

For each file the published line, the interval, and where the wrong answers come from; over all files which of them
agree more than chance explains. Knows nothing of models.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np

from loci.errors import LociError
from loci.evaluation.error_kinds import ErrorClassifier
from loci.evaluation.metrics import Rate, exact_match, is_right, wilson
from loci.evaluation.rows import Row
from loci.interop.course_lines import rows_of_lines, score_lines
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.source import load

COPIED = 0.9
"""Two files that share at least this part of what both have wrong are pointed out."""


@dataclass(frozen=True)
class Grade:
    """One file: the line that the course's script prints, or why it cannot be graded."""

    file: str
    line: str
    right: Rate | None = None
    kinds: Mapping[str, int] = field(default_factory=dict)
    """Kind of answer → how many, the most common first."""


@dataclass(frozen=True)
class Pair:
    """Two files and what they have in common; space around an answer is no difference."""

    files: tuple[str, str]
    same: int
    """Questions with the same answer, right or wrong."""
    same_wrong: Rate
    """Of the questions that both have wrong, those with the same wrong answer."""
    by_chance: float
    """What that share would be if each had spread its own wrong answers over the questions by lot."""
    suspicious: bool
    identical: bool
    """All answers are the same, so also where nothing is wrong, or everybody says London."""

    def __str__(self) -> str:
        look, identical = "look at " * self.suspicious, "identical; " * self.identical
        return (
            f"{look}{' and '.join(self.files)}: {identical}{self.same} answers the same; of "
            f"{self.same_wrong.n} that both have wrong {self.same_wrong.successes} the same "
            f"({100 * self.by_chance:.0f} % by chance)"
        )


@dataclass(frozen=True)
class Graded:
    """All files, and every two of them: identical ones first, then those with the most mistakes in common."""

    files: tuple[Grade, ...]
    pairs: tuple[Pair, ...]

    def lines(self, n_pairs: int) -> list[str]:
        """What a teacher reads: of the pairs all to look at, then others, so many together."""
        lines = []
        for found in self.files:
            alone = len(self.files) == 1 and found.right is not None
            lines.append(found.line if alone else f"{found.file}: {found.line}")
            if found.right is not None:
                lines.append(f"  95 % interval {100 * found.right.low:.1f}–{100 * found.right.high:.1f} %")
            lines += [f"  {count:>5}  {kind}" for kind, count in found.kinds.items()]
        hidden: set[str] = set()
        for first, others in self._alike.items():
            if len(others) > 1:  # a line instead of a pair for every two of them
                look = "look at " * any(pair.suspicious for pair in self.pairs if pair.files == (first, others[0]))
                lines.append(f"{look}{', '.join([first, *others])}: identical")
                hidden |= {*others}
        pairs = [pair for pair in self.pairs if not hidden & {*pair.files}]
        pairs.sort(key=lambda pair: not (pair.suspicious or pair.identical))
        n_shown = max(n_pairs, sum(pair.suspicious or pair.identical for pair in pairs))
        lines += map(str, pairs[:n_shown])
        if (more := len(pairs) - n_shown) > 0:
            lines.append(f"… and {more:,} more {'pair' if more == 1 else 'pairs'}, less alike (--json has all)")
        return lines

    @property
    def _alike(self) -> dict[str, list[str]]:
        """File → the other files with the same answers, each in one group."""
        groups: dict[str, list[str]] = {}
        grouped: dict[str, str] = {}
        for first, second in (pair.files for pair in self.pairs if pair.identical):
            head = grouped.get(first, grouped.get(second, first))
            for file in (first, second):
                if file != head and file not in grouped:
                    groups.setdefault(head, []).append(file)
                    grouped[file] = head
        return groups


def grade(files: Sequence[Path], gold: Path, *, train: Path | None = None, corpus: Path | None = None) -> Graded:
    """Grade every file. Train questions and corpus next to the gold tell the kinds of errors, unless others are given.

    A file that cannot be graded does not keep the others from being so.
    """
    asked = Questions.read(gold)
    if not asked.answered:
        raise LociError("has no answers to grade by", path=gold, remedy="give the file with the gold answers")
    if train is None and importlib.util.find_spec("rapidfuzz"):  # the nearest names need it
        train = _next_to(gold, "birth_places_train.tsv")
    corpus = corpus or _next_to(gold, "wiki.txt")
    taught = Questions.read(train).answered if train is not None else ()
    known = {question.subject: question.answers[0] for question in taught if question.subject}
    classifier = ErrorClassifier(known, Corpus.read(corpus) if corpus is not None else None)
    grades, answered = [], {}
    for file in map(str, files):
        try:
            rows = answered[file] = read_answers(file, asked)
        except LociError as error:
            where = f"line {error.line}: " if error.line else ""
            grades.append(Grade(file, where + error.message + (f" ({error.remedy})" if error.remedy else "")))
        else:
            kinds = Counter(str(found.kind) for found in classifier.classify(rows)).most_common()
            grades.append(Grade(file, score_lines(rows)[0], exact_match(rows), dict(kinds)))
    pairs = sorted(_pairs(answered), key=lambda pair: (not pair.identical, -pair.same_wrong.low))
    return Graded(tuple(grades), tuple(pairs))


def read_answers(file: str, asked: Questions) -> list[Row]:
    """One answer per line, to the letter, in the order of the questions."""
    source = load(file)
    if fault := next((found for found in source.findings if found.severity == "error"), None):
        raise LociError(fault.message, line=fault.line)
    lines = source.lines()
    if len(lines) != len(asked):
        why = "an answer may contain a newline" if len(lines) > len(asked) else "one answer a line, for these questions"
        raise LociError(f"{len(lines)} lines for {len(asked)} questions", remedy=why)
    return rows_of_lines(asked, lines)


def _pairs(answered: Mapping[str, Sequence[Row]]) -> Iterator[Pair]:
    """Every two files. Answers are numbered first: a course of 300 students has 45,000 pairs."""
    ids: dict[str, int] = {}
    said = [np.array([ids.setdefault(row.prediction.strip(), len(ids)) for row in rows]) for rows in answered.values()]
    wrong = [np.array([not is_right(row) for row in rows]) for rows in answered.values()]
    for (i, first), (j, second) in combinations(enumerate(answered), 2):
        alike, both = said[i] == said[j], wrong[i] & wrong[j]
        counts = (np.bincount(said[k][both], minlength=len(ids)) for k in (i, j))
        n = int(both.sum())
        chance = float(np.dot(*counts)) / max(1, n) ** 2
        rate, same = wilson(int((alike & both).sum()), n), int(alike.sum())
        suspicious = n > 0 and rate.value >= max(COPIED, 2 * chance)
        yield Pair((first, second), same, rate, chance, suspicious, same == len(alike))


def _next_to(gold: Path, name: str) -> Path | None:
    return neighbour if (neighbour := gold.parent / name).is_file() else None
