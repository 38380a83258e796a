"""What the perceivers share: m latents read the text, deepen among themselves, and are read by the text's positions.

    characters ──┬──────────────── window, own embedding ─────────────────┐
                 └─ down block ─▸ m latents ─▸ L−2 blocks ─▸ latents ─▸ up block ─▸ characters

A latent *stands* on a character: it reads the characters up to that place and is read by the positions from that
place on. So nothing leaks, and a latent once made never changes: generation makes each latent when its character
comes and remembers it. Where the latents stand, what they start from, and what else the up block reads, a subclass
says.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from loci.errors import LociError
from loci.model.attention.cross import CrossAttention
from loci.model.block import MLP, Block, make_norm
from loci.model.cache import Clock, LayerCache
from loci.model.config import GPTConfig
from loci.model.positions import Positions
from loci.model.trunk.base import Trace, Trunk


class DownBlock(nn.Module):
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
    def start(self, at: Float[Tensor, "B n C"], index: Int[Tensor, "b n"]) -> Float[Tensor, "B n C"]:
        """What latents number `index`, standing on the characters `at`, are before they read."""

    @abstractmethod
    def as_context(self, x: Float[Tensor, "B T C"]) -> Float[Tensor, "B T C"]:
        """The characters as they are read."""

    def keys_values(
        self, x: Float[Tensor, "B T C"], places: Int[Tensor, "b T"], values: Float[Tensor, "B T C"] | None
    ) -> tuple[Tensor, Tensor]:
        """Keys and values of the characters."""
        return self.attn.keys_values(self.as_context(x), places, values)

    def forward(
        self,
        at: Float[Tensor, "B n C"],
        index: Int[Tensor, "b n"],
        places: Int[Tensor, "b n"],
        k: Float[Tensor, "B H S D"],
        v: Float[Tensor, "B H S E"],
        mask: Bool[Tensor, "b 1 n S"],
        *,
        trace: bool,
    ) -> tuple[Float[Tensor, "B n C"], Float[Tensor, "B H n S"] | None]:
        """Read, then think."""
        latents = self.start(at, index)
        read, weights = self.attn.read(self.ln1(latents), places, k, v, mask, trace=trace)
        latents = latents + read
        return latents + self.mlp(self.ln2(latents)), weights


class UpBlock(nn.Module):
    """Positions read the latents that stand at or before them."""

    attn: CrossAttention

    def __init__(self, config: GPTConfig):
        super().__init__()
        self.ln1 = make_norm(config)
        self.ln2 = make_norm(config)
        self.mlp = MLP(config)

    @abstractmethod
    def latent_keys_values(self, latents: Float[Tensor, "B n C"], places: Int[Tensor, "b n"]) -> tuple[Tensor, Tensor]:
        """Keys and values of the latents."""

    @abstractmethod
    def read(
        self,
        x: Float[Tensor, "B T C"],
        places: Int[Tensor, "b T"],
        latents: tuple[Tensor, Tensor],
        stands: Int[Tensor, "n"],
        *,
        cache: LayerCache | None,
        trace: bool,
        values: Float[Tensor, "B T C"] | None,
    ) -> tuple[Float[Tensor, "B T C"], Float[Tensor, "B H T S"] | None]:
        """What each position takes in; the characters' own keys, where they are read, go to `cache`."""


