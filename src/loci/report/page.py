"""A page of text, tables and figures in one file that asks nothing of the network.

Style, script and Plotly are written into the page, Plotly once however many figures there are, and a content security
policy forbids any request. Knows nothing of runs, rows or how a rate came about: callers bring words, cells and Plotly
figures.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from loci import __version__
from loci.evaluation.metrics import Estimate, Rate, decimal
from loci.files import replace_own, require_marked
from loci.report.style import template

if TYPE_CHECKING:
    import plotly.graph_objects as go

_NUMERAL = re.compile(r"[<+−]?\s?\d[\d.,]*(\s%)?|–")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"


GENERATOR = '<meta name="generator" content="loci '
"""By which a page of Loci is known."""
WIDE = 7
"""Columns beyond which a table sets intervals below their numbers, to stay within a screen."""


class Markup(str):
    """Text that already is HTML and goes into the page as it stands."""


class Figures(Markup):
    """Markup that is a number to the eye: its column is set to the right."""


Cell = str | int | float | Rate | Estimate | None


def require_replaceable(path: Path) -> None:
    """Refuse to write a page over anything but another page of Loci; for those who write theirs much later."""
    require_marked(path, GENERATOR, "page")


@dataclass
class Page:
    """A page under construction; every `add_…` returns the page, `write` puts it on disk whole."""

    title: str
    subtitle: str = ""
    _body: list[str] = field(default_factory=list)
    _contents: list[tuple[str, str]] = field(default_factory=list)
    _figures: list[str] = field(default_factory=list)

    def add_section(self, title: str, text: str = "") -> Self:
        """Begin a section, listed in the contents at the top, with an optional Markdown introduction."""
        base = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "section"
        taken = {anchor for anchor, _ in self._contents}
        anchor = base if base not in taken else f"{base}-{len(taken)}"
        self._contents.append((anchor, title))
        self._body.append(f'<h2 id="{anchor}">{html.escape(title)}</h2>')
        return self.add_text(text) if text else self

    def add_text(self, text: str) -> Self:
        """Add Markdown; tags in it are shown as written. A `Markup` goes in as it stands."""
        self._body.append(text if isinstance(text, Markup) else markdown(text))
        return self

    def add_cards(self, cards: Iterable[tuple[str, Cell, str]]) -> Self:
        """Add the headline numbers: (label, value, note) each; a note may have several lines."""
        boxes = "".join(
            f'<div class="card"><div class="label">{_text(label)}</div>'
            f'<div class="value">{_value(value)}</div><div class="note">{_text(note)}</div></div>'
            for label, value, note in cards
        )
        self._body.append(f'<div class="cards">{boxes}</div>')
        return self

    def add_table(
        self, headers: Sequence[str], rows: Iterable[Sequence[Cell]], caption: str = "", *, folded: str = ""
    ) -> Self:
        """Add a table; a column of numbers is set to the right, a `Rate` or `Estimate` with its interval.

        With `folded`, only that line is shown until the reader opens it.
        """
        body = [list(row) for row in rows]
        assert all(len(row) == len(headers) for row in body), "a table row has as many cells as there are headers"
        numeric = [bool(body) and all(_is_number(row[i]) for row in body) for i in range(len(headers))]
        kinds = [' class="number"' if right else "" for right in numeric]
        head = "".join(f"<th{kind}>{_text(name)}</th>" for kind, name in zip(kinds, headers, strict=True))
        lines = "".join(
            "<tr>" + "".join(f"<td{kind}>{_cell(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
            for row in body
        )
        wide = ' class="wide"' if len(headers) > WIDE else ""
        table = (
            f'<figure class="table"><div class="scroll" tabindex="0" role="region" '
            f'aria-label="{html.escape(_plain(caption) or "table")}"><table{wide}><thead><tr>{head}</tr></thead>'
            f"<tbody>{lines}</tbody></table></div>{_caption(caption)}</figure>"
        )
        summary = f"<summary>{html.escape(folded)}</summary>"
        self._body.append(f"<details>{summary}{table}</details>" if folded else table)
        return self

    def add_figure(self, figure: go.Figure, caption: str = "") -> Self:
        """Add a Plotly figure in Loci's style; the figure itself is left as it was."""
        self._body.append(self._drawn(figure, caption))
        return self

    def add_pair(self, first: tuple[go.Figure, str], second: tuple[go.Figure, str]) -> Self:
        """Add two figures with their captions, side by side where the screen is wide enough."""
        self._body.append(f'<div class="pair">{self._drawn(*first)}{self._drawn(*second)}</div>')
        return self

    def _drawn(self, figure: go.Figure, caption: str) -> str:
        data = json.loads(figure.to_json())
        data.get("layout", {}).pop("template", None)
        name = f"figure-{len(self._figures) + 1}"
        self._figures.append(_script_json(name, data))
        height = data.get("layout", {}).get("height", 400)
        return (
            f'<figure class="chart"><div class="plot" data-figure="{name}" data-height="{height}" role="img" '
            f'style="height:{height}px" '
            f'aria-label="{html.escape(_plain(caption) or "figure")}"></div>{_caption(caption)}</figure>'
        )

    def html(self) -> str:
        """The whole page."""
        contents = "".join(f'<a href="#{anchor}">{html.escape(name)}</a>' for anchor, name in self._contents)
        nav = f'<nav class="contents" aria-label="Contents">{contents}</nav>' if len(self._contents) > 1 else ""
        subtitle = f'<p class="subtitle">{_text(self.subtitle)}</p>' if self.subtitle else ""
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'{GENERATOR}{__version__}">\n<title>{html.escape(self.title)}</title>\n'
            # An empty icon keeps browsers from asking a server for one.
            f'<link rel="icon" href="data:,">\n<style>\n{_resource("page.css")}</style>\n</head>\n<body>\n'
            f'<header class="page"><h1>{html.escape(self.title)}</h1>{subtitle}{nav}</header>\n<main>\n'
            + "\n".join(self._body)
            + f'\n</main>\n<footer class="page"><p>Written by loci {__version__}. '
            "This page is one file and needs no network.</p></footer>\n" + self._scripts() + "</body>\n</html>\n"
        )

    def write(self, path: str | Path) -> str:
        """Write the page, over an older page of Loci if need be and over nothing else; returns what to say of it."""
        replaced = replace_own(path, self.html(), GENERATOR, "page")
        return f"page: {path}" + (" (replaced)" if replaced else "")

    def _scripts(self) -> str:
        if not self._figures:
            return ""
        from plotly.offline import get_plotlyjs

        return (
            "<noscript><p>The figures of this page are drawn by JavaScript; the tables are not.</p></noscript>\n"
            + _script_json("figure-template", template())
            + "".join(self._figures)
            + f"<script>{get_plotlyjs()}</script>\n<script>\n{_resource('page.js')}</script>\n"
        )


