"""Causal dot-product attention: softmax(β q·k) over the past.

Fused query–key–value product and PyTorch's own fused attention where there is no tap; the explicit softmax where there
is one. β = 1/√I unless the config says otherwise.
"""

from __future__ import annotations

from torch import Tensor

from loci.model.attention.base import Attention, Temperature, positions_of, self_attend, value_mix_cost
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost, dropout_cost, keep, linear_cost, products, total
from loci.model.kernels import Dropout, Linear, linear_parts
from loci.model.positions import POSITIONS, Positions
from loci.model.shapes import BTC, Values
from loci.model.tap import Tap


class DotAttention(Attention):
    """Multi-head causal self-attention as published."""

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """ℓd² for the four projections, ℓ²d for scores and sums."""
        d, meet = config.n_embd, config.n_head * config.query_width
        return total(
            linear_cost(length, d, 2 * meet + d),
            keep(length * (2 * meet + d)),
            query_key_cost(config, length, length),
            attend_cost(config, length, length),
            linear_cost(length, d, d),
            dropout_cost(length * d, config.resid_pdrop),
            value_mix_cost(config, length),
            Cost(cached=length * (meet + d)),
        )

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.widths = (config.n_head * config.query_width, config.n_head * config.query_width, config.n_embd)
        self.qkv = Linear(config.n_embd, sum(self.widths))
        self.proj = Linear(config.n_embd, config.n_embd)
        self.resid_drop = Dropout(config.resid_pdrop)
        self.temperature = Temperature(config, width=config.query_width, heads=config.n_head)

    def forward(self, x: BTC, *, cache: LayerCache | None = None, tap: Tap | None = None, values: Values = None) -> BTC:
        """Attend; keys are stored already normalised and rotated, so a cached step rotates only its own."""
        q, k, v = linear_parts(self.qkv, x, self.widths)
        positions = positions_of(x, cache)
        q, k, v = self.placed(q, positions), self.placed(k, positions), self.split_heads(self.with_embedded(v, values))
        if cache is not None:
            k, v = cache.extend("k", k), cache.extend("v", v)
        q, scale = self.temperature(q)
        mixed = self_attend(q, k, v, scale=scale, cache=cache, dropout=self.dropout, tap=tap)
        out: Tensor = self.resid_drop(self.proj(self.merge_heads(mixed)))
        return out


def query_key_cost(config: GPTConfig, length: int, keys: int) -> Cost:
    """What norms, rotations and a trained temperature keep beyond queries and keys themselves."""
    meet = config.n_head * config.query_width
    rotates = POSITIONS[config.positions].rotates
    fused = config.attn_pdrop == 0  # if not, `attend_cost` counts the last copies
    copies = int(config.qk_norm) + int(rotates and fused)
    lengths = config.n_head if config.qk_norm else 0  # one number a vector, for the gradient of its norm
    turned = length if keys == length else length + keys  # self-attention rotates both by one table
    tables = turned * config.query_width if rotates else 0
    temperature = Temperature.cost(config, length, width=config.query_width, heads=config.n_head)
    return temperature + keep((length + keys) * (copies * meet + lengths) + tables)


def attend_cost(config: GPTConfig, length: int, keys: int) -> Cost:
    """Scores and sums, 2ℓs(I + D) per head.

    PyTorch's fused kernel keeps one number per row. It has no dropout: with it, the weights are kept before and after,
    a scaled copy of the queries and the turned keys.
    """
    heads, width = config.n_head, config.query_width
    worked = products(length, heads * width, keys) + products(length, keys, heads * config.head_width)
    if config.attn_pdrop == 0:
        return worked + keep(heads * length)
    pairs = length * keys
    copied = length + (keys if POSITIONS[config.positions].rotates else 0)
    return worked + keep(2 * heads * pairs + copied * heads * width)
