"""What a model is, as data: sizes, the point on the three axes, and the modern options.

A `GPTConfig` is validated when it is made, so that no impossible model gets any further. Knows the names on the axes only
through the registries' own errors: the attention, position and trunk classes are looked up when a model is built.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from loci.errors import LociError

Norm = Literal["layer", "rms"]
Activation = Literal["gelu", "relu2"]


@dataclass(frozen=True)
class GPTConfig:
    """Sizes and options of one model; the defaults are the published course configuration."""

    vocab_size: int
    """How many symbols, pad and mask included."""
    block_size: int = 128
    """The longest sequence the model is trained on."""
    n_layer: int = 4
    n_head: int = 8
    n_embd: int = 256
    attention: str = "dot"
    """First axis: how positions mix. A name in `loci.model.attention.ATTENTIONS`."""
    positions: str = "learned"
    """Second axis: how order is known. A name in `loci.model.positions.POSITIONS`."""
    trunk: str = "plain"
    """Third axis: how blocks are stacked. A name in `loci.model.trunk.TRUNKS`."""
    embd_pdrop: float = 0.1
    attn_pdrop: float = 0.1
    resid_pdrop: float = 0.1
    bottleneck_dim: int = 64
    """How many latents a perceiver trunk has; unused by the others."""
    norm: Norm = "layer"
    activation: Activation = "gelu"
    qk_norm: bool = False
    """Queries and keys are scaled to unit root mean square before their product."""
    zero_init: bool = False
    """The projections back into the residual stream start at zero: each block starts as the identity."""
    tied_head: bool = False
    """The output head shares the token embedding's weights."""
    logit_soft_cap: float | None = None
    """c in c·tanh(logits / c): keeps logits within ±c."""

    def __post_init__(self) -> None:
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd", "bottleneck_dim"):
            if getattr(self, name) < 1:
                raise LociError(f"{name} must be at least 1, it is {getattr(self, name)}")
        if self.n_embd % self.n_head:
            raise LociError(
                f"n_embd {self.n_embd} is not divisible by n_head {self.n_head}",
                remedy="choose n_embd as a multiple of n_head",
            )
        for name in ("embd_pdrop", "attn_pdrop", "resid_pdrop"):
            if not 0 <= getattr(self, name) < 1:
                raise LociError(f"{name} must be in [0, 1), it is {getattr(self, name)}")
        for name, allowed in (("norm", ("layer", "rms")), ("activation", ("gelu", "relu2"))):
            if getattr(self, name) not in allowed:
                raise LociError(f"{name} must be one of {', '.join(allowed)}, it is {getattr(self, name)!r}")
        if self.positions == "rope" and self.head_width % 2:
            raise LociError(
                f"rotary positions turn pairs, so the head width must be even; it is {self.head_width}",
                remedy="choose n_embd / n_head even",
            )
        if self.logit_soft_cap is not None and self.logit_soft_cap <= 0:
            raise LociError(f"logit_soft_cap must be positive, it is {self.logit_soft_cap}")

    @property
    def head_width(self) -> int:
        """Channels of one head."""
        return self.n_embd // self.n_head

    def replace(self, **changes: Any) -> GPTConfig:
        """A changed copy, validated anew."""
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for config.json."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> GPTConfig:
        """The config of plain data; an unknown field is a `LociError` (weights of a newer Loci, or a typing error)."""
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(data) - known):
            raise LociError(f"unknown model field {', '.join(unknown)}", remedy=f"known: {', '.join(sorted(known))}")
        return cls(**data)
