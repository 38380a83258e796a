"""The page on recall: final figures, where the points go, accuracy against minutes, levers, and kinds of attention.

Knows the results, not how they came about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from loci.evaluation.metrics import Rate, exact_match, is_right, repeated, scorable, wilson
from loci.evaluation.rows import Row
from loci.evaluation.significance import holm, paired, repeated_difference
from loci.report.page import Cell
from loci.report.parts import ExperimentReport, Section, Table, seeds_of
from loci.report.style import NEUTRAL, faded, series_colour

if TYPE_CHECKING:
    import plotly.graph_objects as go

RECORD = 0.404
"""The best public run on the course's dev names."""
RECORD_NOTE = (
    "Exact match; n counts the answers of all seeds, intervals are over questions. "
    f"The public record on the course's dev names is {100 * RECORD:.1f} %."
)
Question = Literal["levers", "variants", "storing", "curve", "final"]
ORDER: tuple[Question, ...] = ("final", "curve", "levers", "variants", "storing")


@dataclass(frozen=True)
class Measured:
    """One training and what it answered."""

    what: Question
    arm: str
    recipe: str
    shows: str
    asked: str
    """Which questions: "dev", or a held-back fifth of train."""
    seed: int
    minutes: float | None
    parameters: int
    characters: int
    """Read in training."""
    reading_loss: float
    """Nats a counted character at the end of the stage that learns to read."""
    waterfall: tuple[tuple[str, int, int], ...]
    """Name of a step, questions left after it, of how many."""
    rows: tuple[Row, ...]
    faithful: tuple[int, int] | None = None
    """Of a model that studied: answers given as it had written them, of how many."""

    @property
    def name(self) -> str:
        """What was trained, for how long."""
        return self.arm if self.minutes is None else f"{self.arm}, {self.minutes:g} min"


def recall_report(measured: Sequence[Measured]) -> ExperimentReport:
    """Everything that was measured, in sections; a question nobody asked is left out."""
    by_what = {what: [m for m in measured if m.what == what] for what in ORDER}
    shown = by_what["final"] or measured
    best = [(own[0].name, pooled(own), seeds_of(len(own))) for own in grouped(shown)]
    sections = [
        Section("Recall", "Closed book: all that is given is the question.", tables=[_finals(shown)]),
        Section(
            "Where the points go",
            "Each step keeps the questions that passed all before it. Where a model studied, storing, extracting and "
            "decoding are one step: it gives the answer it wrote, or another.",
            figures=[(waterfall_figure(shown), "Questions left after each step, all seeds.")],
        ),
    ]
    if by_what["curve"]:
        caption = f"Exact match with its 95 % interval on {_asked(by_what['curve'])}; dotted: the public record."
        curve = by_what["curve"]
        sections.append(
            Section("Accuracy against minutes", figures=[(curve_figure(curve), caption)], tables=[_curve(curve)])
        )
    if by_what["levers"]:
        sections.append(Section("What each lever brings", tables=[_levers(by_what["levers"])]))
    if by_what["variants"]:
        alike = _split(by_what["variants"], lambda m: (m.recipe, m.minutes, m.asked))
        sections.append(Section("Which attention stores facts?", tables=[_variants(own) for own in alike]))
    if by_what["storing"]:
        alike = _split(by_what["storing"], lambda m: (m.minutes, m.asked))
        sections.append(Section("Storing without reading", tables=[_storing(own) for own in alike]))
    return ExperimentReport(
        title="Recall",
        subtitle="What a small transformer answers from memory about people it was never asked about.",
        cards=best[:4],
        sections=sections,
        numbers={what: [_numbers(own) for own in grouped(some)] for what, some in by_what.items() if some},
    )


def grouped(measured: Iterable[Measured]) -> list[list[Measured]]:
    """Trainings that differ in nothing but their seed together, in the order met."""
    alike = _split(measured, lambda m: (m.what, m.arm, m.minutes, m.asked))
    return [sorted(own, key=lambda m: m.seed) for own in alike]


def pooled(own: Sequence[Measured]) -> Rate:
    """Right answers of all seeds together, with the interval over questions."""
    return repeated([[is_right(row) for row in scorable(m.rows)] for m in own])


