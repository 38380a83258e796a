"""What the classes share that compute their scores explicitly: mask, softmax, weighted sum of the values.

A subclass gives the scores and nothing else. The values are remembered by generation; what else a class must
remember it stores itself.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from loci.model.attention.base import Attention, place_indices, value_mix_cost, visible_mask
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost, dropout, keep, linear, products, total
from loci.model.positions import Positions


class ScoredAttention(Attention):
    """softmax(scores) · values, whatever the scores come from."""

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.resid_drop = nn.Dropout(config.resid_pdrop)

    @abstractmethod
    def scores(
        self, x: Float[Tensor, "B T C"], places: Int[Tensor, "b T"], n_keys: int, cache: LayerCache | None
    ) -> Float[Tensor, "b2 H T S"]:
        """How much each character of `x`, standing at `places`, wants each of the `n_keys` places so far."""

    def forward(
        self,
        x: Float[Tensor, "B T C"],
        *,
        cache: LayerCache | None = None,
        trace: bool = False,
        values: Float[Tensor, "B T C"] | None = None,
    ) -> tuple[Float[Tensor, "B T C"], Float[Tensor, "B H T S"] | None]:
        """Score, mask, normalise, sum."""
        v = self.split_heads(self.with_embedded(self.value(x), values))
        if cache is not None:
            v = cache.extend("v", v)
        scores = self.scores(x, place_indices(x, cache), v.shape[2], cache)
        weights = scores.masked_fill(~visible_mask(x, cache), -torch.inf).softmax(-1)
        mixed = F.dropout(weights, self.dropout) @ v
        out: Tensor = self.resid_drop(self.proj(self.merge_heads(mixed)))
        return out, weights.expand(x.shape[0], -1, -1, -1) if trace else None


def scored_cost(config: GPTConfig, length: int) -> Cost:
    """The part that does not depend on where the scores come from. The ℓ×ℓ weights and their mask are kept."""
    d, pairs = config.n_embd, config.n_head * length * length
    return total(
        linear(length, d, d),
        keep(length * d),
        products(length, length, d),
        keep(pairs, flags=length * length),
        keep(2 * pairs) if config.attn_pdrop else Cost(),  # what dropout multiplied with, and its result
        linear(length, d, d),
        dropout(length * d, config.resid_pdrop),
        value_mix_cost(config, length),
        Cost(cached=length * d),
    )
