"""Second axis: how a model knows the order of its characters.

A position class has two places to act: `embed`, added to the token embeddings, and `rotate`, applied to queries and
keys. Learned positions use the first, rotary the second, none neither. Knows nothing of attention.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from loci.errors import LociError
from loci.model.config import GPTConfig
from loci.model.costing import Cost
from loci.model.shapes import BHTD, BT, BTC
from loci.registry import Registry

ROPE_BASE = 10_000.0


class Positions(nn.Module):
    """No positions at all: the base class is the variant `none`."""

    #: The longest sequence the class can place, or None when it has no limit.
    limit: int | None = None
    #: Whether order lives in rotated queries and keys, so that an attention without them cannot know it.
    rotates: bool = False

    @classmethod
    def check(cls, config: GPTConfig) -> None:
        """Refuse sizes that the class cannot work with, in one line."""

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """What the class costs on one sequence of `length` characters."""
        return Cost()

    def __init__(self, config: GPTConfig):
        super().__init__()

    def embed(self, x: BTC, positions: BT) -> BTC:
        """Token embeddings with whatever the class adds to them."""
        return x

    def rotate(self, x: BHTD, positions: BT) -> BHTD:
        """Queries or keys, rotated by their position."""
        return x


class LearnedPositions(Positions):
    """One trained vector for each position, as published: (1, block_size, n_embd), starting at zero."""

    def __init__(self, config: GPTConfig):
        super().__init__(config)
        self.limit = config.block_size
        self.pos_emb = nn.Parameter(torch.zeros(1, config.block_size, config.n_embd))

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """The table. Adding keeps nothing."""
        return Cost(parameters=config.block_size * config.n_embd)

    def embed(self, x: BTC, positions: BT) -> BTC:
        """Add the vectors of the positions."""
        return x + self.pos_emb[0, positions]


class Rope(Positions):
    """Rotary positions in adjacent pairs: pair i rotates by position · base^(−2i/D). No parameters, no limit."""

    rotates = True

    @classmethod
    def check(cls, config: GPTConfig) -> None:
        """Pairs need an even width."""
        if config.query_width % 2:
            raise LociError(
                f"rotary positions rotate pairs, so queries and keys need an even width; it is {config.query_width}",
                remedy="choose n_embd / n_head (or qk_width) even",
            )

    def __init__(self, config: GPTConfig):
        super().__init__(config)
        self.width = config.query_width
        self._tables: tuple[Tensor, Tensor] | None = None
        self._turn: tuple[Tensor, Tensor] | None = None  # the last positions asked for, and their angles as cos + i·sin

    def tables(self, length: int, like: Float[Tensor, "..."]) -> tuple[Float[Tensor, "L F"], Float[Tensor, "L F"]]:
        """Cosines and sines of at least the first `length` positions; kept, since every layer of every step asks."""
        known = self._tables
        if known is None or len(known[0]) < length or known[0].dtype != like.dtype or known[0].device != like.device:
            # Tables made while generating must also serve training, which inference tensors cannot.
            with torch.inference_mode(False), torch.no_grad():
                positions = torch.arange(1 << (length - 1).bit_length())  # grows by doubling
                cos, sin = rope_tables(positions, self.width)
                self._tables = known = (cos.to(like.device, like.dtype), sin.to(like.device, like.dtype))
        return known

    def rotate(self, x: BHTD, positions: BT) -> BHTD:
        """Rotate every pair (x₂ᵢ, x₂ᵢ₊₁) by its angle."""
        wide = x if x.dtype in (torch.float32, torch.float64) else x.float()  # there are no narrow complex numbers
        turn = self._turn
        # Queries and keys of a layer share one tensor of positions, so its identity is enough.
        if turn is None or turn[0] is not positions or turn[1].dtype != wide.dtype.to_complex():
            cos, sin = self.tables(int(positions.max()) + 1, wide)
            self._turn = turn = (positions, torch.complex(cos[positions], sin[positions])[:, None])
        # A pair is a complex number and the rotation a product: one pass over memory instead of seven.
        pairs = wide.view(*wide.shape[:-1], -1, 2)
        *strides, last = pairs.stride()
        if last != 1 or pairs.storage_offset() % 2 or any(stride % 2 for stride in strides):
            pairs = pairs.clone(memory_format=torch.contiguous_format)  # a complex number lies at an even address
        turned = torch.view_as_real(torch.view_as_complex(pairs) * turn[1]).flatten(-2)
        return turned if wide is x else turned.to(x.dtype)


def rope_tables(positions: Int[Tensor, "L"], width: int) -> tuple[Float[Tensor, "L F"], Float[Tensor, "L F"]]:
    """cos and sin of position · base^(−2i/D), in double precision: far neighbours differ in the low bits only."""
    frequencies = ROPE_BASE ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = positions[:, None].double() * frequencies
    return angles.cos(), angles.sin()


POSITIONS: Registry[type[Positions]] = Registry("positions")
POSITIONS.add("learned", LearnedPositions)
POSITIONS.add("rope", Rope)
POSITIONS.add("none", Positions)
