"""How long a recipe takes on this machine: a few steps of each stage, and the labelling of a few lines, measured with
weights of their own.

Roughly: a reader that was taught looks at fewer words than one that was not.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

import torch

from loci.model import GPT
from loci.pipeline.labelers import LABELERS, Progress
from loci.pipeline.runner import model_config
from loci.text.corpus import Corpus
from loci.training.checkpoint import LoadedModel
from loci.training.device import Placement
from loci.training.optim import make_optimisers
from loci.training.plan import LabelStep, Recipe
from loci.training.sources import TrainingData, make_stream
from loci.training.step import HERE, step

STEPS = 3
"""Timed steps of a stage; one more goes before them."""
LINES = 24
"""Timed lines of a labelling step, or some more."""
QUESTIONS = 500
"""So many train questions a timed labelling knows."""


def expected_seconds(
    recipe: Recipe, data: TrainingData, placement: Placement = HERE, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Seconds of training and labelling, by a little of each; minutes that a stage is given are taken as they are."""
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
    steps_between = [one for one in recipe.steps if isinstance(one, LabelStep)]
    return total + sum(_labelling_seconds(one, model.eval(), data, clock) for one in steps_between)


def _labelling_seconds(step: LabelStep, model: GPT, data: TrainingData, clock: Callable[[], float]) -> float:
    """Seconds of a labelling step: those of some lines from all over the corpus, times as many as there are.

    With some of the train questions: what goes through all of them once is not to be multiplied.
    """
    every = max(1, len(data.lines) // LINES)
    lines = tuple(data.lines[every // 2 :: every])
    asked = data.questions
    if asked is not None and len(asked) > QUESTIONS:
        chosen = range(0, len(asked), len(asked) // QUESTIONS)
        asked = dataclasses.replace(asked, rows=tuple(asked.rows[index] for index in chosen))
    part = dataclasses.replace(data, corpus=Corpus(None, lines, ""), questions=asked)
    loaded = LoadedModel(model, data.vocab, {}, "", Path())
    begun = clock()
    LABELERS[step.labeler](loaded, part, Progress(), **step.options)
    return (clock() - begun) * len(data.lines) / max(1, len(lines))
