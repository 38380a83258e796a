"""The loss on what a stage holds out, measured a few times while it trains.

A stage that holds out a share of its records does not learn from the last of each source. Always the same examples of
them are measured, without dropout, so that two measurements differ by the weights alone. Knows nothing of checkpoints.
"""

from __future__ import annotations

import math

import torch

from loci.data.batches import BatchStream
from loci.model import GPT
from loci.training.device import Placement
from loci.training.loss import next_character_loss

TIMES = 20
"""How often it is measured in a stage."""
EXAMPLES = 256


def due(before: float, after: float) -> bool:
    """Whether a step from one part of the budget to another passes a point of measurement; the end is one."""
    return math.floor(before * TIMES) < math.floor(min(after, 1.0) * TIMES)


@torch.no_grad()
def held_out_loss(model: GPT, stream: BatchStream, placement: Placement) -> float:
    """The mean loss of the first examples of a stream, in nats per character."""
    was_training = model.training
    model.eval()
    total, targets = 0.0, 0
    for at in range(max(1, EXAMPLES // stream.batch_size)):
        for part in stream.parts(at).parts:
            x, y, _ = placement.tensors(part)
            with placement.autocast():
                total += float(next_character_loss(model, x, y).language) * part.n_targets
            targets += part.n_targets
    model.train(was_training)
    return total / max(targets, 1)
