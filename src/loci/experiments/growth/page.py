"""The page of the experiment on growth: what was needed, the fits, and what lies beyond on paper.

Knows the result, not how it came about.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from loci.evaluation.json_data import to_json
from loci.experiments.growth.result import KNOWN, PUBLISHED, Grown, GrowthResult, PowerLaw
from loci.report.page import Cell
from loci.report.parts import QUICK_NOTE, Figure, Report, Section, Table, seeds_of
from loci.report.style import NEUTRAL, series_colour

if TYPE_CHECKING:
    import plotly.graph_objects as go

Get = Callable[[Grown], float]
ON_PAPER = (10_000, 100_000, 1_000_000)


def growth_report(result: GrowthResult) -> Report:
    """Words, tables and figures."""
    characters, flops = result.law(lambda one: one.characters), result.law(lambda one: one.flops)
    rows: list[list[Cell]] = [
        [
            one.people,
            one.seed,
            f"{one.parameters:,}",
            f"{100 * one.known:.1f} % of {one.asked}" + ("" if one.reached else " (budget spent)"),
            _millions(one.characters),
            f"{one.exposures:.0f}",
            f"{one.flops:.2g}",
            f"{one.bits_per_parameter:.3f}",
        ]
        for one in result.grown
    ]
    published = " and ".join(f"{bits:g} at {exposures:,} exposures" for exposures, bits in PUBLISHED)
    sections = [
        Section(
            "What was needed",
            [
                f"A model memorizes a question and an answer about everybody until {100 * KNOWN:.0f} % are known. "
                + _in_words(characters),
                Figure(
                    growth_figure(result.grown, characters, lambda one: one.characters, "characters"),
                    "One dot per model; the line is the fit.",
                ),
                Figure(growth_figure(result.grown, flops, lambda one: one.flops, "FLOPs"), "The same in FLOPs."),
                Table(
                    ["people", "seed", "parameters", "known", "characters", "exposures", "FLOPs", "bits/parameter"],
                    rows,
                    "Bits: the entropy of the answers less the model's surprise at them, over everybody. Published for "
                    f"models filled to their capacity: {published} (Physics of Language Models 3.3). These models are "
                    "far from full: finding the fact by the name costs more than storing it.",
                ),
                Figure(bits_figure(result.grown), "What a parameter holds, next to the published figures."),
            ],
        )
    ]
    if characters is not None and flops is not None:
        paper: list[list[Cell]] = [
            [f"{people:,}", _millions(characters(people)), f"{flops(people):.2g}"] for people in ON_PAPER
        ]
        text = "Read off the fits, not measured. `loci doctor` says how many FLOPs this machine does in a second."
        sections.append(Section("On paper", [text, Table(["people", "characters", "FLOPs"], paper)]))
    return Report(
        title="What does a larger corpus cost?",
        subtitle=QUICK_NOTE if result.quick else f"{seeds_of(result.seeds)} of each size, one fact about each person.",
        cards=[
            (f"{one.people:,} people", _millions(one.characters), "characters") for one in result.grown if not one.seed
        ],
        sections=sections,
        numbers={**to_json(result), "characters_law": to_json(characters), "flops_law": to_json(flops)},
    )


def _in_words(law: PowerLaw | None) -> str:
    if law is None:
        return "Too few sizes got there for a fit."
    return f"Characters grow with the number of people to the power of {law.exponent:.2f}."


def _millions(characters: float) -> str:
    return f"{characters / 1e6:.2f} M"


def growth_figure(grown: tuple[Grown, ...], law: PowerLaw | None, get: Get, what: str) -> go.Figure:
    """What was needed until most are known, against people, and its fit; both axes logarithmic."""
    import plotly.graph_objects as go

    made = go.Figure()
    there = [one for one in grown if one.reached]
    made.add_scatter(
        x=[one.people for one in there],
        y=[get(one) for one in there],
        mode="markers",
        name="measured",
        marker_color=series_colour(0),
    )
    if law is not None:
        ends = [min(one.people for one in there), max(ON_PAPER)]
        made.add_scatter(
            x=ends, y=[law(x) for x in ends], mode="lines", name="fit", line={"color": NEUTRAL, "dash": "dot"}
        )
    made.update_xaxes(title="people", type="log")
    made.update_yaxes(title=f"{what} until {100 * KNOWN:.0f} % are known", type="log")
    return made


def bits_figure(grown: tuple[Grown, ...]) -> go.Figure:
    """Bits per parameter against exposures of each fact, next to the published ones; both axes logarithmic."""
    import plotly.graph_objects as go

    made = go.Figure()
    made.add_scatter(
        x=[one.exposures for one in grown],
        y=[one.bits_per_parameter for one in grown],
        text=[f"{one.people:,} people" for one in grown],
        mode="markers+text",
        textposition="top center",
        name="measured",
        marker_color=series_colour(0),
    )
    exposures, bits = zip(*PUBLISHED, strict=True)
    made.add_scatter(x=exposures, y=bits, mode="markers", name="published, full models", marker_color=NEUTRAL)
    made.update_xaxes(title="exposures of each fact", type="log")
    made.update_yaxes(title="bits per parameter", type="log")
    return made
