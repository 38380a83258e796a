"""What a variant costs, from formulas: parameters, FLOPs and bytes, layer by layer. Without a variant, all of them.

examples:
  loci cost                                        every variant at the course's sizes, side by side
  loci cost perceiver --length 2048                one variant, layer by layer
  loci cost rope --n-embd 128 --json               for scripts
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loci.model.cost import LayerCost


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
    from loci.cli.output import print_json, print_table
    from loci.model.config import GPTConfig
    from loci.model.cost import at_length, growth, model_cost
    from loci.model.variants import VARIANTS

    sizes = {"n_layer": n_layer, "n_head": n_head, "n_embd": n_embd, "bottleneck_dim": bottleneck_dim}
    drops = {"embd_pdrop": dropout, "attn_pdrop": dropout, "resid_pdrop": dropout}
    course = GPTConfig(vocab_size, **sizes, **drops)  # type: ignore[arg-type]  # names and kinds are those above
    names = list(VARIANTS) if variant is None else [variant]
    configs = {name: VARIANTS[name].apply(at_length(course, length)) for name in names}
    costs = {name: model_cost(config, length, batch) for name, config in configs.items()}
    size = f"{batch} × {length} characters"
    if json:
        rows = [{"variant": name, "config": configs[name], **costs[name].to_dict()} for name in names]
        print_json(rows if variant is None else rows[0])
    elif variant is None:
        body = []
        for name, config in configs.items():
            parameters, forward, _, _, kept, cache = _cells(costs[name].total)
            body.append((name, parameters, forward, kept, cache, f"{growth(config, length):.2f}"))
        note = f"{CAPTION} growth: exponent of the FLOPs between this length and its double, latents fixed."
        headers = ("variant", "parameters", "forward", "kept", "cache", "growth")
        print_table(headers, body, title=size, note=note, right=True)
    else:
        columns = ("layer", "parameters", "forward", "backward", "weights", "kept", "cache")
        layers = [(layer.name, *_cells(layer)) for layer in (*costs[variant].layers, costs[variant].total)]
        title = f"{variant} ({VARIANTS[variant].summary}): {size}"
        print_table(columns, layers, title=title, note=CAPTION, right=True)


CAPTION = (
    "forward: FLOPs of the matrix products; the backward pass has twice as many. kept: bytes that training keeps from "
    "the forward for the backward pass. cache: bytes that generation remembers."
)


def _cells(layer: LayerCost) -> list[str]:
    flops = (layer.forward_flops, layer.backward_flops)
    sizes = (layer.weight_bytes, layer.activation_bytes, layer.cache_bytes)
    return [f"{layer.parameters:,}", *map(_flops, flops), *map(_bytes, sizes)]


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
