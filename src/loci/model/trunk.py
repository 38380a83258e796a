"""Third axis: how blocks are stacked between the embedding and the head.

A trunk maps (B, T, C) to (B, T, C) causally and returns each layer's attention weights when a trace is asked for.
The plain trunk is a column of blocks. Knows nothing of embeddings or logits.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor, nn

from loci.model.block import Block
from loci.model.cache import Clock, LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost
from loci.model.positions import Positions
from loci.model.registry import Registry

#: Attention weights of every layer, first to last, as returned on request.
Trace = tuple[Tensor, ...]


class Trunk(nn.Module):
    """What every trunk offers."""

    #: Whether generation may feed one character at a time and remember the rest.
    cacheable = True
    #: Whether a trace can be asked for while a cache is in use.
    traces_with_cache = True

    @classmethod
    def check(cls, config: GPTConfig) -> None:
        """Refuse sizes that the trunk cannot work with, in one line."""

    @classmethod
    @abstractmethod
    def cost(cls, config: GPTConfig, length: int) -> list[tuple[str, Cost]]:
        """Each layer's name and cost on one sequence of `length` characters."""

    @classmethod
    def blind_after(cls, config: GPTConfig) -> int | None:
        """How many characters from the start reach a later position; None when all do, as they should."""
        return None

    @property
    def limit(self) -> int | None:
        """The longest sequence the trunk can take, or None when it has no limit."""
        return None

    @abstractmethod
    def forward(
        self,
        x: Float[Tensor, "B T C"],
        *,
        cache: Sequence[LayerCache] | None = None,
        trace: bool = False,
        values: Float[Tensor, "B T C"] | None = None,
    ) -> tuple[Float[Tensor, "B T C"], Trace | None]:
        """Run every layer."""

    @abstractmethod
    def make_cache(self, clock: Clock) -> list[LayerCache]:
        """One empty store a layer."""


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
        self,
        x: Float[Tensor, "B T C"],
        *,
        cache: Sequence[LayerCache] | None = None,
        trace: bool = False,
        values: Float[Tensor, "B T C"] | None = None,
    ) -> tuple[Float[Tensor, "B T C"], Trace | None]:
        """Run every block."""
        weights: list[Tensor] = []
        for index, block in enumerate(self.blocks):
            store = cache[index] if cache is not None else None
            x, layer_weights = block(x, cache=store, trace=trace, values=values)
            if trace:
                weights.append(layer_weights)
        return x, tuple(weights) if trace else None

    def make_cache(self, clock: Clock) -> list[LayerCache]:
        """Each block's attention makes its own."""
        return [block.attn.make_cache(clock) for block in self.layers]


TRUNKS: Registry[type[Trunk]] = Registry("trunk")
TRUNKS.add("plain", PlainTrunk)
