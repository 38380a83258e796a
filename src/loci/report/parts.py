"""An experiment's report as parts, from which both the terminal's tables and the page are made.

Knows nothing of any experiment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loci.evaluation.metrics import Rate
from loci.report.page import Cell, Page

if TYPE_CHECKING:
    import plotly.graph_objects as go

QUICK_NOTE = "A quick run: it shows that every step works. Its numbers are no evidence of anything."


@dataclass(frozen=True)
class Table:
    """Cells under headers, with a caption."""

    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    """Markdown."""
    page_only: Sequence[str] = ()
    """Headers of columns that a terminal does not show."""


@dataclass(frozen=True)
class Section:
    """A heading, a paragraph of Markdown, then figures and tables."""

    title: str
    text: str = ""
    figures: Sequence[tuple[go.Figure, str]] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class ExperimentReport:
    """All that an experiment found, ready to be shown."""

    title: str
    subtitle: str
    cards: Sequence[tuple[str, Cell, str]]
    sections: Sequence[Section]
    numbers: dict[str, Any] = field(default_factory=dict)
    """Everything as plain JSON data."""

    def page(self) -> Page:
        """The self-contained page."""
        page = Page(self.title, self.subtitle)
        page.add_cards(self.cards)
        for section in self.sections:
            page.add_section(section.title, section.text)
            for figure, caption in section.figures:
                page.add_figure(figure, caption)
            for table in section.tables:
                page.add_table(table.headers, table.rows, table.caption)
        return page


def seeds_of(count: int) -> str:
    """ "one seed", "3 seeds"."""
    return "one seed" if count == 1 else f"{count} seeds"


def by_seed(label: str, rows: Sequence[tuple[str, Sequence[Mapping[str, float]]]]) -> Table:
    """The same shares seed by seed: a row per name and seed."""
    names = list(rows[0][1][0])
    return Table(
        [label, "seed", *names],
        [
            [name, seed, *(f"{100 * figures[column]:.1f} %" for column in names)]
            for name, seeds in rows
            for seed, figures in enumerate(seeds)
        ],
        "Seed by seed.",
    )


def interval(rate: Rate | None) -> str:
    """The interval of a share and how many it is of, for the note of a card."""
    if rate is None or not rate.n:
        return "not asked"
    return f"{100 * rate.low:.1f}–{100 * rate.high:.1f}\u00a0%, n\u00a0=\u00a0{rate.n:,}"
