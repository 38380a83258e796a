"""Exact match, its interval, and the baseline that any knowledge must beat.

Pure functions over prediction rows. Knows nothing of models, of files or of what the answers are about.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from loci.errors import LociError
from loci.knowledge.rows import Prediction

LEVEL = 0.95
"""Confidence level of every interval the house prints."""


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

    def __str__(self) -> str:
        if not self.n:
            return "– (n = 0)"
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f}–{100 * self.high:.1f}, n = {self.n})"


def wilson(successes: int, n: int, level: float = LEVEL) -> Rate:
    """A rate with its Wilson score interval, which keeps its coverage for small `n` and for shares near 0 and 1."""
    if not n:
        return Rate(0, 0, 0.0, 1.0)
    z2 = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    share = successes / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    # At 0 and n one end is the share itself; rounding must not put it beside it.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Rate(successes, n, low, high)


def is_right(row: Prediction) -> bool:
    """Whether the row counts as a right answer: given, not withheld, and accepted to the letter."""
    return not row.abstained and row.correct is True


def with_truth(rows: Iterable[Prediction]) -> list[Prediction]:
    """The rows whose accepted answers are known: only these can be scored."""
    return [row for row in rows if row.answers]


def exact_match(rows: Iterable[Prediction]) -> Rate:
    """Right answers among the rows with a known truth; an "I don't know" is not a right answer."""
    scored = with_truth(rows)
    return wilson(sum(map(is_right, scored)), len(scored))


def most_common_answer(train_answers: Iterable[str]) -> str:
    """The commonest answer; among equals the first in alphabetical order, so that the baseline never changes."""
    counts = Counter(train_answers)
    if not counts:
        raise LociError("no train answers, so there is no most common one")
    return min(counts, key=lambda answer: (-counts[answer], answer))


def most_common_answer_baseline(
    train_answers: Sequence[str], questions: Iterable[tuple[str, Sequence[str]]]
) -> list[Prediction]:
    """Rows of a system that always says the commonest train answer, with its train share as probability.

    `questions` are pairs of a question's text and its accepted answers; `exact_match` of the result is the baseline.
    """
    answer = most_common_answer(train_answers)
    share = train_answers.count(answer) / len(train_answers)
    return [
        Prediction(question=text, prediction=answer, answers=tuple(answers), probability=share)
        for text, answers in questions
    ]
