"""The dense synthesizer as published: scores = relu(x·W1)·W2 + b2, no query–key product.

Each character scores the *positions* by itself, whatever they contain. W2 and b2 are shared by the heads and cover
block_size − 1 positions, since the course's inputs are one character shorter than the block.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from loci.errors import LociError
from loci.model.attention.base import refuse_rotation
from loci.model.attention.scored import ScoredAttention, scored_cost
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost, keep, linear, products, total
from loci.model.positions import Positions
from loci.model.shapes import BHTD, BT, BTC

#: W2 starts uniform within ± this: attention starts almost even.
W2_START = 0.001


def n_positions(config: GPTConfig) -> int:
    """How many positions a synthesizer has scores for."""
    return config.block_size - 1


def check_positions(config: GPTConfig) -> None:
    """A synthesizer needs a position to score."""
    if n_positions(config) < 1:
        raise LociError(
            f"a synthesizer scores block_size − 1 positions, and block_size is {config.block_size}",
            remedy="choose block_size at least 2",
        )


class SynthesizerAttention(ScoredAttention):
    """Dense synthesizer."""

    @classmethod
    def check(cls, config: GPTConfig) -> None:
        """No queries and keys to rotate."""
        check_positions(config)
        refuse_rotation(config, "synthesizer")

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """ℓ²d as with a dot product, but no keys to make or to remember."""
        return total(scored_cost(config, length), dense_cost(config, length))

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.limit = n_positions(config)
        self.w1 = nn.Linear(config.n_embd, config.n_embd)
        self.w2 = nn.Parameter(torch.empty(config.head_width, self.limit))
        self.b2 = nn.Parameter(torch.zeros(self.limit))

    def initialise(self, generator: torch.Generator | None) -> None:
        """The published start."""
        nn.init.uniform_(self.w2, -W2_START, W2_START, generator=generator)

    def scores(self, x: BTC, positions: BT, n_keys: int, cache: LayerCache | None) -> Float[Tensor, "B H T S"]:
        """Only the columns that exist so far are computed."""
        return dense_scores(self.split_heads(F.relu(self.w1(x))), self.w2, self.b2, n_keys)


def dense_scores(
    hidden: BHTD, w2: Float[Tensor, "D P"], b2: Float[Tensor, "P"], n_keys: int
) -> Float[Tensor, "B H T S"]:
    """hidden·W2 + b2 over the first `n_keys` positions."""
    return hidden @ w2[:, :n_keys] + b2[:n_keys]


def hidden_cost(config: GPTConfig, length: int) -> Cost:
    """relu(x·W1) and its copy with the heads apart; x itself is kept by the value projection."""
    d = config.n_embd
    return linear(length, d, d, keeps_input=False) + keep(2 * length * d)


def dense_cost(config: GPTConfig, length: int) -> Cost:
    """Making the scores."""
    positions = n_positions(config)
    weights = Cost(parameters=(config.head_width + 1) * positions)
    return total(hidden_cost(config, length), weights, products(length, config.n_embd, length))
