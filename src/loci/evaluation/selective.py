"""What the probabilities of one system are worth, in one object.

Calls calibration, abstention and answer sets in turn. Whatever is fitted is fitted on one half of the people and judged
on the other; a calibration that a run brings along is judged on questions it was not fitted on. Knows nothing of files
or other systems.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from loci.evaluation.abstention import (
    PricedScore,
    RiskCoverage,
    area_estimate,
    priced_at,
    priced_scores,
    risk_coverage,
)
from loci.evaluation.calibration import (
    Bin,
    Calibrator,
    auroc,
    brier,
    error_if_calibrated,
    expected_calibration_error,
    fit_isotonic,
    fit_temperature,
    knows_auroc,
    log_loss,
    recalibrated,
    reliability,
)
from loci.evaluation.conformal import (
    ConformalThreshold,
    SetScore,
    conformal_quantile,
    score_sets,
    simulated_coverage,
    true_probabilities,
)
from loci.evaluation.metrics import Estimate, scorable
from loci.evaluation.rows import UNKNOWABLE, Prediction
from loci.evaluation.run_calibration import AS_IT_IS, RunCalibration
from loci.evaluation.score_arrays import ScoreArrays, columns, has_probabilities, validation_slice

CURVE_POINTS = 500
SHOWN_BINS, ROWS_A_BIN = 10, 15
"""Bins of a reliability diagram at most, and rows that each should hold; the error itself is measured in more bins."""


@dataclass(frozen=True)
class Brief:
    """What the probabilities are worth, in four numbers."""

    brier: Estimate
    error: float
    """Adaptive calibration error."""
    knows: Estimate
    """AUROC of right against wrong answers."""
    area: float
    """Area under the risk–coverage curve."""


def brief(rows: Sequence[Prediction]) -> Brief | None:
    """The four numbers of these rows; None when a probability or every truth is missing."""
    if not has_probabilities(rows):
        return None
    whole = columns(rows)
    return Brief(brier(whole), expected_calibration_error(whole), knows_auroc(whole), risk_coverage(whole).area)


@dataclass(frozen=True)
class Calibrated:
    """How well probabilities fit after a repair fitted on other people."""

    calibrator: Calibrator
    rows: int
    brier: Estimate
    error: float
    bins: tuple[Bin, ...]


@dataclass(frozen=True)
class Kept:
    """A calibration that a run brings along, on the questions it was not fitted on."""

    before: Calibrated
    after: Calibrated
    priced: PricedScore
    """At its own level with its own threshold, which is one of calibrated probabilities."""


@dataclass(frozen=True)
class Trust:
    """What the probabilities are worth."""

    rows: int
    brier: Estimate
    error: float
    error_floor: Estimate
    log_loss: float
    knows: Estimate
    """AUROC of right against wrong answers."""
    recognises: Estimate
    """AUROC of knowable people against those nobody could know."""
    bins: tuple[Bin, ...]
    before: Calibrated | None
    """Before repair, on the people the two repairs are judged on: a temperature of 1."""
    temperature: Calibrated | None
    isotonic: Calibrated | None
    kept: Kept | None
    curve: RiskCoverage
    area: Estimate
    priced: tuple[PricedScore, ...]
    conformal: tuple[tuple[ConformalThreshold, SetScore, Estimate], ...]
    """At each promised coverage: the threshold, the sets on other people, and coverage over random halvings."""


def trust(
    rows: Sequence[Prediction],
    rng: np.random.Generator,
    coverages: Sequence[float] = (0.8, 0.9),
    *,
    calibration: RunCalibration | None = None,
    fitted_on: Collection[str] = (),
) -> Trust:
    """What the probabilities of these rows are worth; repairs and thresholds are fitted on one half of the people.

    `calibration` is one that the run brings along, `fitted_on` the questions it was fitted on.
    """
    whole = columns(rows)
    fit_rows, rest_rows = validation_slice(rows)
    halved = bool(scorable(fit_rows)) and bool(scorable(rest_rows))
    # Too few people to halve: nothing can be fitted fairly, so nothing is.
    fit, rest = (columns(fit_rows), columns(rest_rows)) if halved else (whole, whole)
    return Trust(
        rows=len(whole),
        brier=brier(whole),
        error=expected_calibration_error(whole),
        error_floor=error_if_calibrated(whole, rng),
        log_loss=log_loss(whole),
        knows=knows_auroc(whole),
        recognises=auroc(whole.confidence, np.array([row.split not in UNKNOWABLE for row in scorable(rows)])),
        bins=_shown(whole),
        before=_after(rest, AS_IT_IS) if halved else None,
        temperature=_after(rest, fit_temperature(fit)) if halved else None,
        isotonic=_after(rest, fit_isotonic(fit)) if halved else None,
        kept=_kept(rows, calibration, fitted_on) if calibration is not None else None,
        curve=thinned(risk_coverage(whole)),
        area=area_estimate(whole, rng),
        priced=tuple(priced_scores(fit, rest)) if halved else (),
        conformal=tuple(_conformal(fit_rows, rest_rows, coverages, rng)) if halved else (),
    )


def _after(rest: ScoreArrays, calibrator: Calibrator) -> Calibrated:
    found = recalibrated(rest, calibrator)
    return Calibrated(calibrator, len(found), brier(found), expected_calibration_error(found), _shown(found))


def _shown(found: ScoreArrays) -> tuple[Bin, ...]:
    return tuple(reliability(found, max(1, min(SHOWN_BINS, len(found) // ROWS_A_BIN))))


def _kept(rows: Sequence[Prediction], calibration: RunCalibration, fitted_on: Collection[str]) -> Kept | None:
    """None when no question about anybody knowable is left to judge by."""
    others = [row for row in scorable(rows) if row.question not in fitted_on]
    if all(row.split in UNKNOWABLE for row in others):
        return None
    rest = columns(others)
    found = recalibrated(rest, calibration.calibrator)
    return Kept(
        _after(rest, AS_IT_IS),
        _after(rest, calibration.calibrator),
        priced_at(found, calibration.level, calibration.threshold),
    )


def _conformal(
    fit: Sequence[Prediction], rest: Sequence[Prediction], coverages: Sequence[float], rng: np.random.Generator
) -> list[tuple[ConformalThreshold, SetScore, Estimate]]:
    fit, rest = ([row for row in rows if row.answers and row.split not in UNKNOWABLE] for rows in (fit, rest))
    if not fit or not rest or not any(row.alternatives for row in fit):
        return []  # a single candidate makes no set
    truth = true_probabilities([*fit, *rest])
    found = []
    for coverage in coverages:
        threshold = ConformalThreshold(coverage, conformal_quantile(truth[: len(fit)], coverage), len(fit))
        found.append((threshold, score_sets(rest, threshold), simulated_coverage(truth, coverage, rng)))
    return found


def thinned(curve: RiskCoverage, points: int = CURVE_POINTS) -> RiskCoverage:
    """The curve at evenly spaced points: a picture needs no more, a page should not carry more."""
    if len(curve.coverage) <= points:
        return curve
    kept = np.unique(np.linspace(0, len(curve.coverage) - 1, points).astype(np.int64))
    return RiskCoverage(curve.threshold[kept], curve.coverage[kept], curve.risk[kept], curve.area, curve.best_area)
