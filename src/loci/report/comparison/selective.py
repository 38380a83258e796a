"""The sections on trust: calibration, abstention, answer sets.

Knows a computed study; computes nothing itself.
"""

from __future__ import annotations

import math

from loci.evaluation.calibration import Bin, Calibrator, Temperature
from loci.evaluation.comparison.comparison import Study
from loci.evaluation.run_calibration import AS_IT_IS
from loci.evaluation.selective import Trust
from loci.report.comparison.wording import listed, once, percent, share, swatch
from loci.report.figures.knowledge import reliability_curves, risk_curves
from loci.report.page import Cell, Figures, Page

RISKS = (0.05, 0.2)


def add_trust(page: Page, study: Study) -> None:
    """Calibration and abstention of every run that gives probabilities."""
    found = [
        (index, entry.name, card.trust)
        for index, (entry, card) in enumerate(zip(study.entries, study.cards, strict=True))
        if card.trust is not None
    ]
    if not found:
        page.add_section("Calibration", "No run gives probabilities, so nothing can be said about trust.")
        return
    _add_calibration(page, study, found)
    _add_abstention(page, study, found)
    _add_sets(page, found)


Found = list[tuple[int, str, Trust]]


def _add_calibration(page: Page, study: Study, found: Found) -> None:
    page.add_section(
        "Calibration",
        "Does a probability of 80 % mean right four times in five? Points below the dotted line claim more than they "
        "hold.",
    )
    names = [entry.name for entry in study.entries]
    raw = (
        reliability_curves(names, [card.trust.bins if card.trust else () for card in study.cards]),
        "**As claimed.** Up to ten groups of about equally many answers, with 95 % intervals. The probability is of "
        "the whole answer.",
    )
    repaired = [_repaired_bins(card.trust) for card in study.cards]
    if any(repaired):
        page.add_pair(raw, (reliability_curves(names, repaired), f"**Calibrated.** {_how(study)}"))
    else:
        page.add_figure(*raw)
    rows: list[list[Cell]] = []
    for index, name, trust in found:
        floor = trust.error_floor
        rows.append(
            [
                swatch(index, name),
                trust.rows,
                trust.brier,
                Figures(f'{trust.error:.3f} <span class="interval">chance {floor.low:.3f}–{floor.high:.3f}</span>'),
                trust.knows,
                *([trust.recognises] if any(math.isfinite(t.recognises.value) for _, _, t in found) else []),
            ]
        )
    headers = ["run", "answers", "Brier", "calibration error", "AUROC right / wrong"]
    if any(math.isfinite(trust.recognises.value) for _, _, trust in found):
        headers.append("AUROC knowable / not")
    page.add_table(
        headers,
        rows,
        "Calibration error: adaptive, 15 bins; *chance* is what perfectly honest probabilities would show on as many "
        "answers. AUROC: how often a right answer has more confidence than a wrong one, and an answer about somebody "
        "knowable more than one about somebody the model never met; 0.5 is blind.",
    )
    _add_repairs(page, study, found)


def _repaired_bins(trust: Trust | None) -> tuple[Bin, ...]:
    """The run's own calibration if it keeps one that can be judged, else a temperature fitted on half of the people."""
    part = None if trust is None else trust.kept.after if trust.kept is not None else trust.temperature
    return () if part is None else part.bins


def _how(study: Study) -> str:
    kept = [e.name for e, c in zip(study.entries, study.cards, strict=True) if c.trust and c.trust.kept]
    fitted = [
        e.name
        for e, c in zip(study.entries, study.cards, strict=True)
        if c.trust and not c.trust.kept and c.trust.before
    ]
    own = f"{listed(kept)}: by the calibration the run keeps, on questions it was not fitted on." if kept else ""
    half = f"{listed(fitted)}: by a temperature fitted on one half of the people, on the other half." if fitted else ""
    return " ".join(filter(None, [own, half]))


