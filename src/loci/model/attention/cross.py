"""Cross-attention: one sequence reads another.

Its own contract, since there are two lengths: `forward(x, context, mask, ...)`; T queries from `x` read S positions of
`context` where the mask lets them. `keys_values` and `read` are its two halves, for those who remember keys and
values.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool
from torch import Tensor, nn

from loci.model.attention.base import VALUE_MIX_START, Heads, Temperature, attend
from loci.model.attention.dot import attend_cost, query_key_cost
from loci.model.config import GPTConfig
from loci.model.costing import Cost, dropout_cost, keep, linear_cost, total
from loci.model.kernels import Dropout, Linear, linear_parts
from loci.model.positions import Positions
from loci.model.shapes import BHSD, BHSE, BHTD, BHTE, BT, BTC, Values
from loci.model.tap import Tap


class CrossAttention(Heads):
    """Multi-head attention from one sequence to another."""

    @classmethod
    def cost(cls, config: GPTConfig, length: int, context: int, *, keeps_input: bool = True) -> Cost:
        """(ℓ + s)·2d² for the projections, 2ℓsd for scores and sums. The mask is kept, the weights are not."""
        d = config.n_embd
        meet = config.n_head * config.query_width
        fused = config.attn_pdrop == 0  # if not, `attend_cost` counts queries and mask
        return total(
            linear_cost(length, d, meet, keeps_input=keeps_input),
            linear_cost(context, d, meet + d),
            keep(length * meet * fused + context * (meet + d)),
            query_key_cost(config, length, context),
            attend_cost(config, length, context),
            keep(length * context * fused),
            linear_cost(length, d, d),
            dropout_cost(length * d, config.resid_pdrop),
        )

    def __init__(self, config: GPTConfig, positions: Positions, *, embeds_values: bool = False):
        super().__init__(config, positions)
        meet = config.n_head * config.query_width
        self.widths = (meet, config.n_embd)
        self.query = Linear(config.n_embd, meet)
        self.key_value = Linear(config.n_embd, sum(self.widths))
        self.proj = Linear(config.n_embd, config.n_embd)
        self.resid_drop = Dropout(config.resid_pdrop)
        self.temperature = Temperature(config, width=config.query_width, heads=config.n_head)
        if embeds_values and config.value_embeddings:
            self.value_mix = nn.Parameter(torch.tensor(VALUE_MIX_START))

    def queries(self, x: BTC, positions: BT) -> tuple[BHTD, float]:
        """Queries, rotated by their positions, and the scale still to be applied."""
        scaled: tuple[Tensor, float] = self.temperature(self.placed(self.query(x), positions))
        return scaled

    def keys_values(self, context: BTC, positions: BT, values: Values = None) -> tuple[BHTD, BHTE]:
        """What the context offers: keys, rotated by their positions, and values."""
        k, v = linear_parts(self.key_value, context, self.widths)
        if values is not None:
            v = v + self.value_mix * values
        return self.placed(k, positions), self.split_heads(v)

    def read(
        self, x: BTC, positions: BT, k: BHSD, v: BHSE, mask: Bool[Tensor, "m 1 T S"], *, tap: Tap | None = None
    ) -> BTC:
        """Read keys and values that were made before."""
        q, scale = self.queries(x, positions)
        mixed = attend(q, k, v, scale=scale, mask=mask, dropout=self.dropout, tap=tap)
        out: Tensor = self.resid_drop(self.proj(self.merge_heads(mixed)))
        return out
