"""Causal dot-product attention: softmax(β q·k) over the past.

Fused query–key–value product and PyTorch's own fused attention where no trace is asked for; the explicit softmax where it
is. β = 1/√D unless queries and keys are normalised.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from loci.model.attention.base import Attention, place_indices, visible_mask
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.positions import Positions


class DotAttention(Attention):
    """Multi-head causal self-attention as published."""

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__(config, positions)
        self.qkv = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.resid_drop = nn.Dropout(config.resid_pdrop)
        self.qk_norm = config.qk_norm
        self.scale = 1 / math.sqrt(self.head_width)

    def forward(
        self, x: Float[Tensor, "B T C"], *, cache: LayerCache | None = None, trace: bool = False
    ) -> tuple[Float[Tensor, "B T C"], Float[Tensor, "B H T S"] | None]:
        """Attend; keys are stored already normalised and rotated, so a cached step turns only its own."""
        q, k, v = (self.split_heads(part) for part in self.qkv(x).chunk(3, dim=-1))
        if self.qk_norm:
            q, k = (F.rms_norm(part, (self.head_width,)) for part in (q, k))
        places = place_indices(x, cache)
        q, k = self.positions.rotate(q, places), self.positions.rotate(k, places)
        if cache is not None:
            k, v = cache.extend("k", k), cache.extend("v", v)
        dropout = self.attn_pdrop if self.training else 0.0
        weights = None
        if trace:
            scores = q @ k.transpose(-2, -1) * self.scale
            weights = scores.masked_fill(~visible_mask(x, cache), -torch.inf).softmax(-1)
            mixed = F.dropout(weights, dropout) @ v
        elif cache is None:
            mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True, scale=self.scale)
        elif x.shape[1] == 1 and cache.clock.uniform is not None:  # one new character that sees the whole store
            mixed = F.scaled_dot_product_attention(q, k, v, scale=self.scale)
        else:
            mask = visible_mask(x, cache)
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=self.scale)
        out: Tensor = self.resid_drop(self.proj(self.merge_heads(mixed)))
        return out, weights
