"""How a comparison speaks: probabilities, points, names with their colour, evidence with its marks.

Knows words only, no results.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

from loci.answering.evidence import Evidence
from loci.evaluation.metrics import Estimate
from loci.report.page import Cell, Figures, Markup
from loci.report.style import series_colour


def p_value(p: float) -> str:
    """A probability as papers write it."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def points(estimate: Estimate) -> Figures:
    """A difference of shares in percentage points, with its sign and interval."""
    return interval(*(_signed(100 * x) for x in (estimate.value, estimate.low, estimate.high)))


def share(estimate: Estimate) -> Figures:
    """An estimated share in per cent, with its interval."""
    value, low, high = (f"{100 * x:.1f}" for x in (estimate.value, estimate.low, estimate.high))
    return Figures(f'{value} % <span class="interval">{low}–{high}</span>')


def percent(share: float) -> str:
    """A share without an interval."""
    return f"{100 * share:.1f} %" if math.isfinite(share) else "–"


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−")


def swatch(index: int, name: str) -> Markup:
    """A run's name behind its colour."""
    name = html.escape(name)
    colour = f'<span class="swatch" style="background:{series_colour(index)}"></span>'
    return Markup(f'<span class="run" title="{name}">{colour}{name}</span>')


def interval(value: str, low: str, high: str) -> Figures:
    """A number with its interval, as tables show them."""
    return Figures(f'{value} <span class="interval">{low} to {high}</span>')


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
