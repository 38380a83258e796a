"""The arms of the recall experiment: a recipe with one change each, other attention, and storing without reading.

Knows recipes, and nothing of trainings or results.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loci.model.variants import VARIANTS
from loci.training.plan import LabelStep, MixtureComponent, Recipe, Stage

Change = Callable[[Recipe], Recipe]


@dataclass(frozen=True)
class Arm:
    """One way to train, and what it is to show."""

    name: str
    recipe: str
    shows: str
    change: Change = lambda recipe: recipe


def _options(objective: str, **options: Any) -> Change:
    """The recipe with other options for every ingredient of an objective."""

    def other(part: MixtureComponent) -> MixtureComponent:
        changed = dataclasses.replace(part, options={**part.options, **options})
        return changed if part.objective == objective else part

    return lambda recipe: _mapped(recipe, other)


def _mapped(recipe: Recipe, change: Callable[[MixtureComponent], MixtureComponent]) -> Recipe:
    """The recipe with every ingredient changed."""
    return recipe.with_stages(lambda stage: dataclasses.replace(stage, mixture=tuple(map(change, stage.mixture))))


def _whole_lines(recipe: Recipe) -> Recipe:
    return _options("memorize", view="line", longest=160)(_options("reading", view="line")(recipe))


def _without(stage_name: str, objective: str) -> Change:
    """The recipe without one ingredient of one stage."""

    def change(stage: Stage) -> Stage:
        kept = tuple(part for part in stage.mixture if stage.name != stage_name or part.objective != objective)
        return dataclasses.replace(stage, mixture=kept)

    return lambda recipe: recipe.with_stages(change)


def _set(*assignments: str) -> Change:
    """The recipe with fields set as on the command line."""
    return lambda recipe: recipe.override(assignments)


def _one_stage(recipe: Recipe) -> Recipe:
    """Everything from the first step on: the last stage alone, with the characters of all."""
    share, characters = (sum(getattr(s, name) or 0 for s in recipe.stages) for name in ("time_share", "characters"))
    last = dataclasses.replace(recipe.stages[-1], time_share=share)
    return dataclasses.replace(recipe, steps=(last.with_budget(characters=characters) if characters else last,))


_AS_THEY_STAND = _options("reading", subject=0.0, answer=0.0, word=0.0)
LEVERS: tuple[Arm, ...] = (
    Arm("recite", "recite", "the recipe"),
    Arm("recite, whole lines", "recite", "lines instead of gists: twice as much to learn", _whole_lines),
    Arm(
        "recite, shorter decay",
        "recite",
        "the rate falls in the last half, not from 30 % on",
        _set("memorize.decay=0.5"),
    ),
    Arm("recite, nothing swapped", "recite", "reading the passages as they stand", _AS_THEY_STAND),
    Arm("recite, one stage", "recite", "no reading first", _one_stage),
    Arm("recite, no reading kept up", "recite", "no reading while memorising", _without("memorize", "reading")),
    Arm("self-training", "self-training", "the recipe"),
    Arm(
        "self-training, no habit",
        "self-training",
        "reading alone says the answer",
        _set("label.use_prior=false"),
    ),
    Arm("self-training, nothing swapped", "self-training", "reading the passages as they stand", _AS_THEY_STAND),
    Arm(
        "self-training, smaller batches",
        "self-training",
        "reading in batches of 16, not 32",
        _set("read.batch_size=16"),
    ),
    Arm("self-training, no lines by heart", "self-training", "reading alone", _without("read", "memorize")),
)


def variant_arms(recipe: str, names: Sequence[str]) -> tuple[Arm, ...]:
    """The same recipe with another attention, positions or trunk each."""
    return tuple(Arm(f"{recipe}, {name}", recipe, f"{name} attention", _with_variant(name)) for name in names)


def storing_arms(labels: Path, names: Sequence[str]) -> tuple[Arm, ...]:
    """Memorizing what another model wrote, from the first step: who cannot read can still store."""

    def change(name: str) -> Change:
        steps = LabelStep("label", "given", {"path": str(labels.resolve())})
        return lambda recipe: dataclasses.replace(_with_variant(name)(recipe), steps=(steps, recipe.steps[-1]))

    return tuple(Arm(f"storing, {name}", "self-training", f"{name} attention", change(name)) for name in names)


def _with_variant(name: str) -> Change:
    def change(recipe: Recipe) -> Recipe:
        model = {**recipe.model, **VARIANTS[name].point}
        if model["attention"] == "folded":  # its queries and keys meet as they are
            model["qk_norm"] = False
        return dataclasses.replace(recipe, model=model)

    return change
