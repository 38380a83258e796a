"""A variant as a newcomer would write it: one file. Weights halve with each character back."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from loci.model.attention import Attention
from loci.model.attention.base import place_indices, visible_mask
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost, linear
from loci.model.positions import Positions


class DecayAttention(Attention):
    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        return linear(length, config.n_embd, config.n_embd)

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.value = nn.Linear(config.n_embd, config.n_embd)

    def forward(
        self, x: Float[Tensor, "B T C"], *, cache: LayerCache | None = None, trace: bool = False
    ) -> tuple[Float[Tensor, "B T C"], Float[Tensor, "B H T S"] | None]:
        v = self.split_heads(self.value(x))
        if cache is not None:
            v = cache.extend("v", v)
        back = torch.arange(v.shape[2]) - place_indices(x, cache)[:, None, :, None]
        weights = back.to(x.dtype).masked_fill(~visible_mask(x, cache), -torch.inf).softmax(-1)
        weights = weights.expand(x.shape[0], self.n_head, -1, -1)
        return self.merge_heads(weights @ v), weights if trace else None


class LeakyAttention(DecayAttention):
    """What the contract must catch: it reads the next character."""

    def forward(
        self, x: Float[Tensor, "B T C"], *, cache: LayerCache | None = None, trace: bool = False
    ) -> tuple[Float[Tensor, "B T C"], Float[Tensor, "B H T S"] | None]:
        return super().forward(x.roll(-1, dims=1), cache=cache, trace=trace)


class ShortAttention(DecayAttention):
    """What the contract must catch: it reads its own character only."""

    def forward(
        self, x: Float[Tensor, "B T C"], *, cache: LayerCache | None = None, trace: bool = False
    ) -> tuple[Float[Tensor, "B T C"], Float[Tensor, "B H T S"] | None]:
        return self.value(x), None
