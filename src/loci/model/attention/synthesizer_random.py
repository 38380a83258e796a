"""The random synthesizer: one trained table of scores per head, the same for every text.

It scores positions only, never what they contain: how far position alone can take a model.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from loci.model.attention.base import refuse_rotation
from loci.model.attention.scored import ScoredAttention, scored_cost
from loci.model.attention.synthesizer import check_positions, n_positions
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost
from loci.model.positions import Positions
from loci.model.shapes import BT, BTC

TABLE_STD = 0.02


class RandomSynthesizerAttention(ScoredAttention):
    """A trained (H, P, P) table, started at random."""

    @classmethod
    def check(cls, config: GPTConfig) -> None:
        """No queries and keys to rotate."""
        check_positions(config)
        refuse_rotation(config, "synthesizer-random")

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """Scores come for nothing; the table has H·P² parameters."""
        return scored_cost(config, length) + Cost(parameters=config.n_head * n_positions(config) ** 2)

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.limit = n_positions(config)
        self.table = nn.Parameter(torch.empty(config.n_head, self.limit, self.limit))

    def initialise(self, generator: torch.Generator | None) -> None:
        """At random."""
        nn.init.normal_(self.table, 0.0, TABLE_STD, generator=generator)

    def scores(self, x: BTC, positions: BT, n_keys: int, cache: LayerCache | None) -> Float[Tensor, "b H T S"]:
        """The rows of the positions."""
        return self.table[:, positions, :n_keys].transpose(0, 1)
