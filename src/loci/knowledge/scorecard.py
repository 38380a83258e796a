"""Everything that can be said of one system from its rows, in one object.

Calls the other modules of this room in turn; what cannot be known from the rows and the context at hand is None. Knows
nothing of files, pages or other systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from loci.knowledge.abstention import (
    PricedScore,
    RiskCoverage,
    abstention_rate,
    area_estimate,
    priced_scores,
    risk_coverage,
)
from loci.knowledge.bias import GroupReport, Popularity, Stereotype, group_report, popularity, stereotype
from loci.knowledge.calibration import (
    Bin,
    Calibrator,
    Temperature,
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
from loci.knowledge.ceiling import Ceiling, ceiling
from loci.knowledge.columns import Columns, columns, has_probabilities, validation_slice
from loci.knowledge.conformal import (
    ConformalThreshold,
    SetScore,
    conformal_quantile,
    score_sets,
    simulated_coverage,
    true_probabilities,
)
from loci.knowledge.fabrication import Judge, Kind, Verdict, kinds_by_split, look_alike_by_chance
from loci.knowledge.metrics import Estimate, Rate, by_split, exact_match, scorable
from loci.knowledge.rows import SEEN, UNKNOWABLE, Prediction
from loci.text.corpus import Corpus

CURVE_POINTS = 500


@dataclass(frozen=True)
class Context:
    """What is known beside the rows."""

    known: Mapping[str, str] = field(default_factory=dict)
    """Subject → answer, of the people the model was taught about."""
    corpus: Corpus | None = None
    vectors: Mapping[str, NDArray[np.floating]] | None = None
    window: int | None = None
    """Characters of a line that the model was ever shown."""


@dataclass(frozen=True)
class Calibrated:
    """How well probabilities fit after a repair fitted on other people."""

    calibrator: Calibrator
    brier: Estimate
    error: float


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
    curve: RiskCoverage
    area: Estimate
    priced: tuple[PricedScore, ...]
    conformal: tuple[tuple[ConformalThreshold, SetScore, Estimate], ...]
    """At each promised coverage: the threshold, the sets on other people, and coverage over random halvings."""


@dataclass(frozen=True)
class Scorecard:
    """One system, scored."""

    rows: int
    accuracy: Mapping[str, Rate]
    abstention: Mapping[str, Rate]
    trust: Trust | None
    fabrication: Mapping[str, Mapping[Kind, Rate]]
    look_alike_by_chance: Mapping[str, float]
    groups: GroupReport | None
    popularity: Popularity | None
    stereotype: Stereotype | None
    ceiling: Ceiling | None


def judged(rows: Sequence[Prediction]) -> list[Prediction]:
    """The scorable rows whose people were not asked about in training; all scorable rows if there are no others."""
    scored = scorable(rows)
    return [row for row in scored if row.split != SEEN] or scored


def score(rows: Sequence[Prediction], context: Context, rng: np.random.Generator) -> Scorecard:
    """Score one system's rows. Trust, bias and ceiling are judged on people not asked about in training."""
    fair = judged(rows)
    knowable = [row for row in fair if row.split not in UNKNOWABLE]
    verdicts = Judge(context.known, context.corpus, context.vectors).verdicts(rows)
    has_groups = any(row.group is not None for row in fair)
    answered = any(row.answers and not row.abstained for row in knowable)
    return Scorecard(
        rows=len(rows),
        accuracy={split: exact_match(members) for split, members in by_split(scorable(rows)).items()},
        abstention={split: abstention_rate(members) for split, members in by_split(rows).items()},
        trust=trust(fair, rng) if has_probabilities(fair) else None,
        fabrication=kinds_by_split(verdicts),
        look_alike_by_chance=_chances(verdicts),
        groups=group_report(fair, rng) if has_groups else None,
        popularity=popularity(knowable) if answered else None,
        stereotype=stereotype(fair, rng) if has_groups else None,
        ceiling=ceiling(knowable, context.corpus, context.window) if context.corpus and knowable else None,
    )


def _chances(verdicts: Sequence[Verdict]) -> dict[str, float]:
    members: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        members.setdefault(verdict.row.split or "all", []).append(verdict)
    return {split: look_alike_by_chance(found) for split, found in members.items()}


def trust(rows: Sequence[Prediction], rng: np.random.Generator, coverages: Sequence[float] = (0.8, 0.9)) -> Trust:
    """What the probabilities of these rows are worth; repairs and thresholds are fitted on one half of the people."""
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
        bins=tuple(reliability(whole, 10)),
        before=_after(rest, Temperature(1.0)) if halved else None,
        temperature=_after(rest, fit_temperature(fit)) if halved else None,
        isotonic=_after(rest, fit_isotonic(fit)) if halved else None,
        curve=thinned(risk_coverage(whole)),
        area=area_estimate(whole, rng),
        priced=tuple(priced_scores(fit, rest)) if halved else (),
        conformal=tuple(_conformal(fit_rows, rest_rows, coverages, rng)) if halved else (),
    )


def _after(rest: Columns, calibrator: Calibrator) -> Calibrated:
    found = recalibrated(rest, calibrator)
    return Calibrated(calibrator, brier(found), expected_calibration_error(found))


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
