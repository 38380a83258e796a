"""Small heat maps as HTML tables: readable names, numbers in the cells, the page's own colours.

A table of a dozen rows needs no drawing library, and reads well on a phone and in a screen reader. Knows nothing of
what the numbers mean.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from loci.attention_lab.exercises.result import MatrixPanel
from loci.report.attention.mathematics import mathematics
from loci.report.page import Markup
from loci.report.style import PALETTE, faded

STYLE = """<style>
.heats { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1.2rem 0; }
.heats figure { margin: 0; max-width: 100%; }
.heats figcaption { width: 0; min-width: 100%; }
table.heat { width: auto; font-size: .8rem; }
table.heat th { font-weight: 400; padding: .1rem .4rem; border: 0; color: var(--ink); }
table.heat th { text-align: right; white-space: nowrap; }
table.heat thead th { height: 1px; vertical-align: bottom; text-align: center; }
table.heat thead th.turned span { writing-mode: vertical-rl; transform: rotate(180deg); display: inline-block; }
table.heat td { border: 1px solid var(--line); width: 2.1rem; min-width: 2.1rem; height: 1.9rem; padding: 0; }
table.heat td { font-variant-numeric: tabular-nums; text-align: center; vertical-align: middle; }
table.heat td.strong { color: #fff; }
</style>"""
LONGEST_LEVEL_NAME = 4


def heat_maps(panels: Sequence[MatrixPanel]) -> Markup:
    """Several heat maps side by side, as many as fit a line."""
    return Markup(STYLE + '<div class="heats">' + "".join(_heat_map(panel) for panel in panels) + "</div>")


def _heat_map(panel: MatrixPanel) -> str:
    most = max(1.0, *(abs(value) for row in panel.values for value in row))
    turned = ' class="turned"' if max(map(len, panel.columns)) > LONGEST_LEVEL_NAME else ""
    head = "".join(f"<th{turned}><span>{mathematics(name)}</span></th>" for name in panel.columns)
    rows = "".join(
        f"<tr><th>{mathematics(name)}</th>{''.join(_cell(value, most) for value in row)}</tr>"
        for name, row in zip(panel.rows, panel.values, strict=True)
    )
    axes = f" Rows: {html.escape(panel.y_label)}; columns: {html.escape(panel.x_label)}." if panel.x_label else ""
    return (
        '<figure class="table"><div class="scroll" tabindex="0"><table class="heat">'
        f"<thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        f"<figcaption>{mathematics(panel.title)}.{axes}</figcaption></figure>"
    )


def _cell(value: float, most: float) -> str:
    share = min(1.0, abs(value) / most)
    colour = faded(PALETTE[0] if value >= 0 else PALETTE[1], round(share, 3))
    text = f"{value:.2g}".replace("-", "−") if abs(value) > 5e-3 else ""
    strong = ' class="strong"' if share > 0.6 else ""
    return f'<td{strong} style="background:{colour}">{text}</td>'
