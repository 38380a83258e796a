"""Does a probability of 0.8 mean right eight times in ten? Measures of it, and two ways to recalibrate.

The confidence of a row is the probability of its whole answer, end included: one outcome against all other texts in
one lump. So temperature scaling here divides the log-odds of that outcome by T, which is ordinary temperature scaling
of the two-outcome distribution. It keeps 0.5 at 0.5; the isotonic fit may bend the scale anywhere. A run's calibration
belongs to exact weights and says on which questions it was fitted: judging it by the same questions would flatter it.
Knows nothing of models, or of how a run is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from loci.answering.confidence import EDGE, Calibrator, Isotonic, RunCalibration, Temperature, log_odds
from loci.errors import LociError
from loci.evaluation.abstention import best_threshold, wrong_cost
from loci.evaluation.metrics import LEVEL, Estimate, Rate, ScoreArrays, mean_share, score_arrays, wilson
from loci.evaluation.rows import Row

BINS = 15
_TEMPERATURES = (0.05, 50.0)


@dataclass(frozen=True)
class Bin:
    """The rows of a stretch of confidence (least to greatest in it): what they claim, and what they hold."""

    low: float
    high: float
    confidence: float
    accuracy: Rate

    @property
    def n(self) -> int:
        """Rows in the bin."""
        return self.accuracy.n


def reliability(scores: ScoreArrays, bins: int = BINS) -> list[Bin]:
    """Bins of about equal numbers of rows; empty bins are left out.

    Rows of one confidence share a bin, so the result does not depend on the order of the rows.
    """
    if not len(scores):
        return []
    index = _bin_index(scores.confidence, bins)
    total = np.bincount(index)
    right = np.bincount(index, weights=scores.right)
    claimed = np.bincount(index, weights=scores.confidence)
    return [
        Bin(
            float(scores.confidence[index == i].min()),
            float(scores.confidence[index == i].max()),
            float(claimed[i] / total[i]),
            wilson(round(right[i]), int(total[i])),
        )
        for i in np.flatnonzero(total).tolist()
    ]


def _bin_index(confidence: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    _, which, counts = np.unique(confidence, return_inverse=True, return_counts=True)
    # The middle rank of a confidence's rows decides for them all.
    position = (np.cumsum(counts) - counts / 2) / len(confidence)
    return np.asarray(np.minimum((position * bins).astype(np.int64), bins - 1)[which], dtype=np.int64)


def ece(scores: ScoreArrays, bins: int = BINS) -> float:
    """Expected calibration error: mean distance of claim and truth over the bins, weighted by their rows."""
    if not len(scores):
        return math.nan
    index = _bin_index(scores.confidence, bins)
    return float(np.abs(np.bincount(index, weights=scores.confidence - scores.right)).sum() / len(scores))


def ece_if_calibrated(scores: ScoreArrays, rng: np.random.Generator, bins: int = BINS, rounds: int = 200) -> Estimate:
    """The `ece` that the same confidences would show if every one were true: the floor of chance.

    It is never 0 in a finite sample; only what exceeds this interval speaks against the model.
    """
    p = scores.confidence
    if not len(scores):
        return Estimate(math.nan, math.nan, math.nan, 0)
    index = _bin_index(p, bins)
    errors = [np.abs(np.bincount(index, weights=p - (rng.random(len(p)) < p))).sum() / len(p) for _ in range(rounds)]
    low, high = np.quantile(errors, [0.025, 0.975])
    return Estimate(float(np.mean(errors)), float(low), float(high), len(p))


def brier(scores: ScoreArrays) -> Estimate:
    """Mean squared distance of confidence and truth: 0 is perfect, 0.25 is a coin that says so."""
    return mean_share((scores.confidence - scores.right) ** 2)


def log_loss(scores: ScoreArrays) -> float:
    """Mean −log probability given to what turned out true."""
    p = np.clip(scores.confidence, EDGE, 1 - EDGE)
    return float(-np.mean(np.where(scores.right, np.log(p), np.log1p(-p))))


def auroc(score: NDArray[np.float64], positive: NDArray[np.bool_], level: float = LEVEL) -> Estimate:
    """How often a positive scores above a negative (ties count half), with DeLong's interval."""
    from scipy.stats import rankdata

    m, n = int(positive.sum()), int((~positive).sum())
    if not m or not n:
        return Estimate(math.nan, math.nan, math.nan, m + n)
    ranks = rankdata(score)  # from 1; equals share the middle of theirs
    # Share of negatives below each positive, and of positives above each negative.
    above = (ranks[positive] - rankdata(score[positive])) / n
    below = 1 - (ranks[~positive] - rankdata(score[~positive])) / m
    value = float(above.mean())
    if m < 2 or n < 2:
        return Estimate(value, 0.0, 1.0, m + n)
    deviation = math.sqrt(above.var(ddof=1) / m + below.var(ddof=1) / n)
    half = NormalDist().inv_cdf(0.5 + level / 2) * deviation
    return Estimate(value, max(0.0, value - half), min(1.0, value + half), m + n)


