"""The page of the experiment on loss shaping: what focus and near terms do to language, parses and recall.

Knows the results, not how they came about.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from loci.evaluation.metrics import Estimate, mean_estimate
from loci.report.page import Cell
from loci.report.parts import QUICK_NOTE, ExperimentReport, Section, Table, seeds_of
from loci.report.style import NEUTRAL, series_colour

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True)
class Condition:
    """One setting of the two λ."""

    name: str
    focus: float = 0.0
    near: float = 0.0

    @property
    def term(self) -> str:
        """Which term it has."""
        return "focus" if self.focus else "near" if self.near else "plain"

    @property
    def weight(self) -> float:
        """Its λ."""
        return self.focus or self.near


@dataclass(frozen=True)
class Measured:
    """What one trained model shows."""

    condition: str
    seed: int
    language_loss: float
    """Nats a character on the text of people it never read about."""
    parse: float
    """Arcs found by its best head, chosen and scored on different sentences."""
    parse_distance: float
    """The same for the best fixed distance."""
    trees: float
    """Undirected attachment of the spanning trees."""
    recall: float
    """Exact match on held-out people."""
    recall_n: int
    characters_per_second: float


FIGURES: tuple[tuple[str, str, Callable[[Measured], float]], ...] = (
    ("language", "loss, nats a character", lambda m: m.language_loss),
    ("parse", "arcs found by the best head, %", lambda m: 100 * m.parse),
    ("recall", "exact match on held-out people, %", lambda m: 100 * m.recall),
)

QUESTION = (
    "The problem set argues: suppose the model can represent the true distribution of the next character, and training "
    "finds the minimum of the loss over the whole population of texts. At that minimum the model predicts with the "
    "true distribution, and nothing predicts better. A term that asks attention to be sharp, or near, either leaves "
    "that minimum where it is or moves it away. So under these assumptions no such term can help. Training meets "
    "neither: it sees a finite text, and it stops where the optimiser has got to. The terms may still help there: by a "
    "prior that generalises better, or by making the optimisation easier. Whether they do is measured here."
)


def shaping_report(
    conditions: Sequence[Condition], measured: Sequence[Measured], *, seeds: int, quick: bool
) -> ExperimentReport:
    """Words, tables and figures."""
    plain = [m for m in measured if m.condition == conditions[0].name]
    rows: list[list[Cell]] = []
    for condition in conditions:
        own = [m for m in measured if m.condition == condition.name]
        rows.append([condition.name, *(_mean(own, get) for get in _GETTERS), _cost(own, plain)])
    verdicts = [_verdict(conditions, measured, name, get, better) for name, get, better in _JUDGED]
    return ExperimentReport(
        title="Shaping attention: does it help?",
        subtitle=QUICK_NOTE if quick else f"{len(conditions)} settings at equal steps, {seeds_of(seeds)} each.",
        cards=[(name, cell, "without shaping") for name, cell in zip(_HEADERS[1:4], rows[0][1:4], strict=True)],
        sections=[
            Section("The question", QUESTION),
            Section(
                "What was measured",
                " ".join(verdicts),
                figures=[
                    (
                        figure(conditions, measured, title, axis, get),
                        f"{title}: one dot a seed, the line through the means.",
                    )
                    for title, axis, get in FIGURES
                ],
                tables=[
                    Table(
                        _HEADERS,
                        rows,
                        f"Means over {seeds_of(seeds)} with the 95 % interval of the mean. Language: on people never "
                        "read about. Parse: arcs of a world's own trees, head chosen and scored on different "
                        f"sentences; the best fixed distance finds {100 * plain[0].parse_distance:.1f} %. "
                        "Time: a character's cost against plain, of the same seeds.",
                    )
                ],
            ),
        ],
        numbers={
            "conditions": [asdict(condition) for condition in conditions],
            "measured": [asdict(m) for m in measured],
            "verdicts": verdicts,
        },
    )


_HEADERS = ("setting", "language loss", "parse", "recall", "trees", "time")
_GETTERS: tuple[Callable[[Measured], float], ...] = (
    lambda m: m.language_loss,
    lambda m: m.parse,
    lambda m: m.recall,
    lambda m: m.trees,
)
_JUDGED: tuple[tuple[str, Callable[[Measured], float], int], ...] = (
    ("language loss", lambda m: m.language_loss, -1),
    ("parse score", lambda m: m.parse, 1),
    ("recall", lambda m: m.recall, 1),
)


def _mean(measured: Sequence[Measured], get: Callable[[Measured], float]) -> Estimate:
    return mean_estimate(np.array([get(m) for m in measured]))


def _cost(own: Sequence[Measured], plain: Sequence[Measured]) -> str:
    pairs = zip(sorted(plain, key=lambda m: m.seed), sorted(own, key=lambda m: m.seed), strict=True)
    ratios = [before.characters_per_second / after.characters_per_second for before, after in pairs]
    return f"×{statistics.median(ratios):.2f}"


def _verdict(
    conditions: Sequence[Condition],
    measured: Sequence[Measured],
    name: str,
    get: Callable[[Measured], float],
    better: int,
) -> str:
    """One sentence: the setting that helps most and the one that hurts most, against the seeds' own spread."""

    def values(condition: Condition) -> list[float]:
        return [get(m) for m in measured if m.condition == condition.name]

    plain = values(conditions[0])
    gains = {c.name: better * (statistics.mean(values(c)) - statistics.mean(plain)) for c in conditions[1:]}
    best, worst = max(gains, key=lambda n: gains[n]), min(gains, key=lambda n: gains[n])
    spread = max(plain) - min(plain)
    return (
        f"**{name.capitalize()}**: the best setting ({best}) changes it by {better * gains[best]:+.3f}, "
        f"the worst ({worst}) by {better * gains[worst]:+.3f}; plain seeds lie {spread:.3f} apart."
    )


def figure(
    conditions: Sequence[Condition],
    measured: Sequence[Measured],
    title: str,
    axis: str,
    get: Callable[[Measured], float],
) -> go.Figure:
    """A measure against λ, one colour a term, the plain model as a line across."""
    import plotly.graph_objects as go

    made = go.Figure()
    plain = [get(m) for m in measured if m.condition == conditions[0].name]
    made.add_hline(y=statistics.mean(plain), line_dash="dot", line_color=NEUTRAL, annotation_text="plain")
    for index, term in enumerate(("focus", "near")):
        shaped = [condition for condition in conditions if condition.term == term]
        dots: list[tuple[Any, float]] = [
            (condition.weight, get(m)) for condition in shaped for m in measured if m.condition == condition.name
        ]
        means = [statistics.mean(get(m) for m in measured if m.condition == c.name) for c in shaped]
        colour = series_colour(index)
        made.add_scatter(
            x=[x for x, _ in dots], y=[y for _, y in dots], mode="markers", marker_color=colour, showlegend=False
        )
        made.add_scatter(x=[c.weight for c in shaped], y=means, mode="lines", name=term, line_color=colour)
    made.update_xaxes(title="λ", type="log")
    made.update_yaxes(title=axis)
    return made
