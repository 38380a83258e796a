"""Selective prediction: what the probabilities of one system are worth, in one object.

Calls calibration, abstention and answer sets in turn. Whatever is fitted is fitted on one half of the people and judged
on the other; a calibration that a run brings along is judged on questions it was not fitted on. Knows nothing of files
or other systems.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from loci.answering.confidence import Calibrator, RunCalibration
from loci.evaluation import abstention
from loci.evaluation import calibration as measure
from loci.evaluation.abstention import ConformalThreshold, CostScore, RiskCoverage, SetScore
from loci.evaluation.calibration import AS_IT_IS, Bin, auroc, auroc_right, brier, ece, recalibrated, reliability
from loci.evaluation.metrics import Estimate, ScoreArrays, has_probabilities, scorable, score_arrays, validation_slice
from loci.evaluation.rows import UNKNOWABLE, Row

CURVE_POINTS = 500
COVERAGES = (0.8, 0.9)
"""What answer sets promise."""
SHOWN_BINS, ROWS_A_BIN = 10, 15
"""Bins of a reliability diagram at most, and rows that each should hold; `ece` itself is measured in more bins."""


@dataclass(frozen=True)
class ProbabilityScores:
    """What the probabilities are worth, in four numbers."""

    brier: Estimate
    ece: float
    auroc: Estimate
    """Of right against wrong answers."""
    aurc: float


def probability_scores(rows: Sequence[Row]) -> ProbabilityScores | None:
    """The four numbers of these rows; None when a probability or every truth is missing."""
    if not has_probabilities(rows):
        return None
    whole = score_arrays(rows)
    return ProbabilityScores(brier(whole), ece(whole), auroc_right(whole), abstention.risk_coverage(whole).aurc)


@dataclass(frozen=True)
class Calibrated:
    """How well probabilities fit after a recalibration that was fitted on other people."""

    calibrator: Calibrator
    rows: int
    brier: Estimate
    ece: float
    bins: tuple[Bin, ...]


@dataclass(frozen=True)
class OwnCalibration:
    """A calibration that a run brings along, on the questions it was not fitted on."""

    before: Calibrated
    after: Calibrated
    cost: CostScore
    """At its own confidence target with its own threshold, which is one of calibrated probabilities."""


@dataclass(frozen=True)
class SelectivePrediction:
    """What the probabilities are worth."""

    rows: int
    brier: Estimate
    ece: float
    ece_floor: Estimate
    log_loss: float
    auroc: Estimate
    """Of right against wrong answers."""
    auroc_knowable: Estimate
    """Of people whose answer could be known against those of whom nobody could know it."""
    bins: tuple[Bin, ...]
    before: Calibrated | None
    """Before recalibration, on the people the two fits are judged on: a temperature of 1."""
    temperature: Calibrated | None
    isotonic: Calibrated | None
    own: OwnCalibration | None
    curve: RiskCoverage
    aurc: Estimate
    costs: tuple[CostScore, ...]
    conformal: tuple[tuple[ConformalThreshold, SetScore, Estimate], ...]
    """At each promised coverage: the threshold, the sets on other people, and coverage over random halvings."""


def selective_prediction(
    rows: Sequence[Row],
    rng: np.random.Generator,
    *,
    calibration: RunCalibration | None = None,
    fitted_on: Collection[str] = (),
) -> SelectivePrediction:
    """What the probabilities of these rows are worth; fits and thresholds are chosen on one half of the people.

    `calibration` is one that the run brings along, `fitted_on` the questions it was fitted on.
    """
    whole = score_arrays(rows)
    fit_rows, rest_rows = validation_slice(rows)
    halved = bool(scorable(fit_rows)) and bool(scorable(rest_rows))
    # Too few people to halve: nothing can be fitted fairly, so nothing is.
    fit, rest = (score_arrays(fit_rows), score_arrays(rest_rows)) if halved else (whole, whole)
    return SelectivePrediction(
        rows=len(whole),
        brier=brier(whole),
        ece=ece(whole),
        ece_floor=measure.ece_if_calibrated(whole, rng),
        log_loss=measure.log_loss(whole),
        auroc=auroc_right(whole),
        auroc_knowable=auroc_knowable(rows),
        bins=_shown(whole),
        before=_after(rest, AS_IT_IS) if halved else None,
        temperature=_after(rest, measure.fit_temperature(fit)) if halved else None,
        isotonic=_after(rest, measure.fit_isotonic(fit)) if halved else None,
        own=_own(rows, calibration, fitted_on) if calibration is not None else None,
        curve=thinned(abstention.risk_coverage(whole)),
        aurc=abstention.aurc_estimate(whole, rng),
        costs=tuple(abstention.cost_scores(fit, rest)) if halved else (),
        conformal=tuple(_conformal(fit_rows, rest_rows, rng)) if halved else (),
    )


def auroc_knowable(rows: Sequence[Row]) -> Estimate:
    """Whether confidence tells people whose answer could be known from those of whom nobody could know it."""
    knowable = np.array([row.split not in UNKNOWABLE for row in scorable(rows)])
    return auroc(score_arrays(rows).confidence, knowable)


def _after(rest: ScoreArrays, calibrator: Calibrator) -> Calibrated:
    found = recalibrated(rest, calibrator)
    return Calibrated(calibrator, len(found), brier(found), ece(found), _shown(found))


def _shown(found: ScoreArrays) -> tuple[Bin, ...]:
    return tuple(reliability(found, max(1, min(SHOWN_BINS, len(found) // ROWS_A_BIN))))


def _own(rows: Sequence[Row], calibration: RunCalibration, fitted_on: Collection[str]) -> OwnCalibration | None:
    """None when no question about anybody knowable is left to judge by."""
    others = [row for row in scorable(rows) if row.question not in fitted_on]
    if all(row.split in UNKNOWABLE for row in others):
        return None
    rest = score_arrays(others)
    return OwnCalibration(
        _after(rest, AS_IT_IS),
        _after(rest, calibration.calibrator),
        abstention.cost_score_at(recalibrated(rest, calibration.calibrator), calibration.level, calibration.threshold),
    )


def _conformal(
    fit: Sequence[Row], rest: Sequence[Row], rng: np.random.Generator
) -> list[tuple[ConformalThreshold, SetScore, Estimate]]:
    fit, rest = ([row for row in rows if row.answers and row.split not in UNKNOWABLE] for rows in (fit, rest))
    if not fit or not rest or not any(row.alternatives for row in fit):
        return []  # a single candidate makes no set
    truth = abstention.true_probabilities([*fit, *rest])
    found = []
    for coverage in COVERAGES:
        threshold = ConformalThreshold(coverage, abstention.conformal_quantile(truth[: len(fit)], coverage), len(fit))
        found.append(
            (threshold, abstention.score_sets(rest, threshold), abstention.simulated_coverage(truth, coverage, rng))
        )
    return found


def thinned(curve: RiskCoverage, points: int = CURVE_POINTS) -> RiskCoverage:
    """The curve at evenly spaced points: a picture needs no more, a page should not carry more."""
    if len(curve.coverage) <= points:
        return curve
    kept = np.unique(np.linspace(0, len(curve.coverage) - 1, points).astype(np.int64))
    return RiskCoverage(curve.threshold[kept], curve.coverage[kept], curve.risk[kept], curve.aurc, curve.best_aurc)
