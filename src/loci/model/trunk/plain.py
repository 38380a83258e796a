"""The plain trunk: a column of equal blocks."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from loci.model.block import Block
from loci.model.cache import Clock, LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost
from loci.model.positions import Positions
from loci.model.shapes import BTC, Values
from loci.model.tap import Tap, inside
from loci.model.trunk.base import Trunk


class PlainTrunk(Trunk):
    """n_layer equal blocks, one after the other."""

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__()
        self.blocks = nn.ModuleList(Block(config, positions) for _ in range(config.n_layer))

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> list[tuple[str, Cost]]:
        """L equal blocks."""
        return [(f"block {index}", Block.cost(config, length)) for index in range(config.n_layer)]

    @property
    def limit(self) -> int | None:
        """The shortest limit of any layer."""
        return min((block.attn.limit for block in self.layers if block.attn.limit is not None), default=None)

    @property
    def layers(self) -> list[Block]:
        """The blocks, typed."""
        return [block for block in self.blocks if isinstance(block, Block)]

    def forward(
        self, x: BTC, *, cache: Sequence[LayerCache] | None = None, tap: Tap | None = None, values: Values = None
    ) -> BTC:
        """Run every block."""
        for index, block in enumerate(self.blocks):
            store = cache[index] if cache is not None else None
            x = block(x, cache=store, tap=inside(tap, f"blocks.{index}"), values=values)
        return x

    def make_cache(self, clock: Clock) -> list[LayerCache]:
        """Each block's attention makes its own."""
        return [block.attn.make_cache(clock) for block in self.layers]
