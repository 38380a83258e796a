"""A text with the loop it ends in marked: the way there, the first turn, and the turns after it. Knows no models."""

from __future__ import annotations

import html

from loci.generation.repetition import Loop
from loci.report.page import Markup


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
