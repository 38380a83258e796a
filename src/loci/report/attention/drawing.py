"""What the lab's pages draw without a library: mathematics, small heat maps, the arcs of a parse.

LaTeX becomes MathML, which browsers draw by themselves, and the lab's plain notation HTML. A heat map of a dozen rows
is a table: it reads well on a phone and in a screen reader. Arcs are SVG in the page's own colours. Knows nothing of
what the numbers mean.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from loci.attention_lab.exercises.result import MatrixPanel
from loci.attention_lab.parses import Parse
from loci.report.page import Markup
from loci.report.style import PALETTE, faded

_SUBSCRIPT = re.compile(r"(?<=[A-Za-zα-ωΑ-Ω])_(?:\{([^}]*)\}|(\w))")
_SUPERSCRIPT = re.compile(r"\^(?:\{([^}]*)\}|(−?\w+[²]?))")


def mathematics(text: str) -> Markup:
    """Escaped text in which `x_1` and `x_{12}` are subscripts, `e^β` and `e^{−β²}` superscripts."""
    lowered = _SUBSCRIPT.sub(lambda found: f"<sub>{found[1] or found[2]}</sub>", html.escape(text))
    return Markup(_SUPERSCRIPT.sub(lambda found: f"<sup>{found[1] or found[2]}</sup>", lowered))


def formula(latex: str, *, display: bool = False) -> Markup:
    """LaTeX as MathML, in the line or set apart."""
    from latex2mathml.converter import convert

    return Markup(convert(latex, display="block" if display else "inline"))


HEAT_STYLE = """<style>
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
    return Markup(HEAT_STYLE + '<div class="heats">' + "".join(_heat_map(panel) for panel in panels) + "</div>")


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


CHARACTER, GAP, LIFT, BASE = 9.0, 26.0, 30.0, 30.0


def arc_levels(parse: Parse) -> dict[tuple[int, int], int]:
    """How high each arc (head, word) must go so that it clears those inside it."""
    levels: dict[tuple[int, int], int] = {}
    arcs = sorted(((head, word) for head, word, _ in parse.arcs), key=lambda arc: (abs(arc[0] - arc[1]), min(arc)))
    for arc in arcs:
        low, high = sorted(arc)
        inside = (other for other in levels if low <= min(other) < high and low < max(other) <= high)
        levels[arc] = 1 + max(map(levels.__getitem__, inside), default=0)
    return levels


def arc_diagram(parse: Parse) -> Markup:
    """The sentence with an arrow from each head to its dependent, named by the relation; wide ones scroll."""
    centres, x = [], GAP / 2
    for form, relation in zip(parse.words, parse.relations, strict=True):
        width = CHARACTER * max(len(form), 0.75 * len(relation))
        centres.append(x + width / 2)
        x += width + GAP
    levels = arc_levels(parse)
    height = BASE + LIFT * max(levels.values(), default=1) + 34
    ground = height - BASE
    parts: list[str] = []
    for head, word, relation in parse.arcs:
        # Arrows leave and enter side by side, so that two at one word stay apart.
        lean = 5 if word > head else -5
        start, end = centres[head] + lean, centres[word] - lean / 2
        top = ground - LIFT * levels[head, word]
        bend = min(16.0, abs(end - start) / 3) * (1 if end > start else -1)
        up = f"M{start:.1f},{ground:.1f} C{start:.1f},{top:.1f} {start:.1f},{top:.1f} {start + bend:.1f},{top:.1f}"
        down = f"L{end - bend:.1f},{top:.1f} C{end:.1f},{top:.1f} {end:.1f},{top:.1f} {end:.1f},{ground - 2:.1f}"
        parts.append(
            f'<path d="{up} {down}" fill="none" stroke="currentColor" stroke-width="1.4" opacity="0.75" '
            f'marker-end="url(#arrow)"/><text x="{(start + end) / 2:.1f}" y="{top - 4:.1f}" class="relation">'
            f"{html.escape(relation)}</text>"
        )
    root = centres[parse.root]
    parts.append(
        f'<path d="M{root:.1f},14 L{root:.1f},{ground - 2:.1f}" fill="none" stroke="currentColor" stroke-width="1.4" '
        f'stroke-dasharray="3 3" opacity="0.5" marker-end="url(#arrow)"/>'
        f'<text x="{root + 6:.1f}" y="16" class="relation" style="text-anchor:start">root</text>'
    )
    parts += [
        f'<text x="{centre:.1f}" y="{height - 10:.1f}" class="word">{html.escape(form)}</text>'
        for centre, form in zip(centres, parse.words, strict=True)
    ]
    return Markup(
        '<figure class="chart"><div class="scroll" tabindex="0">'
        f'<svg viewBox="0 0 {x:.0f} {height:.0f}" width="{x:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="{html.escape(parse.text)}" style="max-width:none">'
        "<style>.word{font:15px system-ui,sans-serif;text-anchor:middle;fill:currentColor}"
        ".relation{font:12px system-ui,sans-serif;text-anchor:middle;fill:var(--accent)}</style>"
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0.5 L7,4 L0,7.5 z" fill="currentColor"/></marker></defs>'
        + "".join(parts)
        + "</svg></div></figure>"
    )
