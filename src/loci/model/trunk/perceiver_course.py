"""The perceiver as published, defect and all.

Latent i is anchored at character i, so the m latents cover the first m characters and nothing after: a position t sees
the characters 0 … min(t, m − 1) through the latents, and itself through the residual path. Causal, but blind
between m and t. The variant is kept for the published figures and weights; `perceiver` is the one to use.

As published, latents start from the basis alone (normalised as queries), read the characters as they are, and
positions read as they are the normalised latents. `up_scale` multiplies what they read.

Students write the two reading blocks themselves. Another form that is met has no residual path around them and
normalises both of their inputs; its tensors have the same names and shapes (`perceiver-course-bare`).
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from loci.errors import LociError
from loci.model.attention.base import value_mix_cost
from loci.model.attention.cross import CrossAttention
from loci.model.block import ResidualBlock, mlp_cost, norm_cost
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost, total
from loci.model.positions import Positions
from loci.model.shapes import BN, BNC, BT, BTC, N, Pair, Values
from loci.model.tap import Tap
from loci.model.trunk.perceiver import DownBlock, PerceiverTrunk, UpBlock, stacked_cost


class CourseDownBlock(DownBlock):
    """Latents start from the basis; characters are read as they are."""

    def initialise(self, generator: torch.Generator | None) -> None:
        """The published start."""
        nn.init.xavier_uniform_(self.basis, generator=generator)

    def start(self, at: BNC, index: BN) -> BNC:
        """The basis, the same for every text."""
        return self.basis[0, index].expand(at.shape[0], -1, -1)

    def as_context(self, x: BTC) -> BTC:
        """As they are."""
        return x


class CourseUpBlock(UpBlock):
    """Positions read nothing but latents."""

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config)
        self.attn = CrossAttention(config, positions)
        self.scale = config.up_scale

    def latent_keys_values(self, latents: BNC, positions: BN) -> Pair:
        """Of the normalised latents."""
        return self.attn.keys_values(self.ln1(latents), positions)

    def read(
        self, x: BTC, positions: BT, memory: Pair, anchors: N, cache: LayerCache | None, tap: Tap | None, values: Values
    ) -> BTC:
        """Scaled."""
        mask = (anchors <= positions[..., None])[:, None]
        return self.scale * self.attn.read(x, positions, *memory, mask, tap=tap)


class CoursePerceiverTrunk(PerceiverTrunk):
    """Latent i is anchored at character i."""

    @classmethod
    def blind_after(cls, config: GPTConfig) -> int | None:
        """Characters after the m-th reach no later position."""
        return config.bottleneck_dim

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> list[tuple[str, Cost]]:
        """2(ℓ + m)d² + 2ℓmd for the way down and up, md² + m²d for each block between."""
        d, n = config.n_embd, min(length, config.bottleneck_dim)
        meet = config.n_head * config.query_width
        down = total(
            Cost(parameters=config.bottleneck_dim * d, cached=length * (meet + d)),
            CrossAttention.cost(config, n, length),
            value_mix_cost(config, length),
            norm_cost(config, n),
            norm_cost(config, n),
            mlp_cost(config, n),
        )
        up = total(
            CrossAttention.cost(config, length, n, keeps_input=False),  # the down block keeps x
            Cost(cached=n * (meet + d)),
            norm_cost(config, n),
            norm_cost(config, length),
            mlp_cost(config, length),
        )
        return stacked_cost(config, n, down, up)

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions, torch.arange(config.bottleneck_dim))
        self.down_block = CourseDownBlock(config, positions)
        self.up_block = CourseUpBlock(config, positions)


class NoResidual(ResidualBlock):
    """What is read replaces what was there: attention adds the difference to the residual stream."""

    def add(self, x: BTC, attended: BTC, tap: Tap | None) -> BTC:
        """What was read."""
        return super().add(x, attended - x, tap)


class BareDownBlock(NoResidual, CourseDownBlock):
    """Normalised characters."""

    def as_context(self, x: BTC) -> BTC:
        """Normalised as the queries are."""
        normalised: Tensor = self.ln1(x)
        return normalised


class BareUpBlock(NoResidual, CourseUpBlock):
    """Normalised positions."""

    def read(
        self, x: BTC, positions: BT, memory: Pair, anchors: N, cache: LayerCache | None, tap: Tap | None, values: Values
    ) -> BTC:
        """Normalised first."""
        return super().read(self.ln1(x), positions, memory, anchors, cache, tap, values)


class BarePerceiverTrunk(CoursePerceiverTrunk):
    """The other form: no residual path around the two readings, both inputs normalised."""

    @classmethod
    def check(cls, config: GPTConfig) -> None:
        """Kept for weights that exist, and all of them have dot-product attention."""
        super().check(config)
        if config.attention != "dot":
            raise LociError(
                f"the course's bare perceiver has dot-product attention, not {config.attention}",
                remedy="choose the trunk perceiver-course",
            )

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> list[tuple[str, Cost]]:
        """Two more norms over the text."""
        norm = replace(norm_cost(config, length), parameters=0)  # the norm of the queries, used twice
        return [
            (name, total(cost, norm) if name in ("down", "up") else cost) for name, cost in super().cost(config, length)
        ]

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.down_block = BareDownBlock(config, positions)
        self.up_block = BareUpBlock(config, positions)
