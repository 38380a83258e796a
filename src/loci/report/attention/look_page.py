"""The page of one answer: where each head looked, what each layer would have said, which state carries the answer.

Text coloured by weight rather than large matrices, so that a long question reads on a phone. One file, no library.
"""

from __future__ import annotations

import base64
import html
import json
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from loci.attention_lab.looking import NOISE, Look
from loci.report.page import Markup, Page
from loci.report.style import PALETTE, faded

STRONGEST = 6


def look_page(view: Look, name: str) -> Page:
    """The whole page."""
    said = f"“{view.answer}”" if view.answer else "nothing"
    who = "is given the answer" if view.given else "answers"
    page = Page(view.question, f"{name} {who} {said} with probability {view.probability:.3g}.")
    if view.recited is not None:
        page.add_text(f"Before it answered, it recited this line, and read it: *{view.recited}*")
    page.add_text(Markup(f"<style>{_resource('look.css')}</style>"))
    page.add_section("Where it looks", _attention_intro(view))
    page.add_text(_attention(view))
    page.add_section("Heads that look at the name", "When the answer begins, these heads look at the name most.")
    page.add_table(
        ["layer", "head", "on the name", "on the rest of what it read", "on the mask itself"],
        _strongest(view),
        "Share of attention from the mask that calls for the answer, before its first character.",
    )
    page.add_section("What each layer would say", _lens_intro(view))
    page.add_text(_lens(view))
    page.add_section("Which state carries the answer", _trace_intro(view))
    page.add_text(_trace(view))
    return page


def _resource(name: str) -> str:
    return resources.files("loci.report.attention").joinpath(name).read_text(encoding="utf-8")


def _shown(symbol: str) -> str:
    return html.escape("·" if symbol == " " else symbol)


def _attention_intro(view: Look) -> str:
    layers, heads = view.attention.shape[:2]
    return (
        f"Each small square is one of {layers} × {heads} heads: down the attending character, across the attended "
        "one. Next to them are the mean of a layer's heads and the rollout: the share of every character in a position "
        "after all layers so far, if attention were all there is. Choose a square, then a character of the text: the "
        "colours show where it looks. The name is underlined, a dot is a space; what comes later cannot be seen."
    )


def _attention(view: Look) -> Markup:
    layers, heads, width, _ = view.attention.shape
    maps: list[NDArray[np.float32]] = []
    titles: list[str] = []
    cells = [f'<span class="name">{name}</span>' for name in ("", *range(1, heads + 1), "mean", "rollout")]
    for layer in range(layers):
        cells.append(f'<span class="name">layer {layer + 1}</span>')
        rows = [*view.attention[layer], view.attention[layer].mean(axis=0), view.rollout[layer]]
        names = [f"Layer {layer + 1}, head {h + 1}" for h in range(heads)]
        names += [f"Layer {layer + 1}, mean of its heads", f"Rollout to layer {layer + 1}"]
        for weights, title in zip(rows, names, strict=True):
            cells.append(
                f'<button type="button" data-map="{len(maps)}" aria-label="{title}" title="{title}" '
                'aria-pressed="false"><canvas></canvas></button>'
            )
            maps.append(weights)
            titles.append(title)
    start, stop = view.subject
    asking = view.n_prompt - 1
    on_name = view.attention[:, :, asking, start:stop].sum(axis=-1)
    best_layer, best_head = divmod(int(on_name.argmax()), heads)
    # Roots in bytes: a weight of 0.004 still differs from 0, and a page of 32 heads stays small.
    packed = np.round(255 * np.sqrt(np.clip(np.stack(maps), 0, 1))).astype(np.uint8)
    data = {
        "symbols": view.symbols,
        "subject": view.subject,
        "prompt": view.n_prompt,
        "maps": titles,
        "weights": base64.b64encode(packed.tobytes()).decode(),
        "start": best_layer * (heads + 2) + best_head,
        "from": asking,
    }
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    columns = f"grid-template-columns: var(--names) repeat({heads + 2}, minmax(0, 4.4rem))"
    assert packed.shape[1:] == (width, width)
    return Markup(
        f'<div class="look-grid" style="{columns}">{"".join(cells)}</div>'
        '<h3 class="look-title" aria-live="polite"></h3><div class="strip pick" tabindex="0"></div>'
        '<p class="look-said"></p><figure class="chart"><div class="scroll" tabindex="0">'
        '<canvas class="look-map"></canvas></div>'
        "<figcaption>The chosen head in full: rows attend, columns are attended to; lines set off the name and "
        "the answer.</figcaption></figure><noscript><p>The maps of this section are drawn by JavaScript; the rest of "
        "the page is not.</p></noscript>"
        f'<script type="application/json" id="look-data">{text}</script>\n<script>{_resource("look.js")}</script>'
    )


def _strongest(view: Look) -> list[tuple[int | float, ...]]:
    start, stop = view.subject
    asking = view.n_prompt - 1
    weights = view.attention[:, :, asking]
    on_name = weights[:, :, start:stop].sum(axis=-1)
    on_mask = weights[:, :, asking]
    rest = weights[:, :, :asking].sum(axis=-1) - on_name
    order = np.argsort(-on_name, axis=None)[:STRONGEST]
    return [
        (int(layer) + 1, int(head) + 1, *(float(share[layer, head]) for share in (on_name, rest, on_mask)))
        for layer, head in zip(*np.unravel_index(order, on_name.shape), strict=True)
    ]