class PerceiverTrunk(Trunk):
    """Down, n_layer − 2 blocks over the latents, up."""

    traces_with_cache = False
    stands: Tensor
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

    def __init__(self, config: GPTConfig, positions: Positions, stands: Int[Tensor, "m"]):
        super().__init__()
        inner = latent_config(config)
        self.blocks = nn.ModuleList(Block(inner, positions) for _ in range(config.n_layer - 2))
        self.register_buffer("stands", stands, persistent=False)
        self._stands: list[int] = stands.tolist()

    @property
    def layers(self) -> list[Block]:
        """The blocks over the latents, typed."""
        return [block for block in self.blocks if isinstance(block, Block)]

    def forward(
        self,
        x: Float[Tensor, "B T C"],
        *,
        cache: Sequence[LayerCache] | None = None,
        trace: bool = False,
        values: Float[Tensor, "B T C"] | None = None,
    ) -> tuple[Float[Tensor, "B T C"], Trace | None]:
        """The trace: latents × characters, latents × latents a block, characters × (latents, then characters)."""
        traces: list[Tensor] = []
        if cache is None:
            places = torch.arange(x.shape[1], device=x.device)[None]
            k, v = self.down_block.keys_values(x, places, values)
            n = self._count(x.shape[1])
            index = torch.arange(n, device=x.device)[None]
            latents = self._deepen(x[:, self.stands[:n]], index, k, v, None, traces if trace else None)
            memory = self.up_block.latent_keys_values(latents, self.stands[:n][None])
        else:
            if trace:
                raise LociError("a perceiver traces whole sequences only", remedy="ask for the trace without a cache")
            places = cache[0].clock.positions(x.shape[1])
            memory = self._remember(x, places, cache, values)
        store = None if cache is None else cache[-1]
        stands = self.stands[: memory[0].shape[2]]
        read, weights = self.up_block.read(x, places, memory, stands, cache=store, trace=trace, values=values)
        x = x + read
        x = x + self.up_block.mlp(self.up_block.ln2(x))
        if weights is not None:
            traces.append(weights)
        return x, tuple(traces) if trace else None

    def _count(self, length: int) -> int:
        """How many latents stand within the first `length` characters."""
        return sum(stand < length for stand in self._stands)

    def _deepen(
        self,
        at: Float[Tensor, "B n C"],
        index: Int[Tensor, "b n"],
        k: Float[Tensor, "B H S D"],
        v: Float[Tensor, "B H S E"],
        caches: Sequence[LayerCache] | None,
        traces: list[Tensor] | None,
    ) -> Float[Tensor, "B n C"]:
        """Make the latents number `index`, which stand on the characters `at`, and run them through the blocks."""
        places = self.stands[index]
        mask = (torch.arange(k.shape[2], device=k.device) <= places[..., None])[:, None]
        latents: Tensor
        latents, weights = self.down_block(at, index, places, k, v, mask, trace=traces is not None)
        if traces is not None:
            traces.append(weights)
        for number, block in enumerate(self.layers):
            store = None if caches is None else caches[number]
            latents, weights = block(latents, cache=store, trace=traces is not None)
            if traces is not None:
                traces.append(weights)
        return latents

    def make_cache(self, clock: Clock) -> list[LayerCache]:
        """The down block's characters; on a clock of latents the blocks' and the up block's latents; its characters."""
        latent_clock = Clock(clock.batch, len(self._stands), clock.device)
        inner = [block.attn.make_cache(latent_clock) for block in self.layers]
        return [LayerCache(clock), *inner, LayerCache(latent_clock), LayerCache(clock)]

    def _remember(
        self,
        x: Float[Tensor, "B T C"],
        places: Int[Tensor, "b T"],
        cache: Sequence[LayerCache],
        values: Float[Tensor, "B T C"] | None,
    ) -> tuple[Tensor, Tensor]:
        """Make the latents that stand on the new characters; returns keys and values of all latents so far."""
        clock, latent_layers = cache[0].clock, cache[1:-1]
        k, v = self.down_block.keys_values(x, places, values)
        k, v = cache[0].extend("k", k), cache[0].extend("v", v)
        if clock.uniform is not None:
            first, last = self._count(clock.uniform), self._count(clock.uniform + x.shape[1])
            if last > first:
                index = torch.arange(first, last, device=x.device)[None]
                at = x[:, self.stands[first:last] - clock.uniform]
                latent_layers[0].clock.set_lengths(torch.full((x.shape[0],), first, device=x.device))
                self._write(at, index, k, v, latent_layers)
        else:
            for step in range(x.shape[1]):  # rows come to their next stand at different steps
                here = places[:, step].contiguous()
                index = torch.searchsorted(self.stands, here)
                rows = (self.stands[index.clamp_max(len(self._stands) - 1)] == here).nonzero()[:, 0]
                if len(rows):
                    sub_clock = Clock(len(rows), len(self._stands), x.device)
                    sub_clock.set_lengths(index[rows])
                    taken = [layer.take(rows, sub_clock) for layer in latent_layers]
                    self._write(x[rows, step : step + 1], index[rows, None], k[rows], v[rows], taken)
                    for layer, part in zip(latent_layers, taken, strict=True):
                        layer.put(rows, part)
        n = self._count(clock.longest + x.shape[1])
        stores = latent_layers[-1].stores
        return stores["k"][:, :, :n], stores["v"][:, :, :n]

    def _write(
        self,
        at: Float[Tensor, "B n C"],
        index: Int[Tensor, "b n"],
        k: Float[Tensor, "B H S D"],
        v: Float[Tensor, "B H S E"],
        layers: Sequence[LayerCache],
    ) -> None:
        """Make latents and store what the up block reads of them."""
        latents = self._deepen(at, index, k, v, layers[:-1], None)
        for name, new in zip("kv", self.up_block.latent_keys_values(latents, self.stands[index]), strict=True):
            layers[-1].extend(name, new)


def latent_config(config: GPTConfig) -> GPTConfig:
    """The blocks over the latents: a plain column on m places, and a synthesizer covers one less than its block."""
    return config.replace(trunk="plain", block_size=config.bottleneck_dim + 1, value_embeddings=False)
