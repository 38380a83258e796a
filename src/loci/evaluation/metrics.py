"""Exact match, its interval, the baseline that any knowledge must beat, and rows as arrays of right and confidence.

Pure functions over prediction rows. Knows nothing of models, of files or of what the answers are about.
"""

from __future__ import annotations

import math
import statistics
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from loci.errors import LociError
from loci.evaluation.rows import SPLITS, UNKNOWABLE, Row
from loci.text.questions import Question

LEVEL = 0.95
"""Confidence level of every interval that Loci prints."""


@dataclass(frozen=True)
class Rate:
    """A share of `n` trials with its interval; `n` = 0 leaves the share undefined and the interval the whole range."""

    successes: int
    n: int
    low: float
    high: float

    def __post_init__(self) -> None:
        assert 0 <= self.successes <= self.n, (self.successes, self.n)
        assert 0 <= self.low <= self.high <= 1, (self.low, self.high)

    @property
    def value(self) -> float:
        """The share itself, NaN when nothing was tried."""
        return self.successes / self.n if self.n else math.nan

    def complement(self) -> Rate:
        """The share of all others."""
        return Rate(self.n - self.successes, self.n, 1 - self.high, 1 - self.low)

    def __str__(self) -> str:
        if not self.n:
            return "– (n = 0)"
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f}–{100 * self.high:.1f}, n = {self.n})"


@dataclass(frozen=True)
class Estimate:
    """A number that is not a share of trials, with its interval; NaN when it is undefined."""

    value: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        if not math.isfinite(self.value):
            return f"– (n = {self.n})"
        if not math.isfinite(self.low + self.high):
            return f"{decimal(self.value)} (n = {self.n})"
        # "to" and not a dash, which before a minus sign could not be read.
        return f"{decimal(self.value)} ({decimal(self.low)} to {decimal(self.high)}, n = {self.n})"


def decimal(value: float) -> str:
    """Three decimals with a true minus sign (none on what rounds to zero); a dash for what is no number."""
    return f"{value:z.3f}".replace("-", "−") if math.isfinite(value) else "–"


def mean_estimate(values: NDArray[np.float64], level: float = LEVEL) -> Estimate:
    """A mean with the normal interval of its standard error."""
    n = len(values)
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    mean = float(values.mean())
    half = NormalDist().inv_cdf(0.5 + level / 2) * float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    return Estimate(mean, mean - half, mean + half, n)


def mean_share(values: NDArray[np.float64]) -> Estimate:
    """A mean of numbers between 0 and 1: its normal interval may not cross the bounds of what it estimates."""
    found = mean_estimate(values)
    return replace(found, low=max(0.0, found.low), high=min(1.0, found.high))


def wilson(successes: int, n: int, level: float = LEVEL, *, independent: float | None = None) -> Rate:
    """A rate with its Wilson score interval, which keeps its coverage for small `n` and for shares near 0 and 1.

    Trials that depend on each other are worth fewer `independent` ones: the interval is then that of so many.
    """
    if not n:
        return Rate(0, 0, 0.0, 1.0)
    z2 = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    share, worth = successes / n, n if independent is None else independent
    centre = (share + z2 / (2 * worth)) / (1 + z2 / worth)
    half = math.sqrt(z2 * (share * (1 - share) / worth + z2 / (4 * worth * worth))) / (1 + z2 / worth)
    # At 0 and n one end is the share itself; rounding must not put it outside.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Rate(successes, n, low, high)


def repeated(outcomes: Sequence[Sequence[bool]], level: float = LEVEL) -> Rate:
    """The share of right answers where several models answer the same questions, one sequence a model.

    What one model answers rightly others mostly do too, so three models' answers are not three times as many trials.
    The interval is that of as many independent answers as would scatter like the questions' means, or like the models'
    shares, if these scatter more.
    """
    models, questions = len(outcomes), len(outcomes[0]) if outcomes else 0
    assert all(len(own) == questions for own in outcomes), "every model must answer all questions"
    rights, n = sum(map(sum, outcomes)), models * questions
    if n == 0 or rights in (0, n) or questions < 2:
        return wilson(rights, n, level, independent=questions or None)
    share = rights / n
    scatter = statistics.variance(sum(answers) / models for answers in zip(*outcomes, strict=True)) / questions
    by_question = min(max(share * (1 - share) / scatter if scatter else float(n), questions), n)
    by_model = _independent([sum(own) / questions for own in outcomes], share, n)
    return wilson(rights, n, level, independent=min(by_question, by_model))


def over_seeds(rates: Sequence[Rate], level: float = LEVEL) -> Rate:
    """The share of several seeds together, each asked questions of its own.

    The interval is that of all trials together, or wider where the seeds differ by more than their trials explain.
    """
    rates = [rate for rate in rates if rate.n]
    rights, n = sum(rate.successes for rate in rates), sum(rate.n for rate in rates)
    independent = _independent([rate.value for rate in rates], rights / n, n) if n else None
    return wilson(rights, n, level, independent=independent)


