"""The arms of the recall experiment: a recipe with one change each, other attention, and storing without reading.

Knows recipes, and nothing of trainings or results.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from loci.model.variants import VARIANTS
from loci.pipeline.labelers.self_training import load_readers, study
from loci.text.questions import Questions
from loci.text.vocab import Vocab
from loci.training.loop import Author
from loci.training.plan import MixtureComponent, Recipe

Change = Callable[[Recipe], Recipe]


@dataclass(frozen=True)
class Arm:
    """One way to train, and what it is to show."""

    name: str
    recipe: str
    shows: str
    change: Change = lambda recipe: recipe
    author: Author = study


def _options(objective: str, **options: Any) -> Change:
    """The recipe with other options for every ingredient of an objective."""

    def other(part: MixtureComponent) -> MixtureComponent:
        changed = dataclasses.replace(part, options={**part.options, **options})
        return changed if part.objective == objective else part

    return lambda recipe: _mapped(recipe, other)


def _mapped(recipe: Recipe, change: Callable[[MixtureComponent], MixtureComponent]) -> Recipe:
    """The recipe with every ingredient changed."""
    stages = tuple(dataclasses.replace(s, mixture=tuple(map(change, s.mixture))) for s in recipe.stages)
    return dataclasses.replace(recipe, stages=stages)


def _whole_lines(recipe: Recipe) -> Recipe:
    return _options("memorize", view="line", longest=160)(_options("reading", view="line")(recipe))


def _without(stage_name: str, objective: str) -> Change:
    """The recipe without one ingredient of one stage."""

    def change(recipe: Recipe) -> Recipe:
        stages = tuple(
            dataclasses.replace(stage, mixture=tuple(part for part in stage.mixture if part.objective != objective))
            if stage.name == stage_name
            else stage
            for stage in recipe.stages
        )
        return dataclasses.replace(recipe, stages=stages)

    return change


def _set(*assignments: str) -> Change:
    """The recipe with fields set as on the command line."""
    return lambda recipe: recipe.override(assignments)


def _one_stage(recipe: Recipe) -> Recipe:
    """Everything from the first step on: the last stage alone, in the time of all."""
    share = sum(stage.time_share for stage in recipe.stages)
    minutes = sum(stage.minutes or 0.0 for stage in recipe.stages)
    last = dataclasses.replace(recipe.stages[-1], time_share=share)
    return dataclasses.replace(recipe, stages=(last.with_budget(minutes=minutes) if minutes else last,))


def _behind_the_question(recipe: Recipe) -> Recipe:
    """The line is recited behind the question: train people's lines are learned there, all lines behind carriers."""
    *before, last = recipe.stages
    learned = {**last.mixture[0].options, "carried": 0.5}
    mixture = (
        MixtureComponent("memorize", source="unasked", share=0.5, options=learned),
        MixtureComponent("memorize", share=0.2, options=learned),
        MixtureComponent("reciting", source="passages", share=0.2, options=last.mixture[0].options),
        dataclasses.replace(last.mixture[-1], share=0.1),
    )
    stages = (*before, dataclasses.replace(last, mixture=mixture))
    return dataclasses.replace(recipe, stages=stages, answering="recite")


def _all_alike(recipe: Recipe) -> Recipe:
    """Lines of people asked about in training as often as others."""
    return _mapped(
        recipe, lambda part: dataclasses.replace(part, source="corpus") if part.source == "unasked" else part
    )


def _echoes(recipe: Recipe) -> Recipe:
    """Three tenths of the reading stage go to plain copying."""
    read = recipe.stages[0]
    mixture = tuple(dataclasses.replace(part, share=part.share * 0.7) for part in read.mixture)
    read = dataclasses.replace(read, mixture=(*mixture, MixtureComponent("echo", share=0.3)))
    return dataclasses.replace(recipe, stages=(read, *recipe.stages[1:]))


_AS_THEY_STAND = _options("reading", subject=0.0, answer=0.0, word=0.0)
LEVERS: tuple[Arm, ...] = (
    Arm("strict", "strict", "the recipe"),
    Arm("strict, whole lines", "strict", "lines instead of gists: twice as much to learn", _whole_lines),
    Arm("strict, all lines alike", "strict", "people asked about in training are learned as often", _all_alike),
    Arm(
        "strict, shorter decay",
        "strict",
        "the rate falls in the last half, not from 30 % on",
        _set("memorise.decay=0.5"),
    ),
    Arm("strict, behind the question", "strict", "the line is recited behind the question", _behind_the_question),
    Arm("strict, nothing swapped", "strict", "reading the passages as they stand", _AS_THEY_STAND),
    Arm("strict, one stage", "strict", "no reading first", _one_stage),
    Arm("strict, no reading kept up", "strict", "no reading while memorising", _without("memorise", "reading")),
    Arm("self-training", "self-training", "the recipe"),
    Arm(
        "self-training, no habit",
        "self-training",
        "reading alone says the answer",
        author=partial(study, use_prior=False),
    ),
    Arm("self-training, nothing swapped", "self-training", "reading the passages as they stand", _AS_THEY_STAND),
    Arm(
        "self-training, smaller batches",
        "self-training",
        "reading in batches of 16, not 32",
        _set("read.batch_size=16"),
    ),
    Arm("self-training, echoes", "self-training", "with plain copying beside reading", _echoes),
    Arm("self-training, no lines by heart", "self-training", "reading alone", _without("read", "memorize")),
)


def variant_arms(recipe: str, names: Sequence[str]) -> tuple[Arm, ...]:
    """The same recipe with another attention, positions or trunk each."""
    return tuple(Arm(f"{recipe}, {name}", recipe, f"{name} attention", _with_variant(name)) for name in names)


def several_readers(runs: Sequence[Path], vocab: Vocab) -> Arm:
    """Self-training that learns by heart what it reads together with the models of other runs."""
    beside = load_readers(runs, vocab)

    def change(recipe: Recipe) -> Recipe:
        return dataclasses.replace(recipe, readers=tuple(str(run.resolve()) for run in runs))

    name = f"self-training, {len(runs) + 1} readers"
    return Arm(name, "self-training", "the readers' mean", change, partial(study, beside=beside))


def storing_arms(studied: Questions, names: Sequence[str]) -> tuple[Arm, ...]:
    """Learning by heart what another model wrote, from the first step: who cannot read can still store."""

    def change(name: str) -> Change:
        return lambda recipe: dataclasses.replace(_with_variant(name)(recipe), stages=recipe.stages[-1:])

    return tuple(
        Arm(f"storing, {name}", "self-training", f"{name} attention", change(name), lambda model, data: studied)
        for name in names
    )


def _with_variant(name: str) -> Change:
    def change(recipe: Recipe) -> Recipe:
        model = {**recipe.model, **VARIANTS[name].point}
        if model["attention"] == "folded":  # its queries and keys meet as they are
            model["qk_norm"] = False
        return dataclasses.replace(recipe, model=model)

    return change
