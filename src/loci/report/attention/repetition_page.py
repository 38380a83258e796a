"""The page about repetition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loci.attention_lab.repetition_sweep import SweepPoint
from loci.generation.repetition import Loop
from loci.report.attention.loops import loop_text
from loci.report.figures.attention import sweep_figure
from loci.report.page import Markup, Page


def repetition_page(
    sweeps: Mapping[str, Sequence[SweepPoint]],
    examples: Sequence[tuple[str, str, str, Loop | None]],
    *,
    n: int,
    reference: float | None,
    length: int,
    seed: int,
) -> Page:
    """Every knob's figure and table, and what greedy writing falls into. Examples: (writer, prompt, text, loop)."""
    writers = " and ".join(sweeps)
    texts = next(iter(next(iter(sweeps.values())))).looped.n
    page = Page(
        "Repetition", f"What {writers} make of each setting: {texts} texts of {length} characters each, seed {seed}."
    )
    page.add_section(
        "At temperature 0",
        "A model whose next character depends on the last k alone must loop: there are finitely many runs of k "
        "characters, and once one comes back, so does everything after it. The loop is marked.",
    )
    for writer, prompt, text, loop in examples:
        page.add_text(loop_text(writer, prompt, text, loop))
    page.add_section(
        "Against each knob",
        f"seq-rep-{n} is the share of runs of {n} characters that stood in the text before. Bars: 95 % over the texts.",
    )
    for knob in dict.fromkeys(point.knob for points in sweeps.values() for point in points):
        greedy = " It acts on greedy writing." if knob == "repetition penalty" else ""
        page.add_figure(sweep_figure(sweeps, knob, n, reference), Markup(f"<p>seq-rep-{n} against {knob}.{greedy}</p>"))
    page.add_section("Numbers")
    page.add_table(
        [
            "writer",
            "knob",
            "value",
            f"seq-rep-{n}",
            f"distinct-{n}",
            "texts that loop",
            "loop entered at",
            "its period",
        ],
        [
            (writer, point.knob, point.value, point.seq_rep, point.distinct, point.looped, point.entry, point.period)
            for writer, points in sweeps.items()
            for point in points
        ],
        "Entry and period: median over the texts that loop.",
    )
    return page