def _add_repairs(page: Page, study: Study, found: Found) -> None:
    rows: list[list[Cell]] = []
    for index, name, trust in found:
        calibration = study.contexts[index].calibration
        parts = [("as it is", trust.before)]
        parts += [(_described(p.calibrator), p) for p in (trust.temperature, trust.isotonic) if p is not None]
        if trust.kept is not None and calibration is not None:
            source = f"fitted on {calibration.n:,} questions of {calibration.questions}"
            if calibration.calibrator != AS_IT_IS:
                parts.append(("as it is", trust.kept.before))
            parts.append((f"{_described(calibration.calibrator)}, {source}", trust.kept.after))
        rows += [[swatch(index, name), repair, p.rows, p.brier, p.error] for repair, p in parts if p is not None]
    if rows:
        unjudged = [
            name for index, name, trust in found if trust.kept is None and study.contexts[index].calibration is not None
        ]
        note = (
            f" The calibration that {listed(unjudged)} keeps was fitted on the very questions asked here, so it cannot "
            "be judged by them: ask others."
            if unjudged
            else ""
        )
        page.add_table(
            ["run", "repair", "answers", "Brier", "calibration error"],
            once(rows),
            "Repairs, fitted on one half of the people and judged on the other unless it says otherwise; one that "
            "names its questions is the run’s own, which `loci ask` uses. A temperature above 1 humbles." + note,
        )


def _described(calibrator: Calibrator) -> str:
    if calibrator == AS_IT_IS:
        return "left as it is"
    return f"temperature {calibrator.value:.2f}" if isinstance(calibrator, Temperature) else "isotonic"


def _add_abstention(page: Page, study: Study, found: Found) -> None:
    page.add_section(
        "Abstention",
        "What “I don’t know” saves. Answering only the surest questions lowers the share of mistakes; the lower the "
        "curve, the better the model knows what it knows.",
    )
    page.add_figure(
        risk_curves(
            [entry.name for entry in study.entries], [card.trust.curve if card.trust else None for card in study.cards]
        ),
        "Risk against coverage over all thresholds on the probability, people beyond knowing included.",
    )
    page.add_table(
        ["run", "area (AURC)", "best possible", *(f"answerable at {100 * risk:.0f} % mistakes" for risk in RISKS)],
        [
            [
                swatch(index, name),
                trust.area,
                trust.curve.best_area,
                *(percent(trust.curve.coverage_at(risk)) for risk in RISKS),
            ]
            for index, name, trust in found
        ],
        "The area is the mean risk over all coverages: lower is better. *Best possible* puts every mistake last.",
    )
    rows: list[list[Cell]] = []
    for index, name, trust in found:
        own = [(trust.kept.priced, ", its own")] if trust.kept is not None else []
        for priced, whose in [*((priced, "") for priced in trust.priced), *own]:
            threshold = Figures(f"{priced.threshold:.2f}" if math.isfinite(priced.threshold) else "never answer")
            rows.append(
                [
                    swatch(index, name),
                    f"{priced.level:g}{whose}",
                    priced.as_given,
                    threshold,
                    priced.with_threshold,
                    priced.answered,
                ]
            )
    if rows:
        page.add_table(
            ["run", "t", "score as it answers", "threshold", "score with it", "answered"],
            once(rows),
            "A right answer earns 1, silence 0, a wrong one costs t/(1−t): 1, 3 and 9 points. The threshold is "
            "chosen on one half of the people and judged on the other. Below 0, silence would have been better."
            + (
                " *Its own*: the threshold the run keeps, on its calibrated probabilities and all questions it was not "
                "chosen on."
                if any(trust.kept is not None for _, _, trust in found)
                else ""
            ),
        )


def _add_sets(page: Page, found: Found) -> None:
    rows: list[list[Cell]] = []
    for index, name, trust in found:
        for threshold, sets, simulated in trust.conformal:
            size: Cell = Figures("any answer") if threshold.unbounded else sets.size
            rows.append(
                [swatch(index, name), percent(threshold.coverage), sets.covered, share(simulated), size, sets.single]
            )
    if rows:
        page.add_section(
            "Answer sets",
            "Instead of one answer, all that might be true: conformal sets, which hold the truth as often as promised "
            "whatever the model, as long as the people asked about are of the kind it was calibrated on.",
        )
        page.add_table(
            ["run", "promised", "held", "over random halvings", "answers in a set", "sets of one"],
            once(rows),
            "Fitted on one half of the held-out people, judged on the other. *Any answer*: the truth is too often not "
            "among the model’s candidates for the promise to be kept with fewer.",
        )
