"""The one loss: mean cross-entropy of the next character over the positions that count, and shaping terms on request.

The head is applied only where there is a target; the rest of its work would be thrown away. Shaping terms come from the
same forward pass, which then returns its attention weights.
"""

from __future__ import annotations

from typing import NamedTuple

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from loci.data.example import IGNORED
from loci.model.gpt import GPT
from loci.model.kernels import picked
from loci.model.tap import Tap
from loci.text.vocab import PAD_ID
from loci.training.plan import Stage
from loci.training.shaping import focus, near, pointer, pointer_layer


class Loss(NamedTuple):
    """What is minimised, and the part of it that is language."""

    total: Float[Tensor, ""]
    language: Float[Tensor, ""]


def next_character_loss(
    model: GPT,
    x: Int[Tensor, "B T"],
    y: Int[Tensor, "B T"],
    stage: Stage | None = None,
    copied_from: Int[Tensor, "B T"] | None = None,
) -> Loss:
    """Mean over the targets of the loss mask, in nats; plus the stage's shaping terms, each with its λ."""
    pointing = stage is not None and bool(stage.pointer) and copied_from is not None
    pointing_layer = f"blocks.{pointer_layer(model.config.n_layer)}.attn.pattern"
    # Only weights that a term is about are asked for: all other layers attend by the fused kernel.
    wanted = ["*.attn.pattern"] if stage is not None and (stage.focus or stage.near) else [pointing_layer] * pointing
    tap = Tap(wanted, sparse=True) if wanted else None
    hidden, _ = model.hidden(x, tap=tap)
    in_loss = y != IGNORED
    targets = y[in_loss]
    # The mean of nothing is no number; its sum is 0, with gradients of 0 for every weight.
    reduction = "mean" if len(targets) else "sum"
    language = F.cross_entropy(model.logits(picked(hidden, in_loss)), targets, reduction=reduction)
    total = language
    if stage is not None and tap is not None:
        trace, positions = tuple(tap.kept.values()), x != PAD_ID
        if stage.focus:
            total = total + stage.focus * focus(trace, positions)
        if stage.near:
            total = total + stage.near * near(trace, stage.near_max, positions)
        if pointing and copied_from is not None:
            total = total + stage.pointer * pointer(tap.kept[pointing_layer], copied_from)
    return Loss(total, language)
