"""Choosing the next id of every row of a batch: the sampler with what it needs to remember.

A `Chooser` keeps the ids that each row has seen and its uniform numbers. Knows nothing of
models: logits come in, ids go out.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from loci.errors import LociError
from loci.generation.sampling import Sampler


def draw_uniforms(
    rows: int, steps: int, sampler: Sampler, generator: torch.Generator | None
) -> Float[Tensor, "B steps"] | None:
    """One number in [0, 1) for each row and step, or None when nothing is left to chance."""
    if sampler.greedy:
        return None
    if generator is None:
        raise LociError("sampling needs a generator", remedy="pass torch.Generator().manual_seed(…), or temperature 0")
    return torch.rand(rows, steps, dtype=torch.float64, generator=generator)


class Chooser:
    """Rows that choose one id per step; rows may leave."""

    def __init__(
        self,
        prompts: Sequence[Int[Tensor, "T"]],
        vocab_size: int,
        *,
        sampler: Sampler,
        uniforms: Float[Tensor, "B steps"] | None = None,
    ):
        self.sampler = sampler
        self.uniforms = uniforms
        self.step = 0
        self.seen: Tensor | None = None
        if sampler.needs_history:
            self.seen = torch.zeros(len(prompts), vocab_size, dtype=torch.bool)
            for row, prompt in enumerate(prompts):
                self.seen[row, prompt] = True

    def choose(self, logits: Float[Tensor, "B V"]) -> Int[Tensor, "B"]:
        """The next id of each row."""
        uniform = self.uniforms[:, self.step] if self.uniforms is not None else None
        ids = self.sampler.choose(logits, uniform, self.seen)
        self.step += 1
        if self.seen is not None:
            self.seen[torch.arange(len(ids)), ids] = True
        return ids

    def select(self, rows: Int[Tensor, "b"]) -> None:
        """Keep these rows."""
        self.uniforms, self.seen = (part[rows] if part is not None else None for part in (self.uniforms, self.seen))
