"""How a comparison speaks: what each metric and each kind of people is called, numbers with their intervals.

A metric is written in three places: computed in `loci.evaluation` (a field of the scorecard, which `--json` prints as
it stands), named here in `METRICS`, and listed by the section that shows it. Knows words only, no results.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence

from loci.answering.evidence import Evidence
from loci.evaluation.metrics import Estimate
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, UNSTATED
from loci.report.page import Cell, Figures, Markup
from loci.report.style import series_colour

PEOPLE = {TAUGHT: "taught", HELD_OUT: "held-out", UNSTATED: "not told", NEVER_READ: "never read about"}
"""Splits as a reader is shown them; other splits by their own names."""

OUTCOMES = ("right", "answered_rightly", "answered_wrongly", "silent")
"""What became of the questions about one kind of people."""

METRICS: Mapping[str, tuple[str, str]] = {
    # field: (header, what it means)
    "right": ("best answer right", "*Best answer right*: to the letter, also where the run is silent."),
    "answered_rightly": ("answered rightly", ""),
    "answered_wrongly": ("answered wrongly", ""),
    "silent": ("silent", "*Silent*: it gave no answer, by itself or at the threshold it had when it was asked."),
    "brier": ("Brier", "*Brier*: mean squared distance of probability and truth, 0 is perfect."),
    "ece": ("ECE", "*ECE*: expected calibration error in 15 bins of equal size."),
    "ece_floor": (
        "ECE by chance",
        "*By chance*: what perfectly calibrated probabilities would show on as many answers.",
    ),
    "auroc": (
        "AUROC right / wrong",
        "*AUROC right / wrong*: how often a right answer has more confidence than a wrong one; 0.5 is chance.",
    ),
    "auroc_knowable": (
        "AUROC told / not",
        "*AUROC told / not*: the same for answers about people the text tells of against all others.",
    ),
    "aurc": ("AURC", "*AURC*: mean share of mistakes over all coverages, lower is better."),
    "best_aurc": ("best possible", "*Best possible*: every mistake put last."),
    "divergence": (
        "KL given ‖ true, bits",
        "*KL*: divergence of given from true shares, half a count added to each answer.",
    ),
    "variation": ("total variation", "*Total variation*: the share of answers that would have to change."),
    "top_true": ("ten commonest, true", ""),
    "top_given": ("ten commonest, given", ""),
}


def headers(metrics: Iterable[str]) -> list[str]:
    """The headers of columns of metrics."""
    return [METRICS[name][0] for name in metrics]


def meanings(metrics: Iterable[str]) -> str:
    """What the metrics of a table mean, for its caption."""
    return " ".join(filter(None, (METRICS[name][1] for name in metrics)))


def people(split: str) -> str:
    """What the people of a split are called."""
    return PEOPLE.get(split, split)


def p_value(p: float) -> str:
    """A probability as papers write it."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def points(estimate: Estimate) -> Figures:
    """A difference of shares in percentage points, with its sign and interval."""
    value, low, high = (f"{100 * x:+.1f}".replace("-", "−") for x in (estimate.value, estimate.low, estimate.high))
    return Figures(f'{value} <span class="interval">{low} to {high}</span>')


def share(estimate: Estimate) -> Figures:
    """An estimated share in per cent, with its interval, which cannot leave 0 to 100."""
    value, low, high = (f"{100 * min(max(x, 0), 1):.1f}" for x in (estimate.value, estimate.low, estimate.high))
    return Figures(f'{value} % <span class="interval">{low}–{high}</span>')


def percent(share: float) -> str:
    """A share without an interval."""
    return f"{100 * share:.1f} %" if math.isfinite(share) else "–"


def swatch(index: int, name: str) -> Markup:
    """A run's name behind its colour."""
    name = html.escape(name)
    colour = f'<span class="swatch" style="background:{series_colour(index)}"></span>'
    return Markup(f'<span class="run" title="{name}">{colour}{name}</span>')


def once(rows: Iterable[list[Cell]]) -> list[list[Cell]]:
    """The rows with a first cell that repeats the one above left empty."""
    shown: list[list[Cell]] = []
    above: Cell = None
    for first, *rest in rows:
        shown.append(["" if first == above else first, *rest])
        above = first
    return shown


def marked(evidence: Evidence) -> Markup:
    """A line of the corpus with the answer marked."""
    pieces = "".join(
        f"<mark>{html.escape(piece)}</mark>" if is_answer else html.escape(piece)
        for piece, is_answer in evidence.segments()
    )
    return Markup(f"line {evidence.number:,}: {pieces}")


def listed(names: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
