"""The contract every attention class honours, and the mathematics they share.

`forward(x, *, cache=None, tap=None, values=None)` mixes positions causally. With a tap it shows its weights as
`pattern` (each row sums to 1) and what each head makes of the values as `head_out`, and continues with what the tap
returns: `mix` does both. `values` comes only where the config asks for value embeddings. A class makes its own cache
layer, refuses the configs it cannot serve, and states its own cost. Shapes: B batch, T queries, S keys, C channels,
H heads, D channels per head.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from loci.errors import LociError
from loci.model.cache import Clock, LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost, dropout_cost, keep, linear_cost, products, total
from loci.model.kernels import Dropout, Linear, dropped, dropped_mix, unit_rms
from loci.model.positions import Positions
from loci.model.shapes import BHSD, BHSE, BHTD, BHTE, BT, BTC, Values
from loci.model.tap import Tap, show

VALUE_MIX_START = 0.5


class Heads(nn.Module):
    """Several heads side by side, and what they know of positions."""

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__()
        self.n_head = config.n_head
        self.attn_pdrop = config.attn_pdrop
        self.qk_norm = config.qk_norm
        # Shared by all layers and without parameters of its own here, so it is no submodule (state dicts name it once).
        self._positions = (positions,)

    @property
    def positions(self) -> Positions:
        """The model's position class."""
        return self._positions[0]

    @property
    def dropout(self) -> float:
        """The share of weights dropped now."""
        return self.attn_pdrop if self.training else 0.0

    def split_heads(self, x: BTC) -> BHTD:
        """(B, T, H·D) → (B, H, T, D)."""
        return split_heads(x, self.n_head)

    def merge_heads(self, x: BHTD) -> BTC:
        """(B, H, T, D) → (B, T, H·D)."""
        return merge_heads(x)

    def placed(self, x: BTC, positions: BT) -> BHTD:
        """Queries or keys of each head: at unit root mean square where the config asks for it, and rotated."""
        split = self.split_heads(x)
        return self.positions.rotate(unit_rms(split) if self.qk_norm else split, positions)


class Attention(Heads):
    """What is common to self-attention: the value embeddings' weight, the cache."""

    #: The longest sequence the class can mix, or None when it has no limit.
    limit: int | None = None
    #: Parameters of the class's own whose numbers are smaller than a layer's weights, and their share of the learning
    #: rate: AdamW's steps are as large as the rate, whatever they are added to.
    rates: ClassVar[Mapping[str, float]] = MappingProxyType({})

    @classmethod
    def check(cls, config: GPTConfig) -> None:
        """Refuse a config that the class cannot serve, in one line."""

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """What one layer costs on one sequence of `length` characters."""
        raise LociError(f"{cls.__name__} states no cost", remedy="give the class a `cost` method")

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.head_width = config.head_width
        if config.value_embeddings:
            self.value_mix = nn.Parameter(torch.tensor(VALUE_MIX_START))

    @abstractmethod
    def forward(self, x: BTC, *, cache: LayerCache | None = None, tap: Tap | None = None, values: Values = None) -> BTC:
        """Mix the positions of `x` causally."""

    def make_cache(self, clock: Clock) -> LayerCache:
        """An empty store for this layer."""
        return LayerCache(clock)

    def with_embedded(self, v: BTC, values: Values) -> BTC:
        """The values, with the characters' own value embeddings mixed in where there are any."""
        return v if values is None else v + self.value_mix * values


class Temperature(nn.Module):
    """β in softmax(β q·k): fixed, or trained for each head.

    With components of unit variance q·k has variance I, so β = 1/√I keeps the scores at unit variance: the default.
    """

    def __init__(self, config: GPTConfig, *, width: int, heads: int):
        super().__init__()
        self.start = 1 / math.sqrt(width) if config.temperature is None else config.temperature
        # Trained as a logarithm: β stays positive and a step changes it by a share of itself.
        self.log_beta = nn.Parameter(torch.full((heads,), math.log(self.start))) if config.learn_temperature else None

    @staticmethod
    def cost(config: GPTConfig, length: int, *, width: int, heads: int) -> Cost:
        """Nothing when fixed; when trained, one number per head and the queries kept a second time."""
        return Cost(parameters=heads) + keep(length * heads * width) if config.learn_temperature else Cost()

    def forward(self, q: BHTD) -> tuple[BHTD, float]:
        """Queries and the scale that is still to be applied: a fixed β costs nothing in the fused kernel."""
        if self.log_beta is None:
            return q, self.start
        return q * self.log_beta.exp()[:, None, None], 1.0

    def betas(self) -> Float[Tensor, "h"]:
        """β of each head, or the one that they share."""
        return torch.tensor([self.start], dtype=torch.float64) if self.log_beta is None else self.log_beta.exp()


def split_heads(x: BTC, n_head: int) -> BHTD:
    """(B, T, H·D) → (B, H, T, D)."""
    batch, width, _ = x.shape
    return x.view(batch, width, n_head, -1).transpose(1, 2)


def merge_heads(x: BHTD) -> BTC:
    """(B, H, T, D) → (B, T, H·D)."""
    batch, _, width, _ = x.shape
    return x.transpose(1, 2).reshape(batch, width, -1)


