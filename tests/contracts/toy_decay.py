"""A variant as a newcomer would write it: one file. Weights halve with each character back."""

from __future__ import annotations

import torch
from torch import nn

from loci.model.attention import Attention
from loci.model.attention.base import mix, positions_of, visible_mask
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost, linear_cost
from loci.model.positions import Positions
from loci.model.shapes import BTC
from loci.model.tap import Tap


class DecayAttention(Attention):
    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        return linear_cost(length, config.n_embd, config.n_embd)

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.value = nn.Linear(config.n_embd, config.n_embd)

    def forward(
        self,
        x: BTC,
        *,
        cache: LayerCache | None = None,
        tap: Tap | None = None,
        values: BTC | None = None,
    ) -> BTC:
        v = self.split_heads(self.value(x))
        if cache is not None:
            v = cache.extend("v", v)
        back = torch.arange(v.shape[2]) - positions_of(x, cache)[:, None, :, None]
        scores = back.to(x.dtype).masked_fill(~visible_mask(x, cache), -torch.inf).expand(-1, self.n_head, -1, -1)
        return self.merge_heads(mix(scores, v, dropout=self.dropout, tap=tap))


class LeakyAttention(DecayAttention):
    """What the contract must catch: it reads the next character."""

    def forward(
        self,
        x: BTC,
        *,
        cache: LayerCache | None = None,
        tap: Tap | None = None,
        values: BTC | None = None,
    ) -> BTC:
        return super().forward(x.roll(-1, dims=1), cache=cache, tap=tap)


class ShortAttention(DecayAttention):
    """What the contract must catch: it reads its own character only."""

    def forward(
        self,
        x: BTC,
        *,
        cache: LayerCache | None = None,
        tap: Tap | None = None,
        values: BTC | None = None,
    ) -> BTC:
        return self.value(x)


class DeafAttention(DecayAttention):
    """What the contract must catch: it shows its weights and does not use what comes back."""

    def forward(
        self,
        x: BTC,
        *,
        cache: LayerCache | None = None,
        tap: Tap | None = None,
        values: BTC | None = None,
    ) -> BTC:
        super().forward(x, cache=cache, tap=tap)
        return super().forward(x, cache=cache)
