"""What a variant costs, from formulas: parameters, FLOPs and bytes, layer by layer. Without a variant, all of them.

examples:
  loci cost                                        every variant at the course's sizes, side by side
  loci cost perceiver --length 2048                one variant, layer by layer
  loci cost rope --n-embd 128 --json               for scripts
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from loci.model.config import GPTConfig
    from loci.model.cost import LayerCost, ModelCost


def cost(
    variant: str | None = None,
    /,
    *,
    length: int = 127,
    batch: int = 1,
    vocab_size: int = 256,
    n_layer: int = 4,
    n_head: int = 8,
    n_embd: int = 256,
    bottleneck_dim: int = 64,
    dropout: float = 0.1,
    json: bool = False,
) -> None:
    """Parameters, FLOPs and bytes of a variant.

    Args:
        variant: Which variant; all of them when left out.
        length: How many characters a sequence has. The block is at least one longer, and at least the course's 128.
        batch: How many sequences at once.
        vocab_size: How many symbols, pad and mask included.
        n_layer: How many layers.
        n_head: How many heads.
        n_embd: Width of the residual stream.
        bottleneck_dim: How many latents the perceivers have.
        dropout: Share dropped in training; with 0 the fused attention keeps no length × length matrix.
        json: Print JSON instead of a table.
    """
    from loci.errors import LociError
    from loci.model.config import GPTConfig
    from loci.model.cost import at_length, growth, model_cost
    from loci.model.variants import VARIANTS

    for name, value in (("length", length), ("batch", batch)):
        if value < 1:
            raise LociError(f"--{name} must be at least 1, it is {value}")
    course = GPTConfig(
        vocab_size=vocab_size,
        n_layer=n_layer,
        n_head=n_head,
        n_embd=n_embd,
        bottleneck_dim=bottleneck_dim,
        embd_pdrop=dropout,
        attn_pdrop=dropout,
        resid_pdrop=dropout,
    )
    names = list(VARIANTS) if variant is None else [variant]
    configs: dict[str, GPTConfig] = {name: VARIANTS[name].apply(at_length(course, length)) for name in names}
    costs = {name: model_cost(config, length, batch) for name, config in configs.items()}
    if json:
        _print_json(configs, costs)
        return
    from rich.console import Console

    if variant is None:
        table = _comparison(costs, {name: growth(config, length) for name, config in configs.items()})
    else:
        table = _layers(variant, VARIANTS[variant].summary, costs[variant])
    Console(highlight=False).print(table)


def _print_json(configs: dict[str, GPTConfig], costs: dict[str, ModelCost]) -> None:
    import json

    rows = [{"variant": name, "config": configs[name].to_dict(), **costs[name].to_dict()} for name in costs]
    print(json.dumps(rows[0] if len(rows) == 1 else rows, indent=2))


def _table(title: str, caption: str, first: str, *columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, caption=caption, box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.title_justify = table.caption_justify = "left"
    table.add_column(first, no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _row(layer: LayerCost) -> list[str]:
    flops = (layer.forward_flops, layer.backward_flops)
    sizes = (layer.weight_bytes, layer.activation_bytes, layer.cache_bytes)
    return [f"{layer.parameters:,}", *map(_flops, flops), *map(_bytes, sizes)]


CAPTION = (
    "forward: FLOPs of the matrix products; the backward pass has twice as many. kept: bytes that training keeps from "
    "the forward for the backward pass. cache: bytes that generation remembers."
)


def _layers(variant: str, summary: str, costs: ModelCost) -> Table:
    table = _table(
        f"{variant} ({summary}): {costs.batch} × {costs.length} characters",
        CAPTION,
        "layer",
        "parameters",
        "forward",
        "backward",
        "weights",
        "kept",
        "cache",
    )
    for layer in costs.layers:
        table.add_row(layer.name, *_row(layer))
    table.add_section()
    table.add_row("total", *_row(costs.total), style="bold")
    return table


def _comparison(costs: dict[str, ModelCost], exponents: dict[str, float]) -> Table:
    some = next(iter(costs.values()))
    caption = f"{CAPTION} growth: exponent of the FLOPs between this length and its double, latents fixed."
    title = f"{some.batch} × {some.length} characters"
    table = _table(title, caption, "variant", "parameters", "forward", "kept", "cache", "growth")
    for name, cost in costs.items():
        parameters, forward, _, _, kept, cache = _row(cost.total)
        table.add_row(name, parameters, forward, kept, cache, f"{exponents[name]:.2f}")
    return table


def _flops(count: int) -> str:
    return _scaled(count, ("", "k", "M", "G", "T"))


def _bytes(count: int) -> str:
    return _scaled(count, ("B", "kB", "MB", "GB", "TB"))


def _scaled(count: float, units: tuple[str, ...]) -> str:
    """Three digits and a unit; what would round up to 1000 takes the next unit."""
    for unit in units[:-1]:
        if count < 999.5:
            return f"{count:.3g} {unit}".strip()
        count /= 1000
    return f"{count:.3g} {units[-1]}"
