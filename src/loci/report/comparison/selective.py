"""The sections on selective prediction: calibration, abstention, answer sets.

Knows a computed comparison; computes nothing itself.
"""

from __future__ import annotations

import math

from loci.answering.confidence import Calibrator, Temperature
from loci.evaluation.calibration import AS_IT_IS, Bin
from loci.evaluation.comparison.comparison import Comparison
from loci.evaluation.comparison.entries import Entry
from loci.evaluation.selective import SelectivePrediction
from loci.report.comparison.wording import headers, listed, meanings, once, percent, share, swatch
from loci.report.figures.knowledge import reliability_curves, risk_curves
from loci.report.page import Cell, Figures
from loci.report.parts import Figure, Pair, Section, Table

RISKS = (0.05, 0.2)
Found = list[tuple[int, Entry, SelectivePrediction]]


def selective_sections(comparison: Comparison) -> list[Section]:
    """Calibration and abstention of every run that gives probabilities."""
    found = [(index, entry, card.selective) for index, entry, card in comparison if card.selective is not None]
    if not found:
        return [Section("Calibration", ["No run gives probabilities, so there is nothing to calibrate."])]
    return [_calibration(comparison, found), _abstention(comparison, found), *_answer_sets(found)]


def _calibration(comparison: Comparison, found: Found) -> Section:
    raw = Figure(
        reliability_curves(comparison.names, [c.selective.bins if c.selective else () for c in comparison.cards]),
        "**As claimed.** Up to ten groups of about equally many answers, with 95 % intervals. The probability is of "
        "the whole answer.",
    )
    bins = [_recalibrated_bins(card.selective) for card in comparison.cards]
    metrics = ["brier", "ece", "ece_floor", "auroc"]
    if any(math.isfinite(part.auroc_knowable.value) for _, _, part in found):
        metrics.append("auroc_knowable")
    rows: list[list[Cell]] = []
    for index, entry, part in found:
        figures: dict[str, Cell] = {name: getattr(part, name) for name in metrics}
        figures["ece_floor"] = Figures(f"{part.ece_floor.low:.3f}–{part.ece_floor.high:.3f}")
        rows.append([swatch(index, entry.name), part.rows, *figures.values()])
    return Section(
        "Calibration",
        [
            "Does a probability of 80 % mean right four times in five? Points below the dotted line claim more than "
            "they hold. Judged on people who were not taught.",
            Pair(raw, Figure(reliability_curves(comparison.names, bins), f"**Calibrated.** {_how(found)}"))
            if any(bins)
            else raw,
            Table(["run", "answers", *headers(metrics)], rows, meanings(metrics)),
            *_recalibrations(found),
        ],
    )


def _recalibrated_bins(part: SelectivePrediction | None) -> tuple[Bin, ...]:
    """By the run's own calibration if it can be judged, else by a temperature fitted on half of the people."""
    found = None if part is None else part.own.after if part.own is not None else part.temperature
    return () if found is None else found.bins


def _how(found: Found) -> str:
    own = [entry.name for _, entry, part in found if part.own]
    fitted = [entry.name for _, entry, part in found if not part.own and part.before]
    said = [f"{listed(own)}: by the run’s own calibration, on questions it was not fitted on."] if own else []
    if fitted:
        said.append(f"{listed(fitted)}: by a temperature fitted on one half of the people, on the other half.")
    return " ".join(said)


