"""Third axis: how blocks are stacked between the embedding and the head.

A trunk maps (B, T, C) to (B, T, C) causally and returns each layer's attention weights when a trace is asked for. The plain
trunk is a column of blocks. Knows nothing of embeddings or logits.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor, nn

from loci.model.block import Block
from loci.model.cache import Clock, LayerCache
from loci.model.config import GPTConfig
from loci.model.positions import Positions
from loci.model.registry import Registry

#: Attention weights of every layer, first to last, as returned on request.
Trace = tuple[Tensor, ...]


class Trunk(nn.Module):
    """What every trunk offers."""

    #: Whether generation may feed one character at a time and remember the rest.
    cacheable = True

    @abstractmethod
    def forward(
        self, x: Float[Tensor, "B T C"], *, cache: Sequence[LayerCache] | None = None, trace: bool = False
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

    def forward(
        self, x: Float[Tensor, "B T C"], *, cache: Sequence[LayerCache] | None = None, trace: bool = False
    ) -> tuple[Float[Tensor, "B T C"], Trace | None]:
        """Run every block."""
        weights: list[Tensor] = []
        for index, block in enumerate(self.blocks):
            x, layer_weights = block(x, cache=cache[index] if cache is not None else None, trace=trace)
            if trace:
                weights.append(layer_weights)
        return x, tuple(weights) if trace else None

    def make_cache(self, clock: Clock) -> list[LayerCache]:
        """Each block's attention makes its own."""
        caches: list[LayerCache] = [block.attn.make_cache(clock) for block in self.blocks]  # type: ignore[union-attr, operator]
        return caches


TRUNKS: Registry[type[Trunk]] = Registry("trunk")
TRUNKS.add("plain", PlainTrunk)