def auroc_right(scores: ScoreArrays) -> Estimate:
    """Whether confidence tells right answers from wrong ones: 0.5 is chance, 1 is perfect."""
    return auroc(scores.confidence, scores.right)


def fit_temperature(scores: ScoreArrays) -> Temperature:
    """The temperature of least log loss on these rows."""
    from scipy.optimize import minimize_scalar

    _require_rows(scores)
    odds = log_odds(scores.confidence)
    sign = np.where(scores.right, -1.0, 1.0)
    # In 1/T the loss is convex, so a bounded line search finds the one minimum.
    found = minimize_scalar(
        lambda inverse: float(np.logaddexp(0, sign * odds * inverse).mean()),
        bounds=(1 / _TEMPERATURES[1], 1 / _TEMPERATURES[0]),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return Temperature(1 / float(found.x))


def fit_isotonic(scores: ScoreArrays) -> Isotonic:
    """The rising line of least squared error on these rows."""
    from scipy.optimize import isotonic_regression

    _require_rows(scores)
    claimed, index, counts = np.unique(scores.confidence, return_inverse=True, return_counts=True)
    share = np.bincount(index, weights=scores.right) / counts
    found = np.clip(isotonic_regression(share, weights=counts).x, 0, 1)
    # A level stretch is kept by its two ends.
    level = np.diff(found) == 0
    inner = np.zeros(len(found), dtype=bool)
    inner[1:-1] = level[:-1] & level[1:]
    return Isotonic(tuple(claimed[~inner].tolist()), tuple(found[~inner].tolist()))


def recalibrated(scores: ScoreArrays, calibrator: Calibrator) -> ScoreArrays:
    """The scores with every confidence put through `calibrator`."""
    return replace(scores, confidence=calibrator.apply(scores.confidence))


def _require_rows(scores: ScoreArrays) -> None:
    if not len(scores):
        remedy = "a validation slice needs rows with answers and probabilities"
        raise LociError("no rows to calibrate on", remedy=remedy)


TARGET = 0.5
"""The default confidence target: an answer is worth giving when it is more likely right than wrong."""
ENOUGH = 100
"""Rows from which on an isotonic fit, which bends anywhere, is considered at all."""
FOLDS = 5
AS_IT_IS: Calibrator = Temperature(1.0)


def fit_calibration(
    rows: Sequence[Row], *, questions: str, questions_hash: str, model: str, level: float = TARGET
) -> RunCalibration:
    """Fit on rows with answers and probabilities; all right or all wrong is a `LociError`."""
    wrong_cost(level)  # a level that is none is said before anything is fitted
    taken = score_arrays(rows)
    right = int(taken.right.sum())
    if not 0 < right < len(taken):
        remedy = "calibrate on questions of which the run gets some right and some wrong"
        raise LociError(
            f"{right} of {len(taken)} answers are right: nothing can be told from confidence", remedy=remedy
        )
    temperature = fit_temperature(taken)
    isotonic = fit_isotonic(taken) if len(taken) >= ENOUGH else None
    before = brier(taken).value
    # Few rows can teach a fit the wrong thing: then none is better.
    chosen, after = AS_IT_IS, before
    for fit, function in ((temperature, fit_temperature), (isotonic, fit_isotonic)):
        if fit is not None and (found := _over_folds(taken, function)) < after:
            chosen, after = fit, found
    threshold = best_threshold(recalibrated(taken, chosen), level)
    told = (model, questions, questions_hash, len(taken), right, before, after)
    return RunCalibration(chosen, temperature, isotonic, level, threshold, *told)


def _over_folds(rows: ScoreArrays, fit: Callable[[ScoreArrays], Calibrator]) -> float:
    """Mean squared distance of claim and truth, every row judged by a fit on the other folds."""
    fold = np.arange(len(rows)) % min(FOLDS, len(rows))
    claimed = np.empty(len(rows))
    for index in range(int(fold.max()) + 1):
        held = fold == index
        rest = ScoreArrays(rows.right[~held], rows.confidence[~held])
        claimed[held] = fit(rest).apply(rows.confidence[held])
    return float(((claimed - rows.right) ** 2).mean())
