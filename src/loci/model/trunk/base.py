"""The contract every trunk honours.

A trunk maps (B, T, C) to (B, T, C) causally. With a tap it shows the activations of every block under the names that
`loci.model.activations` lists. Knows nothing of embeddings or logits.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from torch import nn

from loci.model.cache import Clock, LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost
from loci.model.shapes import BTC, Values
from loci.model.tap import Tap


class Trunk(nn.Module):
    """What every trunk offers."""

    #: Whether generation may feed one character at a time and remember the rest.
    cacheable = True
    #: Whether a tap can be used together with a cache.
    taps_with_cache = True

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
        self, x: BTC, *, cache: Sequence[LayerCache] | None = None, tap: Tap | None = None, values: Values = None
    ) -> BTC:
        """Run every layer."""

    @abstractmethod
    def make_cache(self, clock: Clock) -> list[LayerCache]:
        """One empty store per layer."""
