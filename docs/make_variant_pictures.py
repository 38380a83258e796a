"""Write docs/guide/variants/NAME.svg: what an untrained model of each variant lets every character see.

Rows are the characters that look, columns those looked at, the darker the more weight: the mean over heads and layers
of a small seeded model. Run by hand when a variant is added; a test asks that every variant has a picture.
"""

from __future__ import annotations

from pathlib import Path

import torch

from loci.model import GPT, VARIANTS, GPTConfig
from loci.model.activations import run_with_activations

FOLDER = Path(__file__).with_name("guide") / "variants"
LENGTH, CELL = 24, 8


def pattern(variant: str) -> torch.Tensor:
    """(T, T): the mean attention of the layers from characters to characters, or to latents."""
    sizes = {"block_size": LENGTH + 1, "n_layer": 3, "n_head": 2, "n_embd": 32, "bottleneck_dim": 6, "local_window": 4}
    config = VARIANTS[variant].apply(GPTConfig(20, **sizes))
    generator = torch.Generator().manual_seed(0)
    model = GPT(config, generator=generator).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.15 * torch.randn(parameter.shape, generator=generator))
    ids = torch.randint(2, 20, (1, LENGTH), generator=generator)
    _, found = run_with_activations(model, ids, ["*.attn.pattern"])
    square = [value[0].mean(0) for value in found.values() if value.shape[-2] == value.shape[-1] == LENGTH]
    return torch.stack(square).mean(0) if square else next(iter(found.values()))[0].mean(0)


def svg(weights: torch.Tensor, variant: str) -> str:
    """The weights as cells, each row by its own largest: later characters spread theirs over more."""
    rows, columns = weights.shape
    cells = [
        f'<rect x="{column * CELL}" y="{row * CELL}" width="{CELL}" height="{CELL}" fill-opacity="{value:.2f}"/>'
        for row in range(rows)
        for column in range(columns)
        if (value := float(weights[row, column] / weights[row].max())) > 0.01
    ]
    width, height = columns * CELL, rows * CELL
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img"><title>Attention of {variant}</title>'
        f'<rect width="{width}" height="{height}" fill="#f4f4f4"/><g fill="#1f4e8c">{"".join(cells)}</g></svg>\n'
    )


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in VARIANTS:
        (FOLDER / f"{name}.svg").write_text(svg(pattern(name), name), encoding="utf-8")
    print(f"wrote {len(VARIANTS)} pictures")
