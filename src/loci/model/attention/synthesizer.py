"""Synthesizers: each character scores the *positions* by itself, whatever they contain.

The tables cover block_size − 1 positions, since the course's inputs are one character shorter than the block.

- dense, as published: scores = relu(x·W1)·W2 + b2, no query–key product; W2 and b2 are shared by the heads;
- random: one trained table of scores per head, the same for every text: how far position alone can take a model;
- factorised: two short rows of scores, whose products cover all positions. A character gives a scores and b scores with
  a·b ≥ block_size − 1; position s gets A[s ÷ b]·B[s mod b]. W2 shrinks from D×P to D×(a + b), about D×2√P;
- mixed: softmax(α₁·dense + α₂·β q·k), α₁ + α₂ = 1, α trained: the mixture of the Synthesizer paper, where it beats
  either alone.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from loci.errors import LociError
from loci.model.attention.base import ScoredAttention, Temperature, scored_cost
from loci.model.attention.dot import query_key_cost
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost, keep, linear_cost, products, total
from loci.model.kernels import Linear, linear
from loci.model.positions import POSITIONS, Positions
from loci.model.shapes import BT, BTC

#: W2 starts uniform within ± this: attention starts almost even.
W2_START = 0.001
TABLE_STD = FACTOR_STD = 0.02


def n_positions(config: GPTConfig) -> int:
    """How many positions a synthesizer has scores for."""
    return config.block_size - 1


def factor_sizes(positions: int) -> tuple[int, int]:
    """The most even (a, b) with a·b ≥ positions."""
    a = math.isqrt(positions - 1) + 1
    return a, -(-positions // a)


class PositionScores(ScoredAttention):
    """What the synthesizers share: scores for the positions of one block, and the dense way to them."""

    #: Whether there are queries and keys, which rotary positions need.
    rotatable = False
    w1: Linear
    w2: nn.Parameter
    b2: nn.Parameter

    @classmethod
    def check(cls, config: GPTConfig) -> None:
        """A position to score, and nothing to rotate."""
        if n_positions(config) < 1:
            raise LociError(
                f"a synthesizer scores block_size − 1 positions, and block_size is {config.block_size}",
                remedy="choose block_size at least 2",
            )
        if POSITIONS[config.positions].rotates and not cls.rotatable:
            raise LociError(
                f"{config.positions} positions rotate queries and keys, and {config.attention} attention has none",
                remedy="choose learned positions or none",
            )

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.limit = n_positions(config)

    def add_dense(self, config: GPTConfig) -> None:
        """The weights of dense scores."""
        self.w1 = Linear(config.n_embd, config.n_embd)
        self.w2 = nn.Parameter(torch.empty(config.head_width, n_positions(config)))
        self.b2 = nn.Parameter(torch.zeros(n_positions(config)))

    def dense_scores(self, x: BTC, n_keys: int) -> Float[Tensor, "B H T S"]:
        """relu(x·W1)·W2 + b2 over the first `n_keys` positions: only the columns that exist so far are computed."""
        return linear(self.hidden(x), self.w2[:, :n_keys].t(), self.b2[:n_keys]).transpose(1, 2)

    def hidden(self, x: BTC) -> Float[Tensor, "B T H D"]:
        """relu(x·W1), cut into heads."""
        return F.relu(self.w1(x)).view(*x.shape[:2], self.n_head, -1)


def hidden_cost(config: GPTConfig, length: int) -> Cost:
    """relu(x·W1); x itself is kept by the value projection."""
    d = config.n_embd
    return linear_cost(length, d, d, keeps_input=False) + keep(length * d)


def dense_cost(config: GPTConfig, length: int) -> Cost:
    """Making the dense scores."""
    weights = Cost(parameters=(config.head_width + 1) * n_positions(config))
    return total(hidden_cost(config, length), weights, products(length, config.n_embd, length))


class SynthesizerAttention(PositionScores):
    """Dense synthesizer."""

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """ℓ²d as with a dot product, but no keys to make or to remember."""
        return total(scored_cost(config, length), dense_cost(config, length))

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.add_dense(config)

    def initialise(self, generator: torch.Generator | None) -> None:
        """The published start."""
        nn.init.uniform_(self.w2, -W2_START, W2_START, generator=generator)

    def scores(self, x: BTC, positions: BT, n_keys: int, cache: LayerCache | None) -> Float[Tensor, "B H T S"]:
        """Of each character by itself."""
        return self.dense_scores(x, n_keys)


class RandomSynthesizerAttention(PositionScores):
    """A trained (H, P, P) table, started at random."""

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """Scores come for nothing; the table has H·P² parameters."""
        return scored_cost(config, length) + Cost(parameters=config.n_head * n_positions(config) ** 2)

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.table = nn.Parameter(torch.empty(config.n_head, n_positions(config), n_positions(config)))

    def initialise(self, generator: torch.Generator | None) -> None:
        """At random."""
        nn.init.normal_(self.table, 0.0, TABLE_STD, generator=generator)

    def scores(self, x: BTC, positions: BT, n_keys: int, cache: LayerCache | None) -> Float[Tensor, "b H T S"]:
        """The rows of the positions."""
        return self.table[:, positions, :n_keys].transpose(0, 1)


class FactorisedSynthesizerAttention(PositionScores):
    """Dense synthesizer with factorised scores; the factors' weights are shared by the heads, as in the dense form."""

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """Scores cost ℓ·d·(a + b) and one multiplication per pair of positions."""
        both = sum(factor_sizes(n_positions(config)))
        return total(
            scored_cost(config, length),
            hidden_cost(config, length),
            Cost(parameters=(config.head_width + 1) * both),
            products(length, config.n_embd, both),
            keep(2 * config.n_head * length * length),  # the factors, spread over the positions
        )

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        a, b = factor_sizes(n_positions(config))
        self.w1 = Linear(config.n_embd, config.n_embd)
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
        hidden = self.hidden(x)
        a, b = (
            linear(hidden, weight.t(), bias).transpose(1, 2)
            for weight, bias in ((self.wa, self.ba), (self.wb, self.bb))
        )
        position = torch.arange(n_keys, device=x.device)
        return a[..., position // b.shape[-1]] * b[..., position % b.shape[-1]]


class MixedSynthesizerAttention(PositionScores):
    """What the dense synthesizer and dot-product attention say, weighed by two trained numbers."""

    rotatable = True

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """Both together."""
        d, heads, meet = config.n_embd, config.n_head, config.n_head * config.query_width
        return total(
            scored_cost(config, length),
            dense_cost(config, length),
            linear_cost(length, d, 2 * meet, keeps_input=False),
            keep(2 * length * meet),
            query_key_cost(config, length, length),
            products(length, meet, length),
            Cost(parameters=2) + keep(2 * heads * length * length),  # both scores, for the gradient of their weights
            Cost(cached=length * meet),
        )

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.qk = Linear(config.n_embd, 2 * config.n_head * config.query_width)
        self.temperature = Temperature(config, width=config.query_width, heads=config.n_head)
        self.add_dense(config)
        self.mix = nn.Parameter(torch.zeros(2))  # α = softmax(mix): dense, dot

    def initialise(self, generator: torch.Generator | None) -> None:
        """The dense half's published start; α starts even."""
        nn.init.uniform_(self.w2, -W2_START, W2_START, generator=generator)

    def scores(self, x: BTC, positions: BT, n_keys: int, cache: LayerCache | None) -> Float[Tensor, "B H T S"]:
        """α₁·dense + α₂·β q·k."""
        q, k = (self.placed(part, positions) for part in self.qk(x).chunk(2, dim=-1))
        if cache is not None:
            k = cache.extend("k", k)
        q, scale = self.temperature(q)
        share = self.mix.softmax(0)
        dot: Tensor = q @ k.transpose(-2, -1) * scale
        return share[0] * self.dense_scores(x, n_keys) + share[1] * dot
