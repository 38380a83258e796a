"""The factorised dense synthesizer: two short rows of scores, whose products cover all positions.

A character gives a scores and b scores with a·b ≥ block_size − 1; position s gets A[s ÷ b]·B[s mod b]. The table W2 of
the dense form shrinks from D×P to D×(a + b), about D×2√P.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from loci.model.attention.base import refuse_rotation
from loci.model.attention.scored import ScoredAttention, scored_cost
from loci.model.attention.synthesizer import check_positions, hidden_cost, n_positions
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost, keep, products, total
from loci.model.positions import Positions
from loci.model.shapes import BT, BTC

FACTOR_STD = 0.02


def factor_sizes(positions: int) -> tuple[int, int]:
    """The most even (a, b) with a·b ≥ positions."""
    a = math.isqrt(positions - 1) + 1
    return a, -(-positions // a)


class FactorisedSynthesizerAttention(ScoredAttention):
    """Dense synthesizer with factorised scores; the factors' weights are shared by the heads, as in the dense form."""

    @classmethod
    def check(cls, config: GPTConfig) -> None:
        """No queries and keys to rotate."""
        check_positions(config)
        refuse_rotation(config, "synthesizer-factorised")

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """Scores cost ℓ·d·(a + b) and one multiplication per pair of positions."""
        both = sum(factor_sizes(n_positions(config)))
        return total(
            scored_cost(config, length),
            hidden_cost(config, length),
            keep(length * config.n_embd),  # a second copy: each factor takes its own
            Cost(parameters=(config.head_width + 1) * both),
            products(length, config.n_embd, both),
            keep(2 * config.n_head * length * length),  # the factors, spread over the positions
        )

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.limit = n_positions(config)
        a, b = factor_sizes(self.limit)
        self.w1 = nn.Linear(config.n_embd, config.n_embd)
        self.wa = nn.Parameter(torch.empty(config.head_width, a))
        self.ba = nn.Parameter(torch.zeros(a))
        self.wb = nn.Parameter(torch.empty(config.head_width, b))
        # From one and not from zero: where both factors are about zero, neither gets a gradient.
        self.bb = nn.Parameter(torch.ones(b))

    def initialise(self, generator: torch.Generator | None) -> None:
        """Small factors around A = 0, B = 1."""
        for weight in (self.wa, self.wb):
            nn.init.normal_(weight, 0.0, FACTOR_STD, generator=generator)

    def scores(self, x: BTC, positions: BT, n_keys: int, cache: LayerCache | None) -> Float[Tensor, "B H T S"]:
        """A[s ÷ b] · B[s mod b]."""
        hidden = self.split_heads(F.relu(self.w1(x)))
        a, b = hidden @ self.wa + self.ba, hidden @ self.wb + self.bb
        position = torch.arange(n_keys, device=x.device)
        return a[..., position // b.shape[-1]] * b[..., position % b.shape[-1]]
