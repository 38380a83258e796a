"""The page on recall: the recipes, the error funnel, accuracy against characters, ablations, and kinds of attention.

Knows the results, not how they came about.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loci.evaluation.error_kinds import ErrorFunnel, FunnelStep
from loci.evaluation.json_data import to_json
from loci.evaluation.metrics import wilson
from loci.evaluation.rows import TAUGHT
from loci.evaluation.significance import holm
from loci.experiments.recall.result import (
    Measured,
    accuracy,
    alike,
    answered,
    counted,
    doubt,
    gain,
    grouped,
    left_after,
    numbers,
    over_folds,
)
from loci.report.comparison.wording import p_value, points
from loci.report.figures.knowledge import funnel_bars
from loci.report.page import Cell
from loci.report.parts import Figure, Report, Section, Table, interval, seeds_of
from loci.report.style import NEUTRAL, faded, series_colour

if TYPE_CHECKING:
    import plotly.graph_objects as go

RECORD = 0.404
"""The best public run on the course's dev names."""
PARTS = ("recipes", "budgets", "ablations", "variants", "storing")
PEOPLE = ("taught: right", "held-out: right", "never read about: answered", "each seed, %")
PEOPLE_NOTE = (
    "Exact match; the intervals are over questions and seeds. *Never read about*: names recombined from those of the "
    "corpus, answered at the run’s own threshold. *Each seed*: held-out people."
)


def recall_report(measured: Sequence[Measured]) -> Report:
    """Everything that was measured, in sections; a part that was not carried out is left out."""
    parts = {part: [m for m in measured if m.part == part] for part in PARTS}
    shown = parts["recipes"] or list(measured)
    groups = grouped(shown)
    funnel = Figure(funnel_figure(groups), "Questions about held-out people left after each step, all seeds.")
    sections = [
        Section("Recall", ["Closed book: all that is given is the question.", _recipes(groups)]),
        Section("Error funnel", ["Each step keeps the questions that passed all before it.", funnel]),
    ]
    folds = over_folds(shown)
    if table := _doubts(folds):
        sections.append(Section("Doubt", [table]))
    if budgets := parts["budgets"]:
        note = (
            f"Held-out people, with 95 % intervals; dotted: the public record on the course’s dev names, {RECORD:.1%}."
        )
        figure = Figure(budget_figure(budgets), note)
        sections.append(Section("Accuracy against characters", [figure, _recipes(grouped(budgets))]))
    if parts["ablations"]:
        sections.append(Section("What each part brings", [_ablations(parts["ablations"])]))
    if parts["variants"]:
        own = alike(parts["variants"], lambda m: (m.recipe, m.budget, m.asked))
        sections.append(Section("Which attention stores facts?", [_variants(one) for one in own]))
    if parts["storing"]:
        own = alike(parts["storing"], lambda m: (m.budget, m.asked))
        sections.append(Section("Storing without reading", [_storing(one) for one in own]))
    return Report(
        title="Recall",
        subtitle="What a small transformer answers from memory about people it was never asked about.",
        cards=[
            (own[0].title, accuracy(own), f"held-out ({own[0].asked}): {interval(accuracy(own))}, {seeds_of(len(own))}")
            for own in groups[:4]
        ],
        sections=sections,
        numbers={part: [numbers(own) for own in grouped(some)] for part, some in parts.items() if some}
        | {"doubt": [to_json({"name": own[0].title, **vars(found)}) for own in folds if (found := doubt(own))]},
    )


def _each(own: Sequence[Measured]) -> str:
    return " · ".join(f"{100 * accuracy([m]).value:.1f}" for m in own)


def _people(own: Sequence[Measured]) -> list[Cell]:
    return [accuracy(own, TAUGHT), accuracy(own), answered(own), _each(own)]


def _characters(own: Sequence[Measured]) -> int:
    return round(sum(m.characters for m in own) / len(own))


def _recipes(groups: Sequence[Sequence[Measured]]) -> Table:
    return Table(
        ["recipe", "asked", "parameters", "characters", *PEOPLE],
        [[own[0].title, own[0].asked, own[0].parameters, _characters(own), *_people(own)] for own in groups],
        PEOPLE_NOTE,
    )


def _doubts(groups: Sequence[Sequence[Measured]]) -> Table | None:
    """What the probabilities of answers about held-out people are worth, all folds and seeds together."""
    rows: list[list[Cell]] = []
    for own in groups:
        if (found := doubt(own)) is not None:
            asked = ", ".join(dict.fromkeys(m.asked for m in own))
            shares = (found.right, found.answered_rightly, found.answered_wrongly, found.remembered)
            rows.append([own[0].title, asked, *shares, found.auroc, found.ece])
    head = ["recipe", "asked", "best answer right", "answered rightly", "wrongly", "labels remembered", "AUROC", "ECE"]
    note = (
        "*Best answer*: also where the run is silent. *AUROC*: how often a right answer has a higher probability than "
        "a wrong one. *ECE*: mean distance of probability and truth."
    )
    return Table(head, rows, note) if rows else None


