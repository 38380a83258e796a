"""When to say "I don't know": risk and coverage, and scores in which a wrong answer costs more than none.

A threshold on the confidence decides. At a confidence target t a wrong answer costs t/(1−t), so that an answer is worth
giving exactly when it is right with a probability above t. Knows nothing of how a confidence was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loci.answering.confidence import NEVER
from loci.errors import LociError
from loci.evaluation.metrics import Estimate, Rate, mean_estimate, scorable, wilson
from loci.evaluation.rows import Row
from loci.evaluation.score_arrays import ScoreArrays
from loci.evaluation.significance import bootstrap

LEVELS = (0.5, 0.75, 0.9)
"""Confidence targets that reports use."""


@dataclass(frozen=True)
class RiskCoverage:
    """Answering the surest first: at each threshold the share answered and the share of these that is wrong."""

    threshold: NDArray[np.float64]
    coverage: NDArray[np.float64]
    risk: NDArray[np.float64]
    aurc: float
    """Area under the curve, the mean risk over all coverages: lower is better."""
    best_aurc: float
    """That of an oracle that is as often right and puts every wrong answer last."""

    def coverage_at(self, risk: float) -> float:
        """The largest share that can be answered with at most this share of mistakes; 0 if none."""
        allowed = self.coverage[self.risk <= risk]
        return float(allowed.max()) if len(allowed) else 0.0


def risk_coverage(rows: ScoreArrays) -> RiskCoverage:
    """The curve over all distinct confidences; rows of one confidence come in together."""
    n = len(rows)
    if not n:
        raise LociError("no row with a known truth, so there is no risk to compute")
    threshold, index, counts = np.unique(rows.confidence, return_inverse=True, return_counts=True)
    wrong = np.bincount(index, weights=~rows.right)
    answered = np.cumsum(counts[::-1])
    mistakes = np.cumsum(wrong[::-1])
    return RiskCoverage(
        threshold[::-1],
        answered / n,
        mistakes / answered,
        _aurc(answered, mistakes, n),
        _aurc(np.array([rows.right.sum(), n]), np.array([0, (~rows.right).sum()]), n),
    )


def _aurc(answered: NDArray[Any], mistakes: NDArray[Any], n: int) -> float:
    # Within a group of equal confidence any order is as likely: its mistakes come in evenly on average.
    k = np.arange(1, n + 1)
    return float(np.mean(np.interp(k, np.r_[0, answered], np.r_[0, mistakes]) / k))


def aurc_estimate(rows: ScoreArrays, rng: np.random.Generator, rounds: int | None = None) -> Estimate:
    """The area under the risk–coverage curve with the interval of resampled rows."""
    n = len(rows)
    threshold, index = np.unique(-rows.confidence, return_inverse=True)
    wrong = (~rows.right).astype(np.float64)

    def resampled(drawn: NDArray[np.int64]) -> float:
        # The sorting is done once; a resample only changes how many rows stand at each confidence.
        answered = np.cumsum(np.bincount(index[drawn], minlength=len(threshold)))
        return _aurc(answered, np.cumsum(np.bincount(index[drawn], wrong[drawn], len(threshold))), n)

    return bootstrap(resampled, n, rng, rounds)


def wrong_cost(level: float) -> float:
    """What a wrong answer costs at the confidence target `level`."""
    if not 0 <= level < 1:
        raise LociError(f"a confidence target is at least 0 and below 1, not {level!r}")
    return level / (1 - level)


def cost_score(rows: Iterable[Row], level: float) -> Estimate:
    """Mean of +1 for right, 0 for "I don't know", −t/(1−t) for wrong. Silence about everything scores 0."""
    return mean_estimate(cost_points(rows, level))


def cost_points(rows: Iterable[Row], level: float) -> NDArray[np.float64]:
    """What each scorable row earns or costs."""
    cost = wrong_cost(level)
    points = (0.0 if row.abstained else 1.0 if row.correct else -cost for row in scorable(rows))
    return np.fromiter(points, dtype=np.float64)


def best_threshold(rows: ScoreArrays, level: float) -> float:
    """The threshold of highest `cost_score` on these rows, the most cautious among equals; `NEVER` if none is
    worth answering.
    """
    threshold, index = np.unique(rows.confidence, return_inverse=True)
    gain = np.bincount(index, weights=np.where(rows.right, 1.0, -wrong_cost(level)), minlength=len(threshold))
    totals = np.cumsum(gain[::-1])
    if not len(totals) or totals.max() <= 0:
        return NEVER
    return float(threshold[::-1][int(np.argmax(totals))])


def with_threshold(rows: Iterable[Row], threshold: float) -> list[Row]:
    """The rows with every answer below `threshold` withheld; what was withheld before stays so."""
    return [
        replace(row, abstained=True)
        if not row.abstained and row.probability is not None and row.probability < threshold
        else row
        for row in rows
    ]


def abstention_rate(rows: Iterable[Row]) -> Rate:
    """Share of all rows, with or without a known truth, that were not answered."""
    rows = list(rows)
    return wilson(sum(row.abstained for row in rows), len(rows))


@dataclass(frozen=True)
class CostScore:
    """The score at one confidence target as the rows stand, and with a threshold chosen on other rows."""

    level: float
    as_given: Estimate
    threshold: float
    with_threshold: Estimate
    answered: Rate


def cost_scores(validation: ScoreArrays, test: ScoreArrays, levels: Sequence[float] = LEVELS) -> list[CostScore]:
    """At each confidence target: pick the threshold on `validation`, score `test` with and without it."""
    return [cost_score_at(test, level, best_threshold(validation, level)) for level in levels]


def cost_score_at(test: ScoreArrays, level: float, threshold: float) -> CostScore:
    """The score at one confidence target with and without a given threshold."""
    silent = test.withheld if test.withheld is not None else np.zeros(len(test), dtype=np.bool_)
    points = np.where(test.right, 1.0, -wrong_cost(level))
    held = silent | (test.confidence < threshold)
    return CostScore(
        level,
        mean_estimate(np.where(silent, 0.0, points)),
        threshold,
        mean_estimate(np.where(held, 0.0, points)),
        wilson(int((~held).sum()), len(held)),
    )
