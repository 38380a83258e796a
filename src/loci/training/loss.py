"""The one loss: mean cross-entropy of the next character over the positions that count.

The head is applied only where there is a target; the rest of its work would be thrown away.
"""

from __future__ import annotations

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from loci.data.example import IGNORED
from loci.model.gpt import GPT


def next_character_loss(model: GPT, x: Int[Tensor, "B T"], y: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    """Mean over counted targets, in nats."""
    hidden, _ = model.hidden(x)
    counted = y != IGNORED
    return F.cross_entropy(model.logits(hidden[counted]), y[counted])
