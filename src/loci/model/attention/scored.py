"""What classes with explicit scores share: mask, softmax, weighted sum of the values.

A subclass gives the scores and nothing else. The values are remembered by generation; what else a class must
remember it stores itself.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor, nn

from loci.model.attention.base import Attention, mix, positions_of, value_mix_cost, visible_mask
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost, dropout, keep, linear, products, total
from loci.model.positions import Positions
from loci.model.shapes import BT, BTC, Values
from loci.model.tap import Tap


class ScoredAttention(Attention):
    """softmax(scores) · values, whatever the scores come from."""

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.value = nn.Linear(config.n_embd, config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.resid_drop = nn.Dropout(config.resid_pdrop)

    @abstractmethod
    def scores(self, x: BTC, positions: BT, n_keys: int, cache: LayerCache | None) -> Float[Tensor, "b2 H T S"]:
        """The score of each of the `n_keys` positions so far for each character of `x`, which is at `positions`."""

    def forward(self, x: BTC, *, cache: LayerCache | None = None, tap: Tap | None = None, values: Values = None) -> BTC:
        """Score, mask, normalise, sum."""
        v = self.split_heads(self.with_embedded(self.value(x), values))
        if cache is not None:
            v = cache.extend("v", v)
        scores = self.scores(x, positions_of(x, cache), v.shape[2], cache)
        mixed = mix(scores.masked_fill(~visible_mask(x, cache), -torch.inf), v, dropout=self.dropout, tap=tap)
        out: Tensor = self.resid_drop(self.proj(self.merge_heads(mixed)))
        return out


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
