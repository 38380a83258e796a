"""One transformer block: attention and a two-layer perceptron, each behind a norm and beside a residual path."""

from __future__ import annotations

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from loci.model.attention import ATTENTIONS
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.positions import Positions


class ReLUSquared(nn.Module):
    """max(0, x)²: as good as GELU at this size, and cheaper."""

    def forward(self, x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """Square what is positive."""
        return F.relu(x).square()


def make_norm(config: GPTConfig) -> nn.Module:
    """The norm that the config names."""
    return nn.LayerNorm(config.n_embd) if config.norm == "layer" else nn.RMSNorm(config.n_embd)


class MLP(nn.Module):
    """Four times as wide inside."""

    def __init__(self, config: GPTConfig):
        super().__init__()
        self.up = nn.Linear(config.n_embd, 4 * config.n_embd)
        self.act = nn.GELU() if config.activation == "gelu" else ReLUSquared()
        self.down = nn.Linear(4 * config.n_embd, config.n_embd)
        self.drop = nn.Dropout(config.resid_pdrop)

    def forward(self, x: Float[Tensor, "B T C"]) -> Float[Tensor, "B T C"]:
        """Each position by itself."""
        out: Tensor = self.drop(self.down(self.act(self.up(x))))
        return out


class Block(nn.Module):
    """x + attention(norm x), then x + mlp(norm x)."""

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__()
        self.ln1 = make_norm(config)
        self.attn = ATTENTIONS[config.attention](config, positions)
        self.ln2 = make_norm(config)
        self.mlp = MLP(config)

    def forward(
        self, x: Float[Tensor, "B T C"], *, cache: LayerCache | None = None, trace: bool = False
    ) -> tuple[Float[Tensor, "B T C"], Float[Tensor, "B H T S"] | None]:
        """Mix positions, then channels."""
        mixed, weights = self.attn(self.ln1(x), cache=cache, trace=trace)
        x = x + mixed
        return x + self.mlp(self.ln2(x)), weights
