"""Dense synthesizer and dot product in one softmax: softmax(α₁·dense + α₂·β q·k), α₁ + α₂ = 1, α trained.

The mixture of the Synthesizer paper, where it beats either alone.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from loci.model.attention.dot import normalise, query_key_cost
from loci.model.attention.scored import ScoredAttention, scored_cost
from loci.model.attention.synthesizer import W2_START, check_positions, dense_cost, dense_scores, n_positions
from loci.model.attention.temperature import Temperature
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost, keep, linear, products, total
from loci.model.positions import Positions
from loci.model.shapes import BT, BTC


class MixedSynthesizerAttention(ScoredAttention):
    """What the dense synthesizer and dot-product attention say, weighed by two trained numbers."""

    @classmethod
    def check(cls, config: GPTConfig) -> None:
        """The dense half scores positions."""
        check_positions(config)

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """Both together."""
        d, heads, meet = config.n_embd, config.n_head, config.n_head * config.query_width
        return total(
            scored_cost(config, length),
            dense_cost(config, length),
            linear(length, d, 2 * meet, keeps_input=False),
            keep(2 * length * meet),
            query_key_cost(config, length, length),
            products(length, meet, length),
            Cost(parameters=2) + keep(2 * heads * length * length),  # both scores, for the gradient of their weights
            Cost(cached=length * meet),
        )

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.limit = n_positions(config)
        self.qk = nn.Linear(config.n_embd, 2 * config.n_head * config.query_width)
        self.qk_norm = config.qk_norm
        self.temperature = Temperature(config, width=config.query_width, heads=config.n_head)
        self.w1 = nn.Linear(config.n_embd, config.n_embd)
        self.w2 = nn.Parameter(torch.empty(config.head_width, self.limit))
        self.b2 = nn.Parameter(torch.zeros(self.limit))
        self.mix = nn.Parameter(torch.zeros(2))  # α = softmax(mix): dense, dot

    def initialise(self, generator: torch.Generator | None) -> None:
        """The dense half's published start; α starts even."""
        nn.init.uniform_(self.w2, -W2_START, W2_START, generator=generator)

    def scores(self, x: BTC, positions: BT, n_keys: int, cache: LayerCache | None) -> Float[Tensor, "B H T S"]:
        """α₁·dense + α₂·β q·k."""
        dense = dense_scores(self.split_heads(F.relu(self.w1(x))), self.w2, self.b2, n_keys)
        q, k = (self.split_heads(part) for part in self.qk(x).chunk(2, dim=-1))
        if self.qk_norm:
            q, k = normalise(q), normalise(k)
        q, k = self.positions.rotate(q, positions), self.positions.rotate(k, positions)
        if cache is not None:
            k = cache.extend("k", k)
        q, scale = self.temperature(q)
        share = self.mix.softmax(0)
        dot: Tensor = q @ k.transpose(-2, -1) * scale
        return share[0] * dense + share[1] * dot
