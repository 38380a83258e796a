"""The page of the experiment on loss shaping: what focus and near terms do to language, parses and recall.

Knows the result, not how it came about.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from loci.evaluation.json_data import to_json
from loci.evaluation.metrics import Estimate, mean_estimate
from loci.experiments.shaping.result import Condition, Measured, ShapingResult
from loci.report.page import Cell
from loci.report.parts import QUICK_NOTE, Figure, Report, Section, Table, seeds_of
from loci.report.style import NEUTRAL, series_colour

if TYPE_CHECKING:
    import plotly.graph_objects as go

Get = Callable[[Measured], float]
COLUMNS: dict[str, Get] = {
    "language loss": lambda m: m.language_loss,
    "parse, %": lambda m: 100 * m.parse,
    "taught: right, %": lambda m: 100 * m.taught,
    "held-out: right, %": lambda m: 100 * m.recall,
    "trees, %": lambda m: 100 * m.trees,
}
#: What is drawn and put into words: whether more is better, and the axis.
DRAWN = {
    "language loss": (-1, "loss, nats per character"),
    "parse, %": (1, "arcs found by the best head, %"),
    "held-out: right, %": (1, "exact match on held-out people, %"),
}

QUESTION = (
    "The problem set argues: suppose the model can represent the true distribution of the next character, and training "
    "finds the minimum of the loss over the whole population of texts. At that minimum the model predicts with the "
    "true distribution, and nothing predicts better. A term that asks attention to be sharp, or near, either leaves "
    "that minimum where it is or moves it away. So under these assumptions no such term can help. Training meets "
    "neither: it sees a finite text, and it stops where the optimiser has got to. The terms may still help there: by a "
    "prior that generalises better, or by making the optimisation easier. Whether they do is measured here."
)


def shaping_report(result: ShapingResult) -> Report:
    """Words, tables and figures."""
    plain = result.conditions[0]
    rows: list[list[Cell]] = [
        [condition.name, *(_mean(result, condition, get) for get in COLUMNS.values()), _cost(result, condition)]
        for condition in result.conditions
    ]
    sentences = [_in_words(result, name, better) for name, (better, _) in DRAWN.items()]
    figures = [
        Figure(figure(result, COLUMNS[name], axis), f"{name}: one dot per seed, the line through the means.")
        for name, (_, axis) in DRAWN.items()
    ]
    table = Table(
        ["setting", *COLUMNS, "time"],
        rows,
        f"Means over {seeds_of(result.seeds)} with the 95 % interval of the mean. Language: on people never read "
        "about. Parse: arcs of a world’s own trees, head chosen and scored on different sentences; the best fixed "
        f"distance finds {100 * result.of(plain)[0].parse_distance:.1f} %. Time: the cost of a character against "
        "plain, of the same seeds.",
    )
    settings = f"{len(result.conditions)} settings at equal steps, {seeds_of(result.seeds)} each."
    return Report(
        title="Shaping attention: does it help?",
        subtitle=QUICK_NOTE if result.quick else settings,
        cards=[(name, _mean(result, plain, COLUMNS[name]), "without shaping") for name in DRAWN],
        sections=[
            Section("The question", [QUESTION]),
            Section("What was measured", [" ".join(sentences), *figures, table]),
        ],
        numbers={**to_json(result), "in_words": sentences},
    )


def _mean(result: ShapingResult, condition: Condition, get: Get) -> Estimate:
    return mean_estimate(np.array([get(m) for m in result.of(condition)]))


def _cost(result: ShapingResult, condition: Condition) -> str:
    pairs = zip(result.of(result.conditions[0]), result.of(condition), strict=True)
    return f"×{statistics.median(a.characters_per_second / b.characters_per_second for a, b in pairs):.2f}"


def _in_words(result: ShapingResult, name: str, better: int) -> str:
    """One sentence: the setting that helps most and the one that hurts most, against the seeds' own spread."""
    values = {c.name: [COLUMNS[name](m) for m in result.of(c)] for c in result.conditions}
    plain, *shaped = values
    gains = {one: better * (statistics.mean(values[one]) - statistics.mean(values[plain])) for one in shaped}
    best, worst = max(gains, key=lambda n: gains[n]), min(gains, key=lambda n: gains[n])
    spread = max(values[plain]) - min(values[plain])
    return (
        f"**{name.capitalize()}**: the best setting ({best}) changes it by {better * gains[best]:+.3f}, "
        f"the worst ({worst}) by {better * gains[worst]:+.3f}; plain seeds differ by up to {spread:.3f}."
    )


def figure(result: ShapingResult, get: Get, axis: str) -> go.Figure:
    """A measure against λ, one colour per term, the plain model as a line across."""
    import plotly.graph_objects as go

    made = go.Figure()
    plain = statistics.mean(get(m) for m in result.of(result.conditions[0]))
    made.add_hline(y=plain, line_dash="dot", line_color=NEUTRAL, annotation_text="plain")
    for index, term in enumerate(("focus", "near")):
        shaped = [condition for condition in result.conditions if condition.term == term]
        dots = [(condition.weight, get(m)) for condition in shaped for m in result.of(condition)]
        means = [statistics.mean(get(m) for m in result.of(condition)) for condition in shaped]
        colour = series_colour(index)
        made.add_scatter(
            x=[x for x, _ in dots], y=[y for _, y in dots], mode="markers", marker_color=colour, showlegend=False
        )
        made.add_scatter(x=[c.weight for c in shaped], y=means, mode="lines", name=term, line_color=colour)
    made.update_xaxes(title="λ", type="log")
    made.update_yaxes(title=axis)
    return made
