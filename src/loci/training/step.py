"""One step: the gradient of a step's batches, wherever they are worked on, and the move along it.

A step in several parts, or over several processes, has the gradient of the whole: each part's mean is weighted by its
share of the targets of all. Knows nothing of schedules, clocks or checkpoints.
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
from loci.training.loss import Loss
from loci.training.parallel import Engine, gathered
from loci.training.plan import Stage


class StepLoss(NamedTuple):
    """This process's part of the loss of language and of what shaping added (they add up over the processes), the
    whole gradient's norm before clipping, and the whole step's characters."""

    language: float
    shaping: float
    norm: float = 0.0
    characters: int = 0

    @property
    def fault(self) -> str | None:
        """What is no number; None when all are. A gradient that is none makes weights that are none."""
        if not math.isfinite(self.language + self.shaping):
            return "the loss is not a number"
        return None if math.isfinite(self.norm) else "the gradient is not a number"


ALONE = Engine()
HERE = Placement()


def step(
    model: GPT,
    work: StepBatches,
    stage: Stage,
    optimisers: Sequence[torch.optim.Optimizer],
    *,
    placement: Placement = HERE,
    engine: Engine = ALONE,
    done: Callable[[str], None] = lambda phase: None,
) -> StepLoss:
    """Move the weights by one step; gradients stay in place until the next.

    `done` hears of the end of each phase (forward, backward, optimiser), for a benchmark's clock.
    """
    losses, characters = backward(model, work, stage, placement=placement, engine=engine, done=done)
    # The norm is wanted without clipping too: a gradient of numbers is what keeps weights numbers.
    norm = gathered(torch.nn.utils.clip_grad_norm_(model.parameters(), stage.clip or math.inf))
    for optimiser in optimisers:
        optimiser.step()
    figures = torch.cat((losses, norm[None].to(losses.dtype)))
    language, shaping, size = figures.tolist()  # the one place where the step waits for the device
    done("optimiser")
    return StepLoss(language, shaping, size, characters)


def backward(
    model: GPT,
    work: StepBatches,
    stage: Stage,
    *,
    placement: Placement = HERE,
    engine: Engine = ALONE,
    done: Callable[[str], None] = lambda phase: None,
) -> tuple[Tensor, int]:
    """Leave the gradient of the whole step in the parameters.

    Returns this process's part of the language and shaping loss as one tensor, and the whole step's characters.
    """
    model.zero_grad(set_to_none=True)
    targets, characters = map(int, engine.group.total((work.targets, work.characters)))
    whole = engine.group.world == 1 and len(work.parts) == 1
    figures = torch.zeros(2, device=placement.device)
    for number, part in enumerate(work.parts, start=1):
        x, y, copied_from = placement.tensors(part)
        with engine.part(last=number == len(work.parts)):
            with placement.autocast():
                loss = engine.loss(model, x, y, stage, copied_from)
            scaled = loss if whole else _share(loss, part, targets, characters)
            done("forward")
            total = scaled.total if engine.divisor == 1 else scaled.total * engine.divisor
            total.backward()  # type: ignore[no-untyped-call]
        figures += torch.stack((scaled.language.detach(), (scaled.total - scaled.language).detach()))
        done("backward")
    return figures, characters


def _share(loss: Loss, part: Batch, targets: int, characters: int) -> Loss:
    """A part's contribution to the step's means: of language by targets, of shaping by characters.

    A part without a target contributes nothing: it only takes part in the messages.
    """
    language = loss.language * (part.n_targets / max(1, targets))
    if loss.total is loss.language:
        return Loss(language, language)
    share = part.n_characters / characters if part.n_targets else 0.0
    return Loss(language + (loss.total - loss.language) * share, language)
