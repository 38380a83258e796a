"""When to say "I don't know", and when to give several answers.

Risk and coverage, and scores in which a wrong answer costs more than none: a threshold on the confidence decides. At a
confidence target t a wrong answer costs t/(1−t), so that an answer is worth giving exactly when it is right with a
probability above t.

Answer sets that hold the truth as often as promised, by split conformal prediction: on calibration rows, note how
little probability the true answer got; a later set holds every candidate that got at least as much as the promised
quantile. If calibration and later rows are exchangeable, the truth is in the set with at least the promised
probability, whatever the model. Candidates are the prediction and its alternatives; a truth outside them can never be
covered, so the promise may need the set of everything. Knows nothing of how a confidence was made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loci.answering.confidence import NEVER
from loci.errors import LociError
from loci.evaluation.metrics import Estimate, Rate, ScoreArrays, mean_estimate, scorable, wilson
from loci.evaluation.rows import Row
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
    """The threshold of highest `cost_score` on these rows, the most cautious of equals; `NEVER` if none is worth it."""
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
    """The score at one confidence target as the run answers, and with a threshold chosen on other rows."""

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
    points = np.where(test.right, 1.0, -wrong_cost(level))
    held = test.confidence < threshold
    if test.withheld is not None:
        held |= test.withheld
    return CostScore(
        level,
        mean_estimate(points if test.silent is None else np.where(test.silent, 0.0, points)),
        threshold,
        mean_estimate(np.where(held, 0.0, points)),
        wilson(int((~held).sum()), len(held)),
    )


@dataclass(frozen=True)
class ConformalThreshold:
    """The least probability a candidate needs to be in the set; −inf means the set of everything."""

    coverage: float
    probability: float
    n: int

    @property
    def unbounded(self) -> bool:
        """The promise cannot be kept with the candidates at hand."""
        return self.probability == -math.inf


@dataclass(frozen=True)
class SetScore:
    """How the sets did on rows they were not fitted on."""

    covered: Rate
    size: Estimate
    empty: Rate
    single: Rate


def candidates(row: Row) -> dict[str, float]:
    """The answers the row considered with their probabilities; the prediction first."""
    if row.probability is None:
        remedy = "answer sets need a probability in every row"
        raise LociError(f"the answer to {row.question!r} has no probability", remedy=remedy)
    found = {row.prediction: row.probability}
    for text, p in row.alternatives:
        found.setdefault(text, p)
    return found


def true_probabilities(rows: Sequence[Row]) -> NDArray[np.float64]:
    """The probability each row gave to its truth; −inf where the truth was no candidate, or there is none."""
    values = np.full(len(rows), -math.inf)
    for index, row in enumerate(rows):
        considered = candidates(row)
        values[index] = max((considered.get(answer, -math.inf) for answer in row.answers), default=-math.inf)
    return values


def conformal_quantile(truth: NDArray[np.float64], coverage: float) -> float:
    """The ⌈(n+1)·coverage⌉-th largest value: the +1 is for the row that is still to come."""
    if not 0 < coverage < 1:
        raise LociError(f"a coverage is between 0 and 1, not {coverage!r}")
    # Without the rounding, 0.9 · 10 would be a hair above 9 and cost a rank.
    rank = math.ceil(round((len(truth) + 1) * coverage, 9))
    return -math.inf if rank > len(truth) else float(np.partition(truth, len(truth) - rank)[len(truth) - rank])


def answer_set(row: Row, threshold: ConformalThreshold) -> list[str] | None:
    """The set, likeliest first; None for the set of everything."""
    if threshold.unbounded:
        return None
    kept = [(p, text) for text, p in candidates(row).items() if p >= threshold.probability]
    return [text for _, text in sorted(kept, key=lambda pair: -pair[0])]


def score_sets(rows: Sequence[Row], threshold: ConformalThreshold) -> SetScore:
    """Coverage and size of the sets of rows with answers. An unbounded set covers all and has no size."""
    known = [row for row in rows if row.answers]
    sets = [answer_set(row, threshold) for row in known]
    covered = sum(found is None or any(a in found for a in row.answers) for row, found in zip(known, sets, strict=True))
    sizes = np.array([len(found) for found in sets if found is not None], dtype=np.float64)
    return SetScore(
        wilson(covered, len(known)),
        mean_estimate(sizes),
        wilson(int((sizes == 0).sum()), len(sizes)),
        wilson(int((sizes == 1).sum()), len(sizes)),
    )


def simulated_coverage(
    truth: NDArray[np.float64], coverage: float, rng: np.random.Generator, rounds: int | None = None
) -> Estimate:
    """Mean coverage over random halvings of rows' `true_probabilities`: fit on one half, count on the other.

    The interval is of the halvings' spread (central 95 %), not of the mean.
    """
    n = len(truth)
    rounds = rounds or int(np.clip(4_000_000 // max(1, n), 50, 400))
    if n < 2:
        raise LociError("at least two rows with a known truth are needed to simulate coverage")
    shares = np.empty(rounds)
    for index in range(rounds):
        order = rng.permutation(n)
        quantile = conformal_quantile(truth[order[: n // 2]], coverage)
        shares[index] = (truth[order[n // 2 :]] >= quantile).mean()
    low, high = np.quantile(shares, [0.025, 0.975])
    return Estimate(float(shares.mean()), float(low), float(high), n)