def markdown(text: str) -> str:
    """CommonMark to HTML; tags in the text are shown, not obeyed."""
    return str(_renderer().render(text))


@cache
def _renderer() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False, "typographer": False})


@cache
def _resource(name: str) -> str:
    return resources.files("loci.report").joinpath(name).read_text(encoding="utf-8")


def _script_json(name: str, value: Any) -> str:
    # Inside a script element only "</" (and "<!--") could end it early; \u003c is the same text to a JSON reader.
    text = json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>\n'


def _text(text: str) -> str:
    return text if isinstance(text, Markup) else html.escape(text)


def _plain(text: str) -> str:
    return re.sub(r"<[^<>]*>|[*`_]", "", text)


def _caption(caption: str) -> str:
    if not caption:
        return ""
    return f"<figcaption>{caption if isinstance(caption, Markup) else markdown(caption)}</figcaption>"


def _is_number(cell: Cell) -> bool:
    if isinstance(cell, str):
        return isinstance(cell, Figures) or (not isinstance(cell, Markup) and bool(_NUMERAL.fullmatch(cell)))
    return True


def _value(cell: Cell) -> str:
    match cell:
        case None:
            return "–"
        case Rate():
            return f"{100 * cell.value:.1f} %" if cell.n else "–"
        case Estimate():
            return _value(cell.value)
        case bool() | int():
            return f"{cell:,}"
        case float():
            return decimal(cell)
        case _:
            return _text(cell)


def _cell(cell: Cell) -> str:
    if isinstance(cell, Rate) and cell.n:
        return f'{_value(cell)} <span class="interval">{100 * cell.low:.1f}–{100 * cell.high:.1f}</span>'
    if isinstance(cell, Estimate) and math.isfinite(cell.low + cell.high):
        return f'{_value(cell)} <span class="interval">{decimal(cell.low)} to {decimal(cell.high)}</span>'
    return _value(cell)