def _recalibrations(found: Found) -> list[Table]:
    rows: list[list[Cell]] = []
    for index, entry, part in found:
        calibration = entry.context.calibration
        ways = [("as it is", part.before)]
        ways += [(_described(p.calibrator), p) for p in (part.temperature, part.isotonic) if p is not None]
        if part.own is not None and calibration is not None:
            source = f"fitted on {calibration.n:,} questions of {calibration.questions}"
            if calibration.calibrator != AS_IT_IS:
                ways.append(("as it is", part.own.before))
            ways.append((f"{_described(calibration.calibrator)}, {source}", part.own.after))
        rows += [[swatch(index, entry.name), way, p.rows, p.brier, p.ece] for way, p in ways if p is not None]
    unjudged = [entry.name for _, entry, part in found if part.own is None and entry.context.calibration is not None]
    note = (
        f" The calibration of {listed(unjudged)} was fitted on the very questions asked here, so it cannot be judged "
        "by them: ask others."
        if unjudged
        else ""
    )
    table = Table(
        ["run", "recalibration", "answers", *headers(("brier", "ece"))],
        once(rows),
        "Fitted on one half of the people and judged on the other unless it says otherwise; one that names its "
        "questions is the run’s own, which `loci ask` uses. A temperature above 1 lowers the confidence." + note,
    )
    return [table] if rows else []


def _described(calibrator: Calibrator) -> str:
    if calibrator == AS_IT_IS:
        return "left as it is"
    return f"temperature {calibrator.value:.2f}" if isinstance(calibrator, Temperature) else "isotonic"


def _abstention(comparison: Comparison, found: Found) -> Section:
    metrics = ("aurc", "best_aurc")
    rows: list[list[Cell]] = []
    for index, entry, part in found:
        own = [(part.own.cost, ", its own")] if part.own is not None else []
        for cost, whose in [*((cost, "") for cost in part.costs), *own]:
            threshold = Figures(f"{cost.threshold:.2f}" if math.isfinite(cost.threshold) else "never answer")
            scores: list[Cell] = [cost.as_given, threshold, cost.with_threshold, cost.answered]
            rows.append([swatch(index, entry.name), f"{cost.level:g}{whose}", *scores])
    note = (
        " *Its own*: the run’s own threshold, on its calibrated probabilities and all questions it was not chosen on."
        if any(part.own is not None for _, _, part in found)
        else ""
    )
    costs = Table(
        ["run", "t", "score as it answers", "threshold", "score with it", "answered"],
        once(rows),
        "A right answer earns 1, silence 0, a wrong one costs t/(1−t): 1, 3 and 9 points. The threshold is chosen on "
        "one half of the people and judged on the other. Below 0, silence would have been better." + note,
    )
    return Section(
        "Abstention",
        [
            "What “I don’t know” saves. Answering only the most confident questions lowers the share of mistakes; the "
            "lower the curve, the better the model knows what it knows.",
            Figure(
                risk_curves(comparison.names, [c.selective.curve if c.selective else None for c in comparison.cards]),
                "Risk against coverage over all thresholds on the probability, people of whom the text does not tell "
                "included.",
            ),
            Table(
                ["run", *headers(metrics), *(f"answerable at {100 * risk:.0f} % mistakes" for risk in RISKS)],
                [
                    [
                        swatch(index, entry.name),
                        part.aurc,
                        part.curve.best_aurc,
                        *(percent(part.curve.coverage_at(risk)) for risk in RISKS),
                    ]
                    for index, entry, part in found
                ],
                meanings(metrics),
            ),
            *([costs] if rows else []),
        ],
    )


def _answer_sets(found: Found) -> list[Section]:
    rows: list[list[Cell]] = []
    for index, entry, part in found:
        for threshold, sets, simulated in part.conformal:
            size: Cell = Figures("any answer") if threshold.unbounded else sets.size
            cells: list[Cell] = [percent(threshold.coverage), sets.covered, share(simulated), size, sets.single]
            rows.append([swatch(index, entry.name), *cells])
    table = Table(
        ["run", "promised", "contains the truth", "over random halvings", "answers in a set", "sets of one"],
        once(rows),
        "Fitted on one half of the held-out people, judged on the other. *Any answer*: the truth is too often not "
        "among the model’s candidates for the promise to be kept with fewer.",
    )
    text = (
        "Instead of one answer, all that might be true: conformal sets, which contain the truth as often as promised "
        "whatever the model, as long as the people asked about are of the kind it was calibrated on."
    )
    return [Section("Answer sets", [text, table])] if rows else []
