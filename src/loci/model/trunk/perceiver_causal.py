"""Our perceiver: causal, and blind to nothing.

The published form anchors its m latents at the first m characters. Here they are spread evenly over the whole block,
each at the first character of one of m pieces (block 12, m = 4):

    character   0  1  2  3  4  5  6  7  8  9 10 11
    latent      0        1        2        3           latent j reads every character up to its own
    position 8  ▪........▪........▪  ░  █              reads latents 0–2 and its window (w = 2: characters 7, 8)

Why nothing is missed. A latent reads all characters up to its anchor, and a position reads all latents up to itself:
every character up to the last anchor reaches it. The characters since that anchor are read directly, through a window
of `local_window` characters; and where a piece is longer than the window (only then), through one summary of the piece
so far, its mean key and mean value. Nothing reads a later position, so nothing leaks.

What else differs from the published form: a latent starts from its basis vector *and* the character it is anchored at,
and both sides of every cross-attention are normalised.

Cost, with m latents and a window w, both fixed while ℓ grows:

    down   (ℓ + m)·2d² + 2ℓmd        up   (ℓ + m)·2d² + 2ℓ(m + 2w)d      L−2 blocks   12md² + 2m²d each

Linear in ℓ: pieces grow with ℓ, the window does not, and the summary is a running mean.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from loci.model.attention.base import value_mix_cost
from loci.model.attention.cross import CrossAttention
from loci.model.attention.windowed import WindowedCrossAttention
from loci.model.block import make_norm, mlp_cost, norm_cost
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost, total
from loci.model.positions import Positions
from loci.model.shapes import BN, BNC, BT, BTC, N, Pair, Values
from loci.model.tap import Tap
from loci.model.trunk.perceiver import DownBlock, PerceiverTrunk, UpBlock, stacked_cost

BASIS_STD = 0.02


def even_anchors(config: GPTConfig) -> list[int]:
    """The first character of each of m pieces of the block, as even as can be."""
    return [index * config.block_size // config.bottleneck_dim for index in range(config.bottleneck_dim)]


def summarises(config: GPTConfig) -> bool:
    """Whether a piece can be longer than the window, so that its summary is needed."""
    anchors = [*even_anchors(config), config.block_size]
    return max(after - anchor for anchor, after in pairwise(anchors)) > config.local_window


class CausalDownBlock(DownBlock):
    """Latents start from the basis and the character they are anchored at."""

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.ln_context = make_norm(config)

    def initialise(self, generator: torch.Generator | None) -> None:
        """As large as the embeddings it is added to: the published start is larger and drowns the character."""
        nn.init.normal_(self.basis, 0.0, BASIS_STD, generator=generator)

    def start(self, at: BNC, index: BN) -> BNC:
        """Basis and character."""
        return self.basis[0, index] + at

    def as_context(self, x: BTC) -> BTC:
        """Normalised."""
        out: Tensor = self.ln_context(x)
        return out


class CausalUpBlock(UpBlock):
    """Positions read latents and their own neighbourhood."""

    starts: Tensor

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config)
        self.ln_context = make_norm(config)
        self.attn: WindowedCrossAttention = WindowedCrossAttention(config, positions, summarises=summarises(config))
        anchors = torch.tensor(even_anchors(config))
        every = torch.arange(config.block_size)
        starts = anchors[torch.searchsorted(anchors, every, right=True) - 1]
        self.register_buffer("starts", starts, persistent=False)  # the first position of each position's piece

    def latent_keys_values(self, latents: BNC, positions: BN) -> Pair:
        """Of the normalised latents."""
        return self.attn.keys_values(self.ln_context(latents), positions)

    def read(
        self, x: BTC, positions: BT, memory: Pair, anchors: N, cache: LayerCache | None, tap: Tap | None, values: Values
    ) -> BTC:
        """Latents and neighbourhood in one softmax."""
        x = self.ln1(x)
        k, v = self.attn.keys_values(x, positions, values)
        if cache is not None:
            k, v = cache.extend("k", k), cache.extend("v", v)
        return self.attn.read_both(
            x, positions, memory, (k, v), anchors, self.starts[positions], dense=cache is not None, tap=tap
        )


class CausalPerceiverTrunk(PerceiverTrunk):
    """Latents are anchored evenly over the block."""

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> list[tuple[str, Cost]]:
        """See the module's docstring."""
        d, m = config.n_embd, config.bottleneck_dim
        n = sum(anchor < length for anchor in even_anchors(config))
        meet = config.n_head * config.query_width
        down = total(
            Cost(parameters=m * d, cached=length * (meet + d)),
            norm_cost(config, length),
            CrossAttention.cost(config, n, length),
            value_mix_cost(config, length),
            norm_cost(config, n),
            norm_cost(config, n),
            mlp_cost(config, n),
        )
        own = WindowedCrossAttention.windowed_cost(config, length, n, summarises=summarises(config))
        up = total(
            norm_cost(config, length, keeps_input=False),  # the down block's norm keeps x
            norm_cost(config, n),
            own,
            Cost(cached=(n + length) * (meet + d)),
            value_mix_cost(config, length),
            norm_cost(config, length),
            mlp_cost(config, length),
        )
        return stacked_cost(config, n, down, up)

    @property
    def limit(self) -> int | None:
        """Pieces are cut from the block."""
        return int(self.up_block.starts.shape[0])

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions, torch.tensor(even_anchors(config)))
        self.down_block = CausalDownBlock(config, positions)
        self.up_block: CausalUpBlock = CausalUpBlock(config, positions)
