"""The contract every attention class honours.

`forward(x, *, cache=None, trace=False) -> (out, weights | None)`: causal mixing of positions, weights returned only when a
trace is asked for, each row summing to 1. A class makes its own cache layer. Shapes: B batch, T queries, S keys, C channels,
H heads, D channels a head.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from loci.model.cache import Clock, LayerCache
from loci.model.config import GPTConfig
from loci.model.positions import Positions


class Attention(nn.Module):
    """What is common: sizes, the value path back into the residual stream, the causal mask."""

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__()
        self.n_head = config.n_head
        self.head_width = config.head_width
        self.attn_pdrop = config.attn_pdrop
        # Shared by all layers and without parameters of its own here, so it is no submodule (state dicts name it once).
        self._positions = (positions,)

    @property
    def positions(self) -> Positions:
        """The model's position class."""
        return self._positions[0]

    @abstractmethod
    def forward(
        self, x: Float[Tensor, "B T C"], *, cache: LayerCache | None = None, trace: bool = False
    ) -> tuple[Float[Tensor, "B T C"], Float[Tensor, "B H T S"] | None]:
        """Mix the positions of `x` causally."""

    def make_cache(self, clock: Clock) -> LayerCache:
        """An empty store for this layer."""
        return LayerCache(clock)

    def split_heads(self, x: Float[Tensor, "B T C"]) -> Float[Tensor, "B H T D"]:
        """(B, T, H·D) → (B, H, T, D)."""
        batch, width, _ = x.shape
        return x.view(batch, width, self.n_head, -1).transpose(1, 2)

    def merge_heads(self, x: Float[Tensor, "B H T D"]) -> Float[Tensor, "B T C"]:
        """(B, H, T, D) → (B, T, H·D)."""
        batch, _, width, _ = x.shape
        return x.transpose(1, 2).reshape(batch, width, -1)


def causal_mask(width: int, device: torch.device) -> Bool[Tensor, "1 1 T T"]:
    """True where a query may look: its own place and the ones before."""
    return torch.ones(width, width, dtype=torch.bool, device=device).tril()[None, None]


def place_indices(x: Float[Tensor, "B T C"], cache: LayerCache | None) -> Tensor:
    """The place of each character of `x`: (1, T) or (B, T)."""
    if cache is None:
        return torch.arange(x.shape[1], device=x.device)[None]
    return cache.clock.positions(x.shape[1])


def visible_mask(x: Float[Tensor, "B T C"], cache: LayerCache | None) -> Bool[Tensor, "b 1 T S"]:
    """Where each character of `x` may look, with or without a past."""
    return causal_mask(x.shape[1], x.device) if cache is None else cache.clock.visible(x.shape[1])
