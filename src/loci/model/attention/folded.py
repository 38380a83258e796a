"""Folded query–key attention: one J×J matrix W̃ per head, trained directly; score = xᵀ W̃ y + u·y.

The product of the query and key projections is all that a score ever uses: W̃ = β W_Qᵀ W_K. J² parameters per head
against 2IJ, and no cap on the rank. u carries what a query bias does, (β W_Kᵀ b_Q)·y; a key bias adds the same to
every score of a row, which the softmax does not see. `loci.model.folding` converts weights both ways.
"""

from __future__ import annotations

from types import MappingProxyType

import torch
from jaxtyping import Float
from torch import Tensor, nn

from loci.errors import LociError
from loci.model.attention.base import ScoredAttention, scored_cost
from loci.model.cache import LayerCache
from loci.model.config import INIT_STD, GPTConfig
from loci.model.costing import Cost, keep, products, total
from loci.model.positions import POSITIONS, Positions
from loci.model.shapes import BT, BTC

#: W_QᵀW_K/√I of the published start has entries of this standard deviation.
FOLD_STD = INIT_STD**2


class FoldedAttention(ScoredAttention):
    """Scores from one matrix per head; generation remembers the layer's inputs instead of keys."""

    rates = MappingProxyType({"fold": FOLD_STD / INIT_STD})

    @classmethod
    def check(cls, config: GPTConfig) -> None:
        """Nothing may come between the two projections that are folded."""
        if POSITIONS[config.positions].rotates:
            raise LociError(
                f"folding needs queries and keys that meet unrotated, and {config.positions} positions rotate them",
                remedy="choose learned positions or none",
            )
        if config.qk_norm:
            raise LociError("folding needs queries and keys that meet as they are, and qk_norm scales each of them")
        if config.temperature is not None or config.learn_temperature or config.qk_width is not None:
            raise LociError(
                "folded attention has its temperature and its rank in W̃: leave temperature and qk_width out"
            )

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """H·J² parameters; ℓJ² per head to fold the query, ℓ²J to score."""
        d, heads = config.n_embd, config.n_head
        return total(
            scored_cost(config, length),
            Cost(parameters=heads * (d * d + d)),
            products(length, d, heads * d),
            keep(heads * length * d),  # the folded queries
            products(length, heads * d, length),
            Cost(cached=length * d),
        )

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.fold = nn.Parameter(torch.empty(config.n_head, config.n_embd, config.n_embd))
        self.pull = nn.Parameter(torch.zeros(config.n_head, config.n_embd))  # u

    def initialise(self, generator: torch.Generator | None) -> None:
        """As spread as the folded published start."""
        nn.init.normal_(self.fold, 0.0, FOLD_STD, generator=generator)

    def scores(self, x: BTC, positions: BT, n_keys: int, cache: LayerCache | None) -> Float[Tensor, "B H T S"]:
        """(xᵀW̃ + u)·y."""
        batch, length, width = x.shape
        every = x.reshape(1, -1, width).expand(self.n_head, -1, -1)
        folded = torch.bmm(every, self.fold).add_(self.pull[:, None]).view(-1, batch, length, width)  # (H, B, T, C)
        y = x if cache is None else cache.extend("y", x[:, None])[:, 0]
        # All heads score the same y: one product a text.
        scores = folded.transpose(0, 1).reshape(batch, -1, width) @ y.transpose(-2, -1)
        return scores.view(batch, self.n_head, length, -1)
