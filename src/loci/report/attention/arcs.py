"""A parse drawn as arcs over its words, as SVG in the page's own colours. Knows nothing of Plotly."""

from __future__ import annotations

import html

from loci.attention_lab.parses import Parse
from loci.report.page import Markup

CHARACTER, GAP, LIFT, BASE = 9.0, 26.0, 30.0, 30.0


def arc_levels(parse: Parse) -> dict[tuple[int, int], int]:
    """How high each arc (head, word) must go so that it clears those inside it."""
    levels: dict[tuple[int, int], int] = {}
    arcs = sorted(((head, word) for head, word, _ in parse.arcs), key=lambda arc: (abs(arc[0] - arc[1]), min(arc)))
    for arc in arcs:
        low, high = sorted(arc)
        inside = [
            level
            for (head, word), level in levels.items()
            if low <= min(head, word) < high and low < max(head, word) <= high
        ]
        levels[arc] = 1 + max(inside, default=0)
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
