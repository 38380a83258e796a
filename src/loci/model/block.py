"""One transformer block: attention and an MLP, each after a norm and added to the residual stream."""

from __future__ import annotations

from torch import Tensor, nn

from loci.model.attention import ATTENTIONS, Attention
from loci.model.cache import LayerCache
from loci.model.config import GPTConfig
from loci.model.costing import Cost, dropout_cost, keep, linear_cost, total
from loci.model.kernels import Dropout, perceptron
from loci.model.positions import Positions
from loci.model.shapes import BTC, Values
from loci.model.tap import Tap, inside, show


def make_norm(config: GPTConfig) -> nn.Module:
    """The norm that the config names."""
    return nn.LayerNorm(config.n_embd) if config.norm == "layer" else nn.RMSNorm(config.n_embd)


def norm_cost(config: GPTConfig, length: int, *, keeps_input: bool = True) -> Cost:
    """LayerNorm keeps its input and two numbers per position, RMSNorm its input, the normalised input and one."""
    d, layer = config.n_embd, config.norm == "layer"
    own = length * (2 if layer else d + 1)
    return Cost(parameters=2 * d if layer else d) + keep(own + length * d if keeps_input else own)


def mlp_cost(config: GPTConfig, length: int) -> Cost:
    """8d² parameters: the largest part of a block at course sizes."""
    d = config.n_embd
    return total(
        linear_cost(length, d, 4 * d),
        keep(4 * length * d),  # what the activation needs: its input, or ReLU's result
        linear_cost(length, 4 * d, d),
        dropout_cost(length * d, config.resid_pdrop),
    )


class MLP(nn.Module):
    """Four times as wide inside."""

    def __init__(self, config: GPTConfig):
        super().__init__()
        self.up = nn.Linear(config.n_embd, 4 * config.n_embd)
        self.activation = config.activation
        self.down = nn.Linear(4 * config.n_embd, config.n_embd)
        self.drop = Dropout(config.resid_pdrop)

    def forward(self, x: BTC) -> BTC:
        """Each position by itself."""
        out: Tensor = self.drop(perceptron(self.up, self.activation, self.down, x))
        return out


class ResidualBlock(nn.Module):
    """What follows attention in a block of any kind: x + attention, then x + mlp(norm x)."""

    ln2: nn.Module
    mlp: MLP

    def add(self, x: BTC, attended: BTC, tap: Tap | None) -> BTC:
        """The residual stream after the block, from the one before it and what attention read."""
        x = show(tap, "resid_mid", x + show(tap, "attn.out", attended))
        return show(tap, "resid_post", x + show(tap, "mlp.out", self.mlp(self.ln2(x))))


class Block(ResidualBlock):
    """x + attention(norm x), then x + mlp(norm x)."""

    @classmethod
    def cost(cls, config: GPTConfig, length: int) -> Cost:
        """One block on one sequence."""
        attention = ATTENTIONS[config.attention].cost(config, length)
        return total(norm_cost(config, length), attention, norm_cost(config, length), mlp_cost(config, length))

    def __init__(self, config: GPTConfig, positions: Positions):
        super().__init__()
        self.ln1 = make_norm(config)
        self.attn: Attention = ATTENTIONS[config.attention](config, positions)
        self.ln2 = make_norm(config)
        self.mlp = MLP(config)

    def forward(self, x: BTC, *, cache: LayerCache | None = None, tap: Tap | None = None, values: Values = None) -> BTC:
        """Mix positions, then channels."""
        # Named only where there are any: a new attention class need not know of value embeddings.
        extra = {} if values is None else {"values": values}
        x = show(tap, "resid_pre", x)
        return self.add(x, self.attn(self.ln1(x), cache=cache, tap=inside(tap, "attn"), **extra), tap)
