"""The inner product without parameters: softmax(β x·y), values x themselves.

The problem set's counter-example. Without projections every head computes the same weights, a character attends mostly
to itself (x·x is the largest product of a normalised x), and where to attend cannot be learned.
"""

from __future__ import annotations

from torch import Tensor

from loci.errors import LociError
from loci.model.attention.base import Attention, Temperature, positions_of, self_attend, value_mix_cost
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost, dropout_cost, keep, products, total
from loci.model.kernels import Dropout
from loci.model.positions import POSITIONS, Positions
from loci.model.shapes import BTC, Values
from loci.model.tap import Tap


class NaiveAttention(Attention):
    """All heads alike, so one is computed."""

    @classmethod
    def check(cls, config: GPTConfig) -> None:
        """Rotation needs the width that positions were made for."""
        if POSITIONS[config.positions].rotates and config.query_width != config.head_width:
            raise LociError("naive attention has no projections, so qk_width cannot differ from n_embd / n_head")

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """ℓ²d and nothing else."""
        d, turned = config.n_embd, POSITIONS[config.positions].rotates
        pairs = length * length
        apart = turned or config.value_embeddings  # keys and values are no longer the same tensor
        return total(
            products(length, d, length),
            products(length, length, d),
            keep(2 * length * d),  # x, and what it becomes or (with dropout) as a query
            keep(length) if config.attn_pdrop == 0 else keep(2 * pairs),
            keep(length * (d + config.query_width)) if turned else Cost(),
            Temperature.cost(config, length, width=d, heads=1),
            dropout_cost(length * d, config.resid_pdrop),
            value_mix_cost(config, length),
            Cost(cached=(2 if apart else 1) * length * d),
        )

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.resid_drop = Dropout(config.resid_pdrop)
        self.temperature = Temperature(config, width=config.n_embd, heads=1)

    def forward(self, x: BTC, *, cache: LayerCache | None = None, tap: Tap | None = None, values: Values = None) -> BTC:
        """Attend with x as query, key and value."""
        v = self.with_embedded(x, values)
        k = x
        if self.positions.rotates:  # split into heads only to be rotated
            k = self.merge_heads(self.positions.rotate(self.split_heads(x), positions_of(x, cache)))
        same = k is v
        q, k = k[:, None], k[:, None]
        if cache is not None:
            k = cache.extend("k", k)
        v = k if same else v[:, None] if cache is None else cache.extend("v", v[:, None])
        q, scale = self.temperature(q)
        if tap is not None:  # the same numbers with the values cut into heads, so that each head has its own output
            q, k = q.expand(-1, self.n_head, -1, -1), k.expand(-1, self.n_head, -1, -1)
            v = self.split_heads(v[:, 0])
        mixed = self_attend(q, k, v, scale=scale, cache=cache, dropout=self.dropout, tap=tap)
        out: Tensor = self.resid_drop(mixed[:, 0] if tap is None else self.merge_heads(mixed))
        return out
