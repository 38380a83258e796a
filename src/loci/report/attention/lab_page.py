"""The page of one exercise of the lab."""

from __future__ import annotations

import itertools

from loci.attention_lab.exercises.result import ArcPanel, Cell, LabResult, MatrixPanel, Panel
from loci.report.attention.arcs import arc_diagram
from loci.report.attention.heat import heat_maps
from loci.report.attention.mathematics import mathematics
from loci.report.figures.attention import paired, panel_figure
from loci.report.page import Markup, Page


def lab_page(result: LabResult) -> Page:
    """What was claimed, what was found, the panels and the table."""
    seed = f" Seed {result.seed}." if result.seed is not None else ""
    claim = mathematics(f"{result.statement[0].upper()}{result.statement[1:]}.{seed}")
    page = Page(f"Attention lab: {result.name}", claim)
    page.add_section("Findings", Markup("".join(f"<p>{mathematics(finding)}</p>" for finding in result.findings)))
    for small, group in itertools.groupby(result.panels, key=lambda panel: isinstance(panel, MatrixPanel)):
        panels = list(group)
        if small:
            page.add_text(heat_maps([panel for panel in panels if isinstance(panel, MatrixPanel)]))
            continue
        for panel in panels:
            if isinstance(panel, ArcPanel):
                page.add_text(arc_diagram(panel.parse))
            elif isinstance(panel, Panel):
                note = " Lines are the formula, dots what was measured." if paired(panel) else ""
                page.add_figure(panel_figure(panel), mathematics(f"{panel.title}.{note}"))
    if result.rows:
        page.add_section("Numbers", _table(result.columns, result.rows))
    return page


def _table(columns: tuple[str, ...], rows: tuple[tuple[Cell, ...], ...]) -> Markup:
    """The numbers as the lab rounded them, which may be to more places than a report shows."""
    numeric = [all(row[i] is None or isinstance(row[i], int | float) for row in rows) for i in range(len(columns))]
    kinds = [' class="number"' if right else "" for right in numeric]
    head = "".join(f"<th{kind}>{mathematics(name)}</th>" for kind, name in zip(kinds, columns, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{_cell(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for row in rows
    )
    return Markup(
        '<figure class="table"><div class="scroll" tabindex="0" role="region" aria-label="numbers">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></figure>"
    )


def _cell(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.4g}".replace("-", "−")
    return f"{cell:,}" if isinstance(cell, int) else mathematics(cell)
