"""The pages of the lab: one exercise (how it is set, its symbols, what came out), heads as parsers, repetition."""

from __future__ import annotations

import html
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

from loci.attention_lab.exercises.result import ArcPanel, Cell, Exercise, LabResult, MatrixPanel, Panel
from loci.attention_lab.head_reading import HeadsReport, Readable
from loci.attention_lab.heads import ALL, Direction
from loci.attention_lab.repetition_sweep import SweepPoint
from loci.evaluation.metrics import Rate, wilson
from loci.generation.repetition import Loop
from loci.report.attention.drawing import arc_diagram, formula, heat_maps, mathematics
from loci.report.figures.attention import paired, panel_figure, relation_figure, sweep_figure
from loci.report.page import Cell as PageCell
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
    for _, group in itertools.groupby(result.panels, key=lambda panel: isinstance(panel, MatrixPanel)):
        panels = list(group)
        if small := [panel for panel in panels if isinstance(panel, MatrixPanel)]:
            page.add_text(heat_maps(small))
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


TITLES: dict[Direction, str] = {
    "either": "Any arc: the later word looks at the earlier",
    "dependent": "A word looks back at its head",
    "head": "A head looks back at its dependent",
}


def heads_page(
    name: str, treebank: str, sentences: Readable, report: HeadsReport, twins: Sequence[HeadsReport]
) -> Page:
    """Relations and trees of one model, next to fixed distances and untrained models."""
    page = Page(f"Heads as parsers: {name}", f"Where its attention heads look, against the parses of {treebank}.")
    trees = report.trees
    every = next(score for score in report.relations if (score.relation, score.direction) == (ALL, "either"))
    one_head = f"one head's attention; chain {100 * trees.chain_undirected.value:.1f} %"
    two_heads = f"two heads, root given; chain {100 * trees.chain_directed.value:.1f} %"
    page.add_cards(
        [
            ("arcs found, best head", every.rate, "of all arcs, the later word looking"),
            ("best fixed distance", every.baseline, "same arcs"),
            ("best undirected tree", trees.undirected, one_head),
            ("best directed tree", trees.directed, two_heads),
        ]
    )
    page.add_text(
        f"{len(sentences.parses):,} sentences were read; {sentences.unknown:,} contain characters the model does not "
        f"know and {sentences.too_long:,} are longer than its block. "
        + (f"{sentences.masked:,} unknown characters were replaced by the mask symbol. " if sentences.masked else "")
        + "A causal model sees only what came before, so of an arc's two words the later looks at the earlier. "
        "Attention between words is summed over the characters of the word attended to and averaged over those of "
        "the word attending. Heads and distances are chosen on one half of the sentences and scored on the other, so "
        f"that the best of many does not win by luck. Untrained: {len(twins)} models of the same shape, pooled."
    )
    chance = pooled_rates(twins)
    caption = "Share of arcs found; in brackets how many there are. Bars: 95 %."
    headers = ["relation", "arcs", "best head", "layer.head", "best distance", "words back", "untrained"]
    for direction, title in TITLES.items():
        scores = [score for score in report.relations if score.direction == direction]
        cells: list[list[PageCell]] = []
        for score in scores:
            head = f"{score.head[0] + 1}.{score.head[1] + 1}"
            untrained = chance[score.relation, direction]
            cells.append([score.relation, score.rate.n, score.rate, head, score.baseline, score.distance, untrained])
        page.add_section(title)
        page.add_figure(relation_figure(scores, chance, direction), caption)
        page.add_table(headers, cells)
    page.add_section(
        "Whole trees",
        "Undirected: the maximum spanning tree of one head's attention between words. Directed: the best tree (Chu, "
        "Liu and Edmonds) over two heads, the one that best looks at heads and the one that best looks at "
        "dependents; the root is given, since attention has no column for it. The chain attaches every word to its "
        "neighbour.",
    )
    page.add_table(
        ["", "undirected", "directed"],
        [
            ("this model", trees.undirected, trees.directed),
            *((f"untrained {i + 1}", twin.trees.undirected, twin.trees.directed) for i, twin in enumerate(twins)),
            ("chain", trees.chain_undirected, trees.chain_directed),
        ],
    )
    return page


def pooled_rates(reports: Sequence[HeadsReport]) -> dict[tuple[str, str], Rate]:
    """The rate of every relation and direction over all reports together.

    They are about the same arcs, so the interval is as wide as that of one report.
    """
    found, n = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for score in (score for report in reports for score in report.relations):
        found[score.relation, score.direction] += score.rate.successes
        n[score.relation, score.direction] += score.rate.n
    return {key: wilson(found[key], n[key], independent=n[key] / len(reports)) for key in n}


def repetition_page(
    sweeps: Mapping[str, Sequence[SweepPoint]],
    examples: Sequence[tuple[str, str, str, Loop | None]],
    *,
    n: int,
    reference: float | None,
    length: int,
    seed: int,
) -> Page:
    """Every setting's figure and table, and the loops of greedy decoding. Examples: (model, prompt, text, loop)."""
    texts = next(iter(next(iter(sweeps.values())))).looped.n
    each = f"{texts} texts of {length} characters each, seed {seed}"
    page = Page("Repetition", f"{' and '.join(sweeps)} at each setting of the sampler: {each}.")
    page.add_section(
        "At temperature 0",
        "A model whose next character depends on the last k alone must loop: there are finitely many runs of k "
        "characters, and once one comes back, so does everything after it. The loop is marked.",
    )
    for model, prompt, text, loop in examples:
        page.add_text(loop_text(model, prompt, text, loop))
    page.add_section(
        "Against each setting",
        f"seq-rep-{n} is the share of character {n}-grams that occurred before in the text. Bars: 95 % over the texts.",
    )
    for setting in dict.fromkeys(point.setting for points in sweeps.values() for point in points):
        greedy = " It acts on greedy decoding." if setting == "repetition penalty" else ""
        caption = Markup(f"<p>seq-rep-{n} against {setting}.{greedy}</p>")
        page.add_figure(sweep_figure(sweeps, setting, n, reference), caption)
    page.add_section("Numbers")
    loops = ["texts that loop", "loop entered at", "its period"]
    cells: list[list[PageCell]] = []
    for model, point in ((model, point) for model, points in sweeps.items() for point in points):
        value = Figures(f"{point.value:g}")
        looped: list[PageCell] = [point.looped, point.entry, point.period]
        cells.append([model, point.setting, value, point.seq_rep, point.distinct, *looped])
    headers = ["model", "setting", "value", f"seq-rep-{n}", f"distinct-{n}", *loops]
    page.add_table(headers, cells, "Entry and period: median over the texts that loop.")
    return page


def loop_text(model: str, prompt: str, text: str, loop: Loop | None) -> Markup:
    """One example: who wrote it, the prompt, the text, the first turn of its loop marked and the rest quiet."""
    if loop is None:
        shown, said = html.escape(text), "no loop within these characters"
    else:
        turn = loop.entry + loop.period
        shown = (
            f"{html.escape(text[: loop.entry])}<mark>{html.escape(text[loop.entry : turn])}</mark>"
            f'<span class="quiet">{html.escape(text[turn:])}</span>'
        )
        said = f"enters its loop after {loop.entry} characters, period {loop.period}"
    return Markup(
        f'<div class="example"><p><strong>{html.escape(model)}</strong> <span class="quiet">{said}</span></p>'
        f'<p style="overflow-wrap:anywhere"><strong>{html.escape(prompt)}</strong>{shown}</p></div>'
    )
