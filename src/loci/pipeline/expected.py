"""How long a recipe's training takes on this machine: a few steps of each stage, measured with weights of their own.

Labelling steps are not in it: what they read depends on the model they are given.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import torch

from loci.model import GPT
from loci.pipeline.runner import model_config
from loci.training.device import Placement
from loci.training.optim import make_optimisers
from loci.training.plan import Recipe
from loci.training.sources import TrainingData, make_stream
from loci.training.step import HERE, step

STEPS = 3
"""Timed steps of a stage; one more goes before them."""


def expected_seconds(
    recipe: Recipe, data: TrainingData, placement: Placement = HERE, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Seconds of training, by a few steps of every stage; minutes that a stage is given are taken as they are."""
    stand_in = dataclasses.replace(data, pseudo_labels=data.questions)  # not written yet; questions have their form
    config = model_config(recipe, data)
    model = GPT(config, generator=torch.Generator().manual_seed(recipe.seed)).to(placement.device).train()
    total = 0.0
    for index, stage in enumerate(recipe.stages):
        if stage.minutes is not None:
            total += 60 * stage.minutes
            continue
        stream = make_stream(stage, index, recipe, stand_in, config.block_size)
        optimisers = make_optimisers(model, stage)
        batches = [stream.parts(stage.batch_warmup + at, stage.accumulate) for at in range(1 + STEPS)]
        step(model, batches[0], stage, optimisers, placement=placement)
        begun = clock()
        for work in batches[1:]:
            step(model, work, stage, optimisers, placement=placement)
        spent = clock() - begun
        if stage.characters is not None:
            total += spent / sum(work.characters for work in batches[1:]) * stage.characters
        else:
            steps = stream.steps_for(stage.epochs) if stage.epochs is not None else stage.steps
            total += spent / STEPS * (steps or 0)
    return total