def value_mix_cost(config: GPTConfig, length: int) -> Cost:
    """The weight of the value embeddings and the values that it makes, where the config asks for them."""
    return Cost(parameters=1) + keep(length * config.n_embd) if config.value_embeddings else Cost()


def causal_mask(width: int, device: torch.device) -> Bool[Tensor, "1 1 T T"]:
    """True where a query may look: its own position and the ones before."""
    return torch.ones(width, width, dtype=torch.bool, device=device).tril()[None, None]


def barrier(visible: Bool[Tensor, "*pairs"], like: Tensor) -> Float[Tensor, "*pairs"]:
    """What hides pairs when it is added to their scores. A sum broadcasts at full speed, filling by a mask does not."""
    return like.new_zeros(visible.shape).masked_fill_(~visible, -torch.inf)


def positions_of(x: BTC, cache: LayerCache | None) -> BT:
    """The position of each character of `x`: (1, T) or (B, T)."""
    if cache is None:
        return torch.arange(x.shape[1], device=x.device)[None]
    return cache.clock.positions(x.shape[1])


def visible_mask(x: BTC, cache: LayerCache | None) -> Bool[Tensor, "b 1 T S"]:
    """Where each character of `x` may look, with or without a past."""
    return causal_mask(x.shape[1], x.device) if cache is None else cache.clock.visible(x.shape[1])


def attend(
    q: BHTD,
    k: BHSD,
    v: BHSE,
    *,
    scale: float,
    mask: Bool[Tensor, "b 1 T S"] | None,
    is_causal: bool = False,
    dropout: float = 0.0,
    tap: Tap | None = None,
) -> BHTE:
    """softmax(scale · q·k) v: PyTorch's fused kernel, or the explicit softmax where there is a tap or dropout.

    A mask of None with `is_causal` is the square causal one; without, everything is visible.
    """
    if tap is None and not (dropout and q.device.type == "cpu"):
        return F.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, dropout_p=dropout, is_causal=is_causal, scale=scale
        )
    if is_causal:
        mask = causal_mask(q.shape[2], q.device)
    scores = q * scale @ k.transpose(-2, -1)
    return mix(scores if mask is None else scores.add_(barrier(mask, scores)), v, dropout=dropout, tap=tap)


def mix(scores: Float[Tensor, "b H T S"], v: BHSE, *, dropout: float, tap: Tap | None) -> BHTE:
    """softmax(scores) v, with both shown. Scores may be the same for every row of the batch."""
    if tap is None:
        return dropped_mix(scores, v, dropout) if dropout else scores.softmax(-1) @ v
    weights = tap("pattern", scores.softmax(-1).expand(len(v), -1, -1, -1))
    return show(tap, "head_out", dropped(weights, dropout) @ v)


def self_attend(
    q: BHTD, k: BHSD, v: BHSE, *, scale: float, cache: LayerCache | None, dropout: float, tap: Tap | None
) -> BHTE:
    """`attend` over the causal past, on the fastest path that the cache allows."""
    if cache is None or not cache.clock.longest:  # with nothing stored, the past is the sequence itself
        return attend(q, k, v, scale=scale, mask=None, is_causal=True, dropout=dropout, tap=tap)
    width = q.shape[2]
    sees_all = width == 1 and cache.clock.uniform is not None  # one new character that sees the whole store
    mask = None if sees_all else cache.clock.visible(width)
    return attend(q, k, v, scale=scale, mask=mask, tap=tap)


class ScoredAttention(Attention):
    """softmax(scores) · values, whatever the scores come from: a subclass gives the scores and nothing else.

    The values are remembered by generation; what else a class must remember it stores itself.
    """

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.value = Linear(config.n_embd, config.n_embd)
        self.proj = Linear(config.n_embd, config.n_embd)
        self.resid_drop = Dropout(config.resid_pdrop)

    @abstractmethod
    def scores(self, x: BTC, positions: BT, n_keys: int, cache: LayerCache | None) -> Float[Tensor, "b2 H T S"]:
        """The score of each of the `n_keys` positions so far for each character of `x`, which is at `positions`."""

    def forward(self, x: BTC, *, cache: LayerCache | None = None, tap: Tap | None = None, values: Values = None) -> BTC:
        """Score, mask, normalise, sum."""
        v = self.split_heads(self.with_embedded(self.value(x), values))
        if cache is not None:
            v = cache.extend("v", v)
        scores = self.scores(x, positions_of(x, cache), v.shape[2], cache)
        mixed = mix(scores + barrier(visible_mask(x, cache), scores), v, dropout=self.dropout, tap=tap)
        out: Tensor = self.resid_drop(self.proj(self.merge_heads(mixed)))
        return out


def scored_cost(config: GPTConfig, length: int) -> Cost:
    """The part that does not depend on where the scores come from. The ℓ×ℓ weights are kept."""
    d, pairs = config.n_embd, config.n_head * length * length
    return total(
        linear_cost(length, d, d),
        keep(length * d),
        products(length, length, d),
        keep(pairs),
        keep(pairs) if config.attn_pdrop else Cost(),  # what dropout left
        linear_cost(length, d, d),
        dropout_cost(length * d, config.resid_pdrop),
        value_mix_cost(config, length),
        Cost(cached=length * d),
    )