def _ablations(measured: Sequence[Measured]) -> Table:
    """Each ablation against the recipe it changes, on the same questions and seeds, with the same budget."""
    groups = grouped(measured)
    whole = {(own[0].recipe, own[0].budget, own[0].asked): own for own in groups if own[0].name == own[0].recipe}
    rows: list[list[Cell]] = []
    gains = []
    for own in groups:
        one = own[0]
        base = whole.get((one.recipe, one.budget, one.asked), []) if one.name != one.recipe else []
        gains.append(gain(base, own))
        rows.append([one.title, one.shows, one.asked, *_people(own), counted([m.labels for m in own])])
    corrected = iter(holm([found[1] for found in gains if found is not None]))
    for row, found in zip(rows, gains, strict=True):
        row += ["", ""] if found is None else [points(found[0]), p_value(next(corrected))]
    return Table(
        ["ablation", "what it is", "asked", *PEOPLE, "pseudo-labels right", "points gained", "p"],
        rows,
        f"{PEOPLE_NOTE} *Points gained* over the whole recipe, with the interval of resampled questions; p: McNemar’s "
        "exact test, of several seeds a permutation test over questions, corrected by Holm.",
    )


def _variants(measured: Sequence[Measured]) -> Table:
    rows: list[list[Cell]] = [
        [
            *(own[0].name.partition(", ")[2], own[0].parameters, _characters(own)),
            round(sum(m.reading_loss for m in own) / len(own), 3),
            *(left_after(own, "readable"), counted([m.faithful for m in own]), *_people(own)),
        ]
        for own in grouped(measured)
    ]
    return Table(
        ["attention", "parameters", "characters", "loss", "reads", "remembers", *PEOPLE],
        rows,
        f"{measured[0].recipe}, {measured[0].asked}. *Loss*: of reading and text at the end of the stage that learns "
        "to read. *Reads*: rightly, with the text in view. *Remembers*: gives the answer it had read, right or wrong.",
    )


def _storing(measured: Sequence[Measured]) -> Table:
    """What each attention remembers of answers that were written for it."""
    rows: list[list[Cell]] = []
    for own in grouped(measured):
        kept = [m.faithful for m in own if m.faithful is not None]
        each = " · ".join(f"{100 * right / n:.1f}" for right, n in kept)
        size = (own[0].parameters, _characters(own))
        rows.append([own[0].name.partition(", ")[2], *size, counted(kept), each, *_people(own)[:3]])
    return Table(
        ["attention", "parameters", "characters", "remembers", "each seed, %", *PEOPLE[:3]],
        rows,
        f"Questions and answers that one and the same reader wrote, asked about {measured[0].asked}. *Remembers*: "
        "gives the answer that was written, right or wrong.",
    )


def budget_figure(measured: Sequence[Measured]) -> go.Figure:
    """Exact match against characters read, one line per ablation and question file."""
    import plotly.graph_objects as go

    figure = go.Figure()
    several = len({m.asked for m in measured}) > 1
    for index, own in enumerate(alike(measured, lambda m: (m.name, m.asked))):
        groups = sorted(grouped(own), key=_characters)
        x, rates = [_characters(one) for one in groups], [accuracy(one) for one in groups]
        colour = series_colour(index)
        figure.add_scatter(
            x=[*x, *reversed(x)],
            y=[100 * rate.low for rate in rates] + [100 * rate.high for rate in reversed(rates)],
            mode="lines",  # few points would be drawn as markers
            fill="toself",
            fillcolor=faded(colour, 0.15),
            line_width=0,
            hoverinfo="skip",
            showlegend=False,
        )
        name = f"{own[0].name}, {own[0].asked}" if several else own[0].name
        y = [100 * rate.value for rate in rates]
        figure.add_scatter(x=x, y=y, name=name, mode="lines+markers", line_color=colour)
    figure.add_hline(y=100 * RECORD, line_dash="dot", line_color=NEUTRAL, annotation_text="public record")
    figure.update_xaxes(title="characters read in training", type="log")
    figure.update_yaxes(title="exact match, %", range=[0, 100])
    return figure


def funnel_figure(groups: Sequence[Sequence[Measured]]) -> go.Figure:
    """What is left after each step, one colour per recipe."""
    funnels = []
    for own in groups:
        kept = [(step, left_after(own, step) or wilson(0, 0)) for step, _, _ in own[0].funnel]
        funnels.append(ErrorFunnel(tuple(FunnelStep(step, rate) for step, rate in kept), wilson(0, 0)))
    return funnel_bars([own[0].title for own in groups], funnels)