def left_after(own: Sequence[Measured], step: str) -> Rate:
    """Questions left after a step, all seeds together."""
    return _counted([(kept, n) for m in own for name, kept, n in m.waterfall if name == step])


def _counted(counts: Sequence[tuple[int, int]]) -> Rate:
    """Counts of several seeds about the same questions; which ones is not known, so they may be the same in all."""
    n = sum(n for _, n in counts)
    return wilson(sum(kept for kept, _ in counts), n, independent=n / len(counts) if counts else None)


def _asked(measured: Sequence[Measured]) -> str:
    return " and ".join(dict.fromkeys(m.asked for m in measured))


def _each(own: Sequence[Measured]) -> str:
    return " · ".join(f"{100 * exact_match(m.rows).value:.1f}" for m in own)


def _time(own: Sequence[Measured]) -> str:
    return f"{own[0].minutes:g}" if own[0].minutes is not None else "the recipe's"


def _finals(measured: Sequence[Measured]) -> Table:
    rows: list[list[Cell]] = [
        [own[0].arm, own[0].asked, _time(own), own[0].parameters, _each(own), pooled(own)] for own in grouped(measured)
    ]
    headers = ("recipe", "asked", "minutes", "parameters", "each seed, %", "all seeds")
    return Table(
        headers,
        rows,
        RECORD_NOTE,
    )


