"""Tiny models with wide-spread logits, in double precision: cached and uncached runs agree to the last id."""

from __future__ import annotations

from typing import Any

import torch

from loci.model import GPT, VARIANTS, GPTConfig

VOCAB_SIZE = 11
STOP = 1


def tiny(variant: str = "vanilla", *, seed: int = 0, spread: float = 8.0, **changes: Any) -> GPT:
    sizes: dict[str, Any] = {"block_size": 24, "n_head": 2, "n_embd": 16, "bottleneck_dim": 4}
    sizes["n_layer"] = 3 if variant.startswith("perceiver") else 2  # a perceiver's inner blocks are what lies between
    config = VARIANTS[variant].apply(GPTConfig(vocab_size=VOCAB_SIZE, **{**sizes, **changes}))
    generator = torch.Generator().manual_seed(seed)
    model = GPT(config, generator=generator).double()
    with torch.no_grad():
        for parameter in model.parameters():  # trained weights are never as small and alike as at the start
            parameter.copy_(parameter * spread + 0.02 * torch.randn(parameter.shape, generator=generator).double())
    return model


def prompts(lengths: tuple[int, ...] = (3, 1, 9, 3, 6), seed: int = 0) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    rows = [torch.randint(2, VOCAB_SIZE, (length,), generator=generator).tolist() for length in lengths]
    return [*rows, rows[0]]  # one prompt twice


def log_softmax_after(model: GPT, ids: list[int]) -> torch.Tensor:
    with torch.no_grad():
        return model.eval()(torch.tensor([ids])).logits[0, -1].log_softmax(-1)


def log_probability(model: GPT, prompt: list[int], answer: list[int]) -> float:
    """Teacher forcing, without a cache."""
    with torch.no_grad():
        log_p = model.eval()(torch.tensor([[*prompt, *answer[:-1]]])).logits[0].log_softmax(-1)
    return sum(float(log_p[len(prompt) - 1 + n, index]) for n, index in enumerate(answer))