def _independent(shares: Sequence[float], share: float, n: int) -> float:
    """How many independent trials would scatter like the shares of several models."""
    scatter = statistics.variance(shares) / len(shares) if len(shares) > 1 else 0.0
    return max(1.0, min(float(n), share * (1 - share) / scatter)) if scatter else float(n)


def is_right(row: Row) -> bool:
    """Whether the row counts as a right answer: given, not withheld, and accepted to the letter."""
    return not row.abstained and row.correct is True


def scorable(rows: Iterable[Row]) -> list[Row]:
    """The rows that can be scored: those whose truth is known, and those whose truth nobody could know.

    An answer about a person never read about, say, is wrong unless the row accepts it.
    """
    return [row for row in rows if row.answers or row.split in UNKNOWABLE]


def exact_match(rows: Iterable[Row]) -> Rate:
    """Right answers among the scorable rows; an "I don't know" is not a right answer."""
    scored = scorable(rows)
    return wilson(sum(map(is_right, scored)), len(scored))


def by_split(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows of each split, Loci's own splits first, then the others in the order met; "all" for no split."""
    met: dict[str, list[Row]] = {split: [] for split in SPLITS}
    for row in rows:
        met.setdefault(row.split or "all", []).append(row)
    return {split: members for split, members in met.items() if members}


def rows_by_relation(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows of each relation, in the order met; "other" for questions of no known relation."""
    met: dict[str, list[Row]] = {}
    for row in rows:
        met.setdefault(row.relation or "other", []).append(row)
    return met


def by_relation(rows: Iterable[Row]) -> dict[str, Rate]:
    """Exact match of each relation."""
    return {name: exact_match(own) for name, own in rows_by_relation(rows).items()}


def commonest(counts: Counter[str]) -> list[str]:
    """The answers, the commonest first; equals in alphabetical order."""
    return sorted(counts, key=lambda answer: (-counts[answer], answer))


def most_common_answer(train_answers: Iterable[str]) -> str:
    """The commonest answer; among equals the first in alphabetical order, so that the baseline never changes."""
    counts = Counter(train_answers)
    if not counts:
        raise LociError("no train answers, so there is no most common one")
    return commonest(counts)[0]


def most_common_answer_baseline(train_answers: Sequence[str], questions: Iterable[Question]) -> list[Row]:
    """Rows of a system that always says the commonest train answer, with its train share as probability."""
    answer = most_common_answer(train_answers)
    share = train_answers.count(answer) / len(train_answers)
    return [Row(one.text, answer, one.answers, one.subject, probability=share) for one in questions]


@dataclass(frozen=True)
class ScoreArrays:
    """One entry a row that can be scored. What a threshold would withhold counts as said: each can be judged."""

    right: NDArray[np.bool_]
    """Whether the answer is accepted, said or withheld."""
    confidence: NDArray[np.float64]
    withheld: NDArray[np.bool_] | None = None
    """Whether the row abstained; None when none did."""
    silent: NDArray[np.bool_] | None = None
    """Whether no answer was given, at the run's own threshold too; None when all were."""

    def __post_init__(self) -> None:
        assert self.right.shape == self.confidence.shape
        assert all(found is None or found.shape == self.right.shape for found in (self.withheld, self.silent))
        assert self.right.ndim == 1

    def __len__(self) -> int:
        return len(self.right)


def score_arrays(rows: Sequence[Row]) -> ScoreArrays:
    """The arrays of the scorable rows; a row without a probability is a `LociError`."""
    scored = scorable(rows)
    if not scored:
        raise LociError("no row with a known truth, so nothing can be scored")
    for row in scored:
        if row.probability is None:
            remedy = "calibration and abstention need a probability in every row"
            raise LociError(f"the answer to {row.question!r} has no probability", remedy=remedy)
    right = np.fromiter((row.correct is True for row in scored), dtype=np.bool_, count=len(scored))
    confidence = np.fromiter((row.probability for row in scored), dtype=np.float64, count=len(scored))
    withheld = np.fromiter((row.abstained for row in scored), dtype=np.bool_, count=len(scored))
    silent = np.fromiter((row.silent for row in scored), dtype=np.bool_, count=len(scored))
    return ScoreArrays(right, confidence, *(found if found.any() else None for found in (withheld, silent)))


def has_probabilities(rows: Sequence[Row]) -> bool:
    """Whether `score_arrays` will succeed."""
    scored = scorable(rows)
    return bool(scored) and all(row.probability is not None for row in scored)


def validation_slice(rows: Sequence[Row], share: float = 0.5) -> tuple[list[Row], list[Row]]:
    """Rows to fit on and rows to judge on. All rows of a person fall on one side, and on the same side in every run."""
    fit: list[Row] = []
    rest: list[Row] = []
    for row in rows:
        # A checksum deals people out evenly without a generator, whatever the order or the number of the rows.
        name = row.subject or row.question
        (fit if zlib.crc32(name.encode()) < share * 2**32 else rest).append(row)
    return fit, rest
