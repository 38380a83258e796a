"""One step: the gradient of a step's batches, wherever they are worked on, and the move along it.

A step in several parts, or over several processes, has the gradient of the whole: each part's mean is weighted by its
share of the targets. Knows nothing of schedules, clocks or checkpoints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from loci.data.example import Batch, StepBatches
from loci.model import GPT
from loci.training.device import Placement
from loci.training.distributed import Group
from loci.training.loss import Loss, next_character_loss
from loci.training.plan import Stage


class StepLoss(NamedTuple):
    """The loss of language and what shaping added, over the whole step, and the gradient's norm where it is clipped."""

    language: float
    shaping: float
    norm: float = 0.0

    @property
    def finite(self) -> bool:
        """Whether all of them are numbers. A gradient that is none makes weights that are none."""
        return all(map(math.isfinite, self))


ALONE = Group()
HERE = Placement()


def step(
    model: GPT,
    work: StepBatches,
    stage: Stage,
    optimisers: Sequence[torch.optim.Optimizer],
    *,
    placement: Placement = HERE,
    group: Group = ALONE,
    done: Callable[[str], None] = lambda phase: None,
) -> StepLoss:
    """Move the weights by one step; gradients stay in place until the next.

    `done` hears of the end of each phase (forward, backward, optimiser), for a benchmark's clock.
    """
    losses = backward(model, work, stage, placement=placement, group=group, done=done)
    if stage.clip:
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), stage.clip)
        losses = torch.cat((losses, norm[None].to(losses.dtype)))
    for optimiser in optimisers:
        optimiser.step()
    found = StepLoss(*losses.tolist())  # the one place where the step waits for the device
    done("optimiser")
    return found


def backward(
    model: GPT,
    work: StepBatches,
    stage: Stage,
    *,
    placement: Placement = HERE,
    group: Group = ALONE,
    done: Callable[[str], None] = lambda phase: None,
) -> Tensor:
    """Leave the gradient of the whole step in the parameters; returns language and shaping loss as one tensor."""
    model.zero_grad(set_to_none=True)
    whole = group.world == 1 and len(work.parts) == 1
    figures = torch.zeros(2, device=placement.device)
    for part in work.parts:
        x, y = placement.tensors(part)
        with placement.autocast():
            loss = next_character_loss(model, x, y, stage)
        scaled = loss if whole else _share(loss, part, work)
        done("forward")
        scaled.total.backward()  # type: ignore[no-untyped-call]
        figures += torch.stack((scaled.language.detach(), (scaled.total - scaled.language).detach()))
        done("backward")
    return group.sum_gradients(list(model.parameters()), figures)


def _share(loss: Loss, part: Batch, work: StepBatches) -> Loss:
    """A part's contribution to the step's means: of language by targets, of shaping by characters."""
    language = loss.language * (part.n_targets / work.targets)
    if loss.total is loss.language:
        return Loss(language, language)
    return Loss(language + (loss.total - loss.language) * (part.n_characters / work.characters), language)
