"""A report as parts, from which both the terminal's tables and the page are made.

Knows nothing of what is reported.
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
class Figure:
    """A Plotly figure with a caption in Markdown."""

    figure: go.Figure
    caption: str = ""


@dataclass(frozen=True)
class Pair:
    """Two figures side by side where the screen is wide enough."""

    first: Figure
    second: Figure


@dataclass(frozen=True)
class Table:
    """Cells under headers, with a caption in Markdown."""

    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    folded: str = ""
    """If given, the page shows only this line until the reader opens it."""
    page_only: Sequence[str] = ()
    """Headers of columns that a terminal does not show."""


@dataclass(frozen=True)
class Section:
    """A heading, then text (Markdown, or `Markup` as it stands), figures and tables in their order."""

    title: str
    parts: Sequence[str | Figure | Pair | Table]

    @property
    def tables(self) -> list[Table]:
        """Its tables."""
        return [part for part in self.parts if isinstance(part, Table)]


@dataclass(frozen=True)
class Report:
    """All that was found, ready to be shown."""

    title: str
    subtitle: str
    cards: Sequence[tuple[str, Cell, str]]
    sections: Sequence[Section]
    numbers: dict[str, Any] = field(default_factory=dict)
    """Everything as JSON data."""

    def page(self) -> Page:
        """The self-contained page."""
        page = Page(self.title, self.subtitle)
        page.add_cards(self.cards)
        for section in self.sections:
            page.add_section(section.title)
            for part in section.parts:
                match part:
                    case Figure():
                        page.add_figure(part.figure, part.caption)
                    case Pair(a, b):
                        page.add_pair((a.figure, a.caption), (b.figure, b.caption))
                    case Table():
                        page.add_table(part.headers, part.rows, part.caption, folded=part.folded)
                    case _:
                        page.add_text(part)
        return page


def seeds_of(count: int) -> str:
    """ "one seed", "3 seeds"."""
    return "one seed" if count == 1 else f"{count} seeds"


def by_seed(label: str, rows: Sequence[tuple[str, Sequence[Mapping[str, float]]]]) -> Table:
    """The same shares seed by seed: a row per name and seed."""
    names = list(rows[0][1][0])
    cells: list[list[Cell]] = [
        [name, seed, *(f"{100 * figures[column]:.1f} %" for column in names)]
        for name, seeds in rows
        for seed, figures in enumerate(seeds)
    ]
    return Table([label, "seed", *names], cells, "Seed by seed.")


def interval(rate: Rate | None) -> str:
    """The interval of a share and how many it is of, for the note of a card."""
    if rate is None or not rate.n:
        return "not asked"
    return f"{100 * rate.low:.1f}–{100 * rate.high:.1f}\u00a0%, n\u00a0=\u00a0{rate.n:,}"
