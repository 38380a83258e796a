"""The page of one exercise of the lab: how it is set, what its symbols mean, and what came out."""

from __future__ import annotations

import itertools

from loci.attention_lab.exercises.result import ArcPanel, Cell, Exercise, LabResult, MatrixPanel, Panel
from loci.report.attention.arcs import arc_diagram
from loci.report.attention.heat import heat_maps
from loci.report.attention.mathematics import formula, mathematics
from loci.report.figures.attention import paired, panel_figure
from loci.report.page import Figures, Markup, Page

STYLE = """<style>
dl.symbols { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.2rem; margin: .8rem 0; }
dl.symbols dd { margin: 0; max-width: 40rem; }
.formula { margin: 1rem 0; max-width: 46rem; overflow-x: auto; overflow-y: hidden; }
.formula p { margin: 0 0 .3rem; }
math { font-family: math, "STIX Two Math", "Latin Modern Math", "Cambria Math", serif; font-size: 1.1em; }
@media (max-width: 640px) {
  dl.symbols { grid-template-columns: 1fr; gap: 0; }
  dl.symbols dd { margin: 0 0 .5rem 1rem; }
}
</style>"""


def lab_page(name: str, exercise: Exercise, result: LabResult) -> Page:
    """The exercise, its formulas, the findings, the panels and the table."""
    page = Page(f"Attention lab: {name}", mathematics(f"{exercise.statement[0].upper()}{exercise.statement[1:]}."))
    symbols = "".join(
        f"<dt>{formula(latex)}</dt><dd>{mathematics(meaning)}</dd>" for latex, meaning in exercise.symbols.items()
    )
    formulas = "".join(
        f'<div class="formula"><p>{mathematics(said)}</p>{formula(latex, display=True)}</div>'
        for said, latex in exercise.formulas.items()
    )
    page.add_section("The exercise", Markup(f"{STYLE}<p>{mathematics(exercise.question)}</p>"))
    page.add_section("Symbols", Markup(f'<dl class="symbols">{symbols}</dl>'))
    page.add_section("Answer", Markup(formulas))
    seed = f'<p class="quiet">Random numbers: seed {result.seed}.</p>' if result.seed is not None else ""
    findings = "".join(f"<p>{mathematics(finding)}</p>" for finding in result.findings)
    page.add_section("What comes out", Markup(findings + seed))
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
        page.add_section("Numbers")
        page.add_table([mathematics(name) for name in result.columns], [[_cell(c) for c in row] for row in result.rows])
    return page


def _cell(cell: Cell) -> Cell:
    """The numbers as the lab rounded them, which may be to more digits than a report shows."""
    if isinstance(cell, float):
        return Figures(f"{cell:.4g}".replace("-", "−"))
    return mathematics(cell) if isinstance(cell, str) else cell