def _lens_intro(view: Look) -> str:
    told = [
        f"“{symbol}” from {_layer_name(layer)} on" if layer is not None else f"“{symbol}” never"
        for symbol, layer in zip(view.answer_symbols, view.lens.appears, strict=True)
    ]
    return (
        "The state after each block, read as if it were the last. A cell shows what the layer would say next and how "
        "sure it is; its colour is the probability of the character that was answered. Where each one settles: "
        f"{', '.join(told)}."
    )


def _layer_name(layer: int) -> str:
    return "the embedding" if layer == 0 else f"block {layer}"


def _lens(view: Look) -> Markup:
    lens = view.lens
    head = "".join(
        f'<th title="character {i + 1} of the answer">{_shown(s)}</th>' for i, s in enumerate(view.answer_symbols)
    )
    rows = []
    for layer in range(len(lens.best)):
        cells = []
        for position in range(len(view.answer_symbols)):
            right = float(lens.probability[layer, position])
            kind = "" if int(lens.rank[layer, position]) == 0 else " wrong"
            best = view.vocabulary[int(lens.best[layer, position])]
            cells.append(
                f'<td class="said{kind}" style="background:{faded(PALETTE[0], round(0.75 * right, 3))}" '
                f'title="the answered character has {right:.3f}, rank {int(lens.rank[layer, position]) + 1}">'
                f"<b>{_shown(best)}</b><span>{float(lens.best_probability[layer, position]):.2f}</span></td>"
            )
        rows.append(f'<tr><td class="layer">{_layer_name(layer)}</td>{"".join(cells)}</tr>')
    return Markup(
        '<figure class="table"><div class="scroll" tabindex="0"><table class="lens">'
        f'<thead><tr><th class="layer">answered</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
        "<figcaption>Bold: the layer already says what was answered. Each column is read with the true characters "
        "before it.</figcaption></figure>"
    )


def _trace_intro(view: Look) -> str:
    trace, first = view.trace, view.answer_symbols[0]
    told = (
        f"Causal tracing. The embeddings of the name's characters got noise of {NOISE:g} standard deviations, "
        f"{len(trace.corrupted)} times. The log-probability of the answer's first character, “{first}”, went from "
        f"{_number(trace.clean)} to {_number(float(trace.corrupted.mean()))}."
    )
    if trace.lost <= 0:
        return told + " It did not fall, so there is nothing to bring back."
    return (
        told + " Then states of one layer were put back as they were without noise, and the layers above were run "
        "again. The figures are the share of the loss that this brings back: 100 % is the answer as it was, 0 % no "
        "help."
    )


def _trace(view: Look) -> Markup:
    trace = view.trace
    if trace.lost <= 0:
        return Markup("")
    effects, errors = trace.effect(trace.restored_groups), trace.error(trace.restored_groups)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in trace.groups)
    rows = "".join(
        f'<tr><td class="layer">{_layer_name(layer)}</td>{"".join(map(_share, row, error))}</tr>'
        for layer, (row, error) in enumerate(zip(effects.tolist(), errors.tolist(), strict=True))
    )
    single = trace.effect(trace.restored)
    most = max(float(single.abs().max()), 1e-9)
    strips = "".join(_strip(view, layer, row, most) for layer, row in enumerate(single.tolist()))
    return Markup(
        '<figure class="table"><div class="scroll" tabindex="0"><table class="lens">'
        f'<thead><tr><th class="layer">states put back</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        "<figcaption>All states of a group at once, ± standard error over the draws of noise.</figcaption></figure>"
        f"<h3>One state at a time</h3><p>A character-level model spreads a name over many positions, so one state "
        f"brings back only a part. The strongest colour is {100 * most:.0f} %; orange is less than nothing: putting "
        f"the state back makes it worse.</p>{strips}"
    )


def _share(value: float, error: float) -> str:
    style = f"background:{_shade(value, 1.0)};white-space:nowrap"
    return f'<td class="said" style="{style}">{_number(100 * value, 0)} %<span> ± {100 * error:.0f}</span></td>'


def _number(value: float, digits: int = 2) -> str:
    """Rounded, with a true minus sign and no negative zero."""
    return f"{value:z.{digits}f}".replace("-", "−")


def _shade(value: float, most: float) -> str:
    return faded(PALETTE[0] if value >= 0 else PALETTE[1], round(0.85 * min(1.0, abs(value) / most), 3))


def _strip(view: Look, layer: int, effects: list[float], most: float) -> str:
    """The prompt, each character coloured by what its state alone brings back."""
    cells = []
    for position, (symbol, value) in enumerate(zip(view.symbols, effects, strict=False)):
        named = " name" if view.subject[0] <= position < view.subject[1] else ""
        kinds = f"c{' gap' if symbol == ' ' else ''}{named}"
        cells.append(
            f'<span class="{kinds}" style="background:{_shade(value, most)}" '
            f'title="{_shown(symbol)}: {100 * value:.0f} %">{_shown(symbol)}</span>'
        )
        if symbol == " ":  # the characters of a word stay on one line
            cells.append('</span><span class="together">')
    best = max(range(len(effects)), key=effects.__getitem__)
    where = f"most at “{_shown(view.symbols[best])}”, position {best + 1}: {100 * effects[best]:.0f} %"
    return (
        f'<p class="layer-name">{_layer_name(layer)}: {where}</p><div class="strip"><span class="together">'
        f"{''.join(cells)}</span></div>"
    )
