"""The page about repetition."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from loci.attention_lab.repetition_sweep import SweepPoint
from loci.generation.repetition import Loop
from loci.report.figures.attention import sweep_figure
from loci.report.page import Figures, Markup, Page


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
    models = " and ".join(sweeps)
    texts = next(iter(next(iter(sweeps.values())))).looped.n
    page = Page(
        "Repetition",
        f"{models} at each setting of the sampler: {texts} texts of {length} characters each, seed {seed}.",
    )
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
        page.add_figure(
            sweep_figure(sweeps, setting, n, reference), Markup(f"<p>seq-rep-{n} against {setting}.{greedy}</p>")
        )
    page.add_section("Numbers")
    page.add_table(
        [
            "model",
            "setting",
            "value",
            f"seq-rep-{n}",
            f"distinct-{n}",
            "texts that loop",
            "loop entered at",
            "its period",
        ],
        [
            (
                model,
                point.setting,
                Figures(f"{point.value:g}"),
                point.seq_rep,
                point.distinct,
                point.looped,
                point.entry,
                point.period,
            )
            for model, points in sweeps.items()
            for point in points
        ],
        "Entry and period: median over the texts that loop.",
    )
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
