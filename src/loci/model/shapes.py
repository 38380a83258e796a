"""Shapes that many signatures share: B batch, T queries, S keys, C channels, H heads, D and E channels per head."""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor

BTC = Float[Tensor, "B T C"]
BHTD = Float[Tensor, "B H T D"]
BHTE = Float[Tensor, "B H T E"]
BHSD = Float[Tensor, "B H S D"]
BHSE = Float[Tensor, "B H S E"]
#: The positions of T characters: one row for all texts of a batch, or one each.
BT = Int[Tensor, "b T"]
#: n latents of a perceiver, and their numbers or positions.
BNC = Float[Tensor, "B n C"]
BN = Int[Tensor, "b n"]
N = Int[Tensor, "n"]
#: The characters' own value embeddings, where the config asks for them.
Values = Float[Tensor, "B T C"] | None
#: Keys and values.
Pair = tuple[Tensor, Tensor]