def _curve(measured: Sequence[Measured]) -> Table:
    rows: list[list[Cell]] = [
        [own[0].arm, own[0].asked, _time(own), sum(m.characters for m in own) // len(own), _each(own), pooled(own)]
        for own in sorted(grouped(measured), key=lambda own: (own[0].arm, own[0].asked, own[0].minutes or 0.0))
    ]
    return Table(("recipe", "asked", "minutes", "characters read", "each seed, %", "all seeds"), rows)


def _levers(measured: Sequence[Measured]) -> Table:
    """Each arm against the recipe it changes, on the same questions and seeds, with the same time."""
    arms = grouped(measured)
    whole = {(own[0].recipe, own[0].minutes, own[0].asked): own for own in arms if own[0].arm == own[0].recipe}
    rows: list[list[Cell]] = []
    gains: list[tuple[str, float] | None] = []
    for own in arms:
        one = own[0]
        base = whole.get((one.recipe, one.minutes, one.asked), []) if one.arm != one.recipe else []
        gains.append(_against(base, own))
        rows.append([one.arm, one.shows, _time(own), _each(own), pooled(own)])
    corrected = iter(holm([gain[1] for gain in gains if gain is not None]))
    for row, gain in zip(rows, gains, strict=True):
        row += ["", ""] if gain is None else [gain[0], _p(next(corrected))]
    headers = ("arm", "what it is", "minutes", "each seed, %", "all seeds", "points gained", "p")
    caption = (
        "Points gained over the whole recipe, with the interval of resampled questions; p: McNemar’s exact test, of "
        "several seeds a permutation test over questions. "
        "Both are about these models: other seeds scatter too. p is corrected for the number of levers (Holm). "
        f"Asked: {_asked(measured)}."
    )
    return Table(headers, rows, caption)


def _against(whole: Sequence[Measured], own: Sequence[Measured]) -> tuple[str, float] | None:
    """Points gained over the whole recipe, and p; None where no seed was trained in both ways."""
    by_seed = {m.seed: m for m in whole}
    models = [paired(by_seed[m.seed].rows, m.rows) for m in own if m.seed in by_seed]
    if not models:
        return None
    gain, p_value = repeated_difference(models, np.random.default_rng(0))
    return f"{100 * gain.value:+.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})".replace("-", "−"), p_value


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _variants(measured: Sequence[Measured]) -> Table:
    rows: list[list[Cell]] = []
    for own in grouped(measured):
        faithful = [m.faithful for m in own if m.faithful is not None]
        kept = _counted(faithful) if faithful else None
        loss = sum(m.reading_loss for m in own) / len(own)
        characters = round(sum(m.characters for m in own) / len(own))
        rows.append(
            [
                own[0].arm.partition(", ")[2] or own[0].arm,
                own[0].parameters,
                characters,
                round(loss, 3),
                left_after(own, "readable"),
                kept,
                pooled(own),
                _each(own),
            ]
        )
    headers = ("attention", "parameters", "characters", "loss", "reads", "remembers", "answers rightly", "each seed, %")
    caption = (
        f"{measured[0].recipe}, {_time(measured)} minutes for all, {measured[0].asked}. Characters: read in that time. "
        "Loss: of the mixture of reading and text at the end of the stage that learns to read. Reads: rightly, with "
        "the text in view. Remembers: gives the answer it had read, right or wrong."
    )
    return Table(headers, rows, caption)


def _storing(measured: Sequence[Measured]) -> Table:
    """What each attention remembers of answers that were written for it."""
    rows: list[list[Cell]] = []
    for own in grouped(measured):
        kept = [m.faithful for m in own if m.faithful is not None]
        each = " · ".join(f"{100 * right / n:.1f}" for right, n in kept)
        characters = round(sum(m.characters for m in own) / len(own))
        rows.append([own[0].arm.partition(", ")[2], own[0].parameters, characters, _counted(kept), each])
    caption = (
        f"{_time(measured)} minutes for all, from the first step: questions and answers that one and the same reader "
        f"wrote, asked about {measured[0].asked}. Remembers: gives the answer that was written, right or wrong."
    )
    return Table(("attention", "parameters", "characters", "remembers", "each seed, %"), rows, caption)


def curve_figure(measured: Sequence[Measured]) -> go.Figure:
    """Exact match against minutes, one line an arm."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for index, own in enumerate(_split(measured, lambda m: (m.arm, m.asked))):
        points = sorted(grouped(own), key=lambda seeds: seeds[0].minutes or 0.0)
        times = [seeds[0].minutes for seeds in points]
        rates = [pooled(seeds) for seeds in points]
        name = own[0].arm if _asked(measured) == own[0].asked else f"{own[0].arm}, {own[0].asked}"
        colour = series_colour(index)
        ends = [100 * rate.low for rate in rates] + [100 * rate.high for rate in reversed(rates)]
        figure.add_scatter(
            x=[*times, *reversed(times)],
            y=ends,
            mode="lines",  # few points would be drawn as markers
            fill="toself",
            fillcolor=faded(colour, 0.15),
            line_width=0,
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            x=times, y=[100 * rate.value for rate in rates], name=name, mode="lines+markers", line_color=colour
        )
    ticks = sorted({m.minutes for m in measured if m.minutes is not None})
    figure.add_hline(y=100 * RECORD, line_dash="dot", line_color=NEUTRAL, annotation_text="public record")
    figure.update_xaxes(title="minutes of training", type="log", tickvals=ticks, ticktext=[f"{t:g}" for t in ticks])
    figure.update_yaxes(title="exact match, %", range=[0, 100])
    return figure


def waterfall_figure(measured: Sequence[Measured]) -> go.Figure:
    """Bars of what is left after each step, one colour a recipe."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for index, own in enumerate(grouped(measured)):
        steps = [step for step, _, _ in own[0].waterfall]
        values = [100 * left_after(own, step).value for step in steps]
        figure.add_bar(
            x=steps,
            y=values,
            name=own[0].name,
            marker_color=series_colour(index),
            text=[f"{value:.1f}" for value in values],
            textposition="outside",
        )
    longest = max((m.waterfall for m in measured), key=len)  # not every model has every step
    figure.update_xaxes(categoryorder="array", categoryarray=[step for step, _, _ in longest])
    figure.update_layout(barmode="group")
    figure.update_yaxes(title="questions left, %", range=[0, 108])
    return figure


def _split(measured: Iterable[Measured], key: Callable[[Measured], object]) -> list[list[Measured]]:
    """Those with the same key together, in the order met."""
    found: dict[object, list[Measured]] = defaultdict(list)
    for one in measured:
        found[key(one)].append(one)
    return list(found.values())


def _numbers(own: Sequence[Measured]) -> dict[str, object]:
    rate = pooled(own)
    return {
        "name": own[0].name,
        "arm": own[0].arm,
        "asked": own[0].asked,
        "minutes": own[0].minutes,
        "parameters": own[0].parameters,
        "seeds": [m.seed for m in own],
        "accuracies": [exact_match(m.rows).value for m in own],
        "correct": rate.successes,
        "n": rate.n,
        "low": rate.low,
        "high": rate.high,
        "waterfall": {step: left_after(own, step).value for step, _, _ in own[0].waterfall},
    }
