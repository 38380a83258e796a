"""What a model is, as data: sizes, the point on the three axes, and the modern options.

A `GPTConfig` is validated when it is made, so that no impossible model gets any further. What a name on an axis
demands of the sizes, its class knows: the config asks it and knows no name itself.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

from loci.errors import LociError

NORMS = ("layer", "rms")
ACTIVATIONS = ("gelu", "gelu-tanh", "relu2")
INIT_STD = 0.02
"""Of a layer's weights at the published start."""
LARGEST = 10**6
"""Of any number: more is a slip of the keyboard."""
SIZES = dict.fromkeys(("vocab_size", "block_size", "n_embd", "bottleneck_dim", "local_window", "qk_width"), LARGEST)
SIZES |= {"n_layer": 1_000, "n_head": 10_000}
"""The most of each size; layers are built one by one, and thousands of them take minutes."""


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
    up_scale: float = 1.0
    """What the published perceiver's up-projection is multiplied with before it joins the residual stream."""
    local_window: int = 16
    """How many characters back (its own included) a position of our perceiver reads directly."""
    temperature: float | None = None
    """β in softmax(β q·k); None is 1/√I, where I is the width in which queries and keys meet."""
    learn_temperature: bool = False
    """One β per head is trained, from `temperature` on. Scores that are no inner product have none."""
    qk_width: int | None = None
    """I: channels per head in which queries and keys meet; None is n_embd / n_head. It caps the rank of the scores."""
    norm: str = "layer"
    """Before each sublayer and the head: `layer` or `rms`."""
    activation: str = "gelu"
    """Inside the perceptrons: `gelu`, `gelu-tanh` (GPT-2's own approximation of it) or `relu2`, max(0, x)²."""
    qk_norm: bool = False
    """Queries and keys are scaled to unit root mean square before their product."""
    zero_init: bool = False
    """The projections back into the residual stream start at zero: each block starts as the identity."""
    tied_head: bool = False
    """The output head shares the token embedding's weights."""
    logit_soft_cap: float | None = None
    """c in c·tanh(logits / c): keeps logits within ±c."""
    value_embeddings: bool = False
    """A second embedding of each character, mixed into the values of every layer with a trained weight."""

    def __post_init__(self) -> None:
        for name, most in SIZES.items():
            if (size := getattr(self, name)) is not None and not 1 <= size <= most:
                bound = "at least 1" if size < 1 else f"at most {most:,}"
                raise LociError(f"{name} must be {bound}, it is {size:,}", remedy="choose another size")
        if self.n_embd % self.n_head:
            raise LociError(
                f"n_embd {self.n_embd} is not divisible by n_head {self.n_head}",
                remedy="choose n_embd as a multiple of n_head",
            )
        for name in ("embd_pdrop", "attn_pdrop", "resid_pdrop"):
            if not 0 <= getattr(self, name) < 1:
                raise LociError(f"{name} must be in [0, 1), it is {getattr(self, name)}")
        for name, allowed in (("norm", NORMS), ("activation", ACTIVATIONS)):
            if getattr(self, name) not in allowed:
                raise LociError(f"{name} must be one of {', '.join(allowed)}, it is {getattr(self, name)!r}")
        for name in ("logit_soft_cap", "temperature"):
            if (value := getattr(self, name)) is not None and not 0 < value <= LARGEST:
                raise LociError(f"{name} must be positive and at most {LARGEST:,}, it is {value}")
        if not abs(self.up_scale) <= LARGEST:
            raise LociError(f"up_scale must be at most {LARGEST:,}, it is {self.up_scale}")
        self._ask_axes()

    def _ask_axes(self) -> None:
        """Every name must be known and every class content with the sizes."""
        # Here and not above: the classes on the axes are built from configs.
        from loci.model.attention import ATTENTIONS
        from loci.model.positions import POSITIONS
        from loci.model.trunk import TRUNKS

        POSITIONS[self.positions].check(self)
        ATTENTIONS[self.attention].check(self)
        TRUNKS[self.trunk].check(self)

    @property
    def head_width(self) -> int:
        """Channels of one head's values."""
        return self.n_embd // self.n_head

    @property
    def query_width(self) -> int:
        """Channels of one head's queries and keys."""
        return self.head_width if self.qk_width is None else self.qk_width

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
        if "vocab_size" not in data:
            raise LociError("a model config names its vocab_size")
        kinds = {name: get_args(kind) or (kind,) for name, kind in get_type_hints(cls).items()}
        return cls(**{name: _as_kind(name, value, kinds[name]) for name, value in data.items()})


def _as_kind(name: str, value: Any, kinds: tuple[type, ...]) -> Any:
    """Plain data as a field's kind: a whole number may stand for a float, and nothing else for anything else."""
    if type(value) is int and float in kinds:
        return float(value)
    if type(value) not in kinds:
        raise LociError(f"model field {name} cannot be {value!r}")
    return value
