"""What the perceivers share: m latents read the text, deepen among themselves, and are read by the text's positions.

    characters ──┬──────────────── window, own embedding ─────────────────┐
                 └─ down block ─▸ m latents ─▸ L−2 blocks ─▸ latents ─▸ up block ─▸ characters

A latent is *anchored* at a character: it reads the characters up to that position, and the positions from there on read
it. So nothing leaks, and a latent once made never changes: generation makes each latent when its character comes and
keeps it. A subclass says where the latents are anchored, what they start from, and what else the up block reads.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from loci.errors import LociError
from loci.model.attention.cross import CrossAttention
from loci.model.block import MLP, Block, ResidualBlock, make_norm
from loci.model.cache import Clock, LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost
from loci.model.positions import Positions
from loci.model.shapes import BHSD, BHSE, BN, BNC, BT, BTC, N, Pair, Values
from loci.model.tap import Tap, inside, show
from loci.model.trunk.base import Trunk


class DownBlock(ResidualBlock):
    """Latents start from a learned basis and read the characters they may."""

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__()
        self.basis = nn.Parameter(torch.empty(1, config.bottleneck_dim, config.n_embd))
        self.ln1 = make_norm(config)
        self.attn = CrossAttention(config, positions, embeds_values=True)
        self.ln2 = make_norm(config)
        self.mlp = MLP(config)

    @abstractmethod
    def initialise(self, generator: torch.Generator | None) -> None:
        """Where the basis starts."""

    @abstractmethod
    def start(self, at: BNC, index: BN) -> BNC:
        """What latents number `index`, anchored at the characters `at`, are before they read."""

    @abstractmethod
    def as_context(self, x: BTC) -> BTC:
        """The characters as they are read."""

    def keys_values(self, x: BTC, positions: BT, values: Values) -> Pair:
        """Keys and values of the characters."""
        return self.attn.keys_values(self.as_context(x), positions, values)

    def forward(
        self, at: BNC, index: BN, positions: BN, k: BHSD, v: BHSE, mask: Bool[Tensor, "b 1 n S"], tap: Tap | None
    ) -> BNC:
        """Read, then think."""
        latents = show(tap, "resid_pre", self.start(at, index))
        return self.add(latents, self.attn.read(self.ln1(latents), positions, k, v, mask, tap=inside(tap, "attn")), tap)


class UpBlock(ResidualBlock):
    """Positions read the latents that are anchored at or before them."""

    attn: CrossAttention

    def __init__(self, config: GPTConfig):
        super().__init__()
        self.ln1 = make_norm(config)
        self.ln2 = make_norm(config)
        self.mlp = MLP(config)

    @abstractmethod
    def latent_keys_values(self, latents: BNC, positions: BN) -> Pair:
        """Keys and values of the latents."""

    @abstractmethod
    def read(
        self, x: BTC, positions: BT, memory: Pair, anchors: N, cache: LayerCache | None, tap: Tap | None, values: Values
    ) -> BTC:
        """What each position takes in of the latents' keys and values; the characters' own go to `cache`."""


class PerceiverTrunk(Trunk):
    """Down, n_layer − 2 blocks over the latents, up."""

    taps_with_cache = False
    anchors: Tensor
    down_block: DownBlock
    up_block: UpBlock

    @classmethod
    def check(cls, config: GPTConfig) -> None:
        """The latents must fit the block, and there must be a way down and a way up."""
        if config.bottleneck_dim > config.block_size:
            raise LociError(
                f"the bottleneck of {config.bottleneck_dim} latents is longer than the block of {config.block_size}",
                remedy="choose bottleneck_dim at most block_size",
            )
        if config.n_layer < 2:
            raise LociError("a perceiver needs one block down and one up", remedy="choose n_layer at least 2")

    def __init__(self, config: GPTConfig, positions: Positions, anchors: Int[Tensor, "m"]):
        super().__init__()
        inner = latent_config(config)
        self.blocks = nn.ModuleList(Block(inner, positions) for _ in range(config.n_layer - 2))
        self.register_buffer("anchors", anchors, persistent=False)
        self._anchors: list[int] = anchors.tolist()

    @property
    def layers(self) -> list[Block]:
        """The blocks over the latents, typed."""
        return [block for block in self.blocks if isinstance(block, Block)]

    def forward(
        self, x: BTC, *, cache: Sequence[LayerCache] | None = None, tap: Tap | None = None, values: Values = None
    ) -> BTC:
        """Down, through the blocks over the latents, and up."""
        if cache is None:
            positions = torch.arange(x.shape[1], device=x.device)[None]
            k, v = self.down_block.keys_values(x, positions, values)
            n = self._count(x.shape[1])
            index = torch.arange(n, device=x.device)[None]
            latents = self._deepen(x[:, self.anchors[:n]], index, k, v, None, tap)
            memory = self.up_block.latent_keys_values(latents, self.anchors[:n][None])
        else:
            if tap is not None:
                raise LociError("a perceiver shows whole sequences only", remedy="use no cache")
            positions = cache[0].clock.positions(x.shape[1])
            memory = self._remember(x, positions, cache, values)
        store = None if cache is None else cache[-1]
        anchors = self.anchors[: memory[0].shape[2]]
        last = inside(tap, f"blocks.{len(self.blocks) + 1}")
        x = show(last, "resid_pre", x)
        read = self.up_block.read(x, positions, memory, anchors, store, inside(last, "attn"), values)
        return self.up_block.add(x, read, last)

    def _count(self, length: int) -> int:
        """How many latents are anchored within the first `length` characters."""
        return sum(anchor < length for anchor in self._anchors)

    def _deepen(
        self, at: BNC, index: BN, k: BHSD, v: BHSE, caches: Sequence[LayerCache] | None, tap: Tap | None
    ) -> BNC:
        """Make the latents number `index`, anchored at the characters `at`, and run them through the blocks."""
        positions = self.anchors[index]
        mask = (torch.arange(k.shape[2], device=k.device) <= positions[..., None])[:, None]
        latents: Tensor = self.down_block(at, index, positions, k, v, mask, inside(tap, "blocks.0"))
        for number, block in enumerate(self.layers):
            store = None if caches is None else caches[number]
            latents = block(latents, cache=store, tap=inside(tap, f"blocks.{number + 1}"))
        return latents

    def make_cache(self, clock: Clock) -> list[LayerCache]:
        """The down block's characters; on a clock of latents the blocks' and the up block's latents; its characters."""
        latent_clock = Clock(clock.batch, len(self._anchors), clock.device)
        inner = [block.attn.make_cache(latent_clock) for block in self.layers]
        return [LayerCache(clock), *inner, LayerCache(latent_clock), LayerCache(clock)]

    def _remember(self, x: BTC, positions: BT, cache: Sequence[LayerCache], values: Values) -> Pair:
        """Make the latents anchored at the new characters; returns keys and values of all latents so far."""
        clock, latent_layers = cache[0].clock, cache[1:-1]
        k, v = self.down_block.keys_values(x, positions, values)
        k, v = cache[0].extend("k", k), cache[0].extend("v", v)
        if clock.uniform is not None:
            first, last = self._count(clock.uniform), self._count(clock.uniform + x.shape[1])
            if last > first:
                index = torch.arange(first, last, device=x.device)[None]
                at = x[:, self.anchors[first:last] - clock.uniform]
                latent_layers[0].clock.set_lengths(torch.full((x.shape[0],), first, device=x.device))
                self._write(at, index, k, v, latent_layers)
        else:
            for step in range(x.shape[1]):  # rows come to their next anchor at different steps
                here = positions[:, step].contiguous()
                index = torch.searchsorted(self.anchors, here)
                rows = (self.anchors[index.clamp_max(len(self._anchors) - 1)] == here).nonzero()[:, 0]
                if len(rows):
                    sub_clock = Clock(len(rows), len(self._anchors), x.device)
                    sub_clock.set_lengths(index[rows])
                    taken = [layer.take(rows, sub_clock) for layer in latent_layers]
                    self._write(x[rows, step : step + 1], index[rows, None], k[rows], v[rows], taken)
                    for layer, part in zip(latent_layers, taken, strict=True):
                        layer.put(rows, part)
        n = self._count(clock.longest + x.shape[1])
        stores = latent_layers[-1].stores
        return stores["k"][:, :, :n], stores["v"][:, :, :n]

    def _write(self, at: BNC, index: BN, k: BHSD, v: BHSE, layers: Sequence[LayerCache]) -> None:
        """Make latents and store what the up block reads of them."""
        latents = self._deepen(at, index, k, v, layers[:-1], None)
        for name, new in zip("kv", self.up_block.latent_keys_values(latents, self.anchors[index]), strict=True):
            layers[-1].extend(name, new)


def latent_config(config: GPTConfig) -> GPTConfig:
    """The blocks over the latents: a plain column on m positions, and a synthesizer covers one less than its block."""
    return config.replace(trunk="plain", block_size=config.bottleneck_dim + 1, value_embeddings=False)


def stacked_cost(config: GPTConfig, n: int, down: Cost, up: Cost) -> list[tuple[str, Cost]]:
    """The way down, the blocks over n latents, the way up."""
    between = Block.cost(latent_config(config), n)
    return [("down", down), *((f"block {i}", between) for i in range(config.n_layer - 2)), ("up", up)]
