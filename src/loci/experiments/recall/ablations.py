"""What the recall experiment trains: recipes with one change each, other attention, and storing without reading.

Knows recipes, and nothing of trainings or results.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loci.model.variants import VARIANTS
from loci.training.plan import LabelStep, Recipe, Stage

Change = Callable[[Recipe], Recipe]
ATTENTIONS = ("vanilla", "rope", "synthesizer", "perceiver", "folded")


@dataclass(frozen=True)
class Ablation:
    """A recipe, changed or not, and what that is to show."""

    name: str
    recipe: str
    shows: str
    change: Change = lambda recipe: recipe


def _options(objective: str, **options: Any) -> Change:
    """The recipe with other options wherever an objective is used."""

    def change(stage: Stage) -> Stage:
        mixture = (
            dataclasses.replace(part, options={**part.options, **options}) if part.objective == objective else part
            for part in stage.mixture
        )
        return dataclasses.replace(stage, mixture=tuple(mixture))

    return lambda recipe: recipe.with_stages(change)


def _whole_lines(recipe: Recipe) -> Recipe:
    return _options("memorize", line_format="line", longest=160)(_options("reading", line_format="line")(recipe))


def _without(stage_name: str, objective: str) -> Change:
    """The recipe without one objective in one stage."""

    def change(stage: Stage) -> Stage:
        kept = tuple(part for part in stage.mixture if stage.name != stage_name or part.objective != objective)
        return dataclasses.replace(stage, mixture=kept)

    return lambda recipe: recipe.with_stages(change)


def _set(assignment: str) -> Change:
    """The recipe with a field set as on the command line."""
    return lambda recipe: recipe.override([assignment])


def _one_stage(recipe: Recipe) -> Recipe:
    """Everything from the first step on: the last stage alone, with the characters of all."""
    last = recipe.stages[-1].with_budget(characters=sum(stage.characters or 0.0 for stage in recipe.stages))
    return dataclasses.replace(recipe, steps=(last,))


_AS_THEY_STAND = _options("reading", subject=0.0, answer=0.0, word=0.0)
RECITE, SELF_TRAINING = "recite", "self-training"
RECIPES = tuple(Ablation(name, name, "the recipe") for name in (RECITE, SELF_TRAINING))
ABLATIONS: tuple[Ablation, ...] = (
    RECIPES[0],
    Ablation("recite, whole lines", RECITE, "lines instead of entity sketches: twice as much to learn", _whole_lines),
    Ablation("recite, shorter decay", RECITE, "the rate falls in the last half only", _set("memorize.decay=0.5")),
    Ablation("recite, no entity swaps", RECITE, "reading examples as they stand", _AS_THEY_STAND),
    Ablation("recite, one stage", RECITE, "no reading first", _one_stage),
    Ablation("recite, no reading kept up", RECITE, "no reading while memorizing", _without("memorize", "reading")),
    RECIPES[1],
    Ablation(
        "self-training, no answer prior", SELF_TRAINING, "reading alone says the answer", _set("label.use_prior=false")
    ),
    Ablation("self-training, no entity swaps", SELF_TRAINING, "reading examples as they stand", _AS_THEY_STAND),
    Ablation("self-training, larger batches", SELF_TRAINING, "reading in batches of 32", _set("read.batch_size=32")),
    Ablation("self-training, no lines", SELF_TRAINING, "no lines while reading", _without("read", "memorize")),
)


def variants(recipe: str) -> tuple[Ablation, ...]:
    """The same recipe with another attention, positions or trunk each."""
    return tuple(Ablation(f"{recipe}, {name}", recipe, f"{name} attention", _variant(name)) for name in ATTENTIONS)


def storing(labels: Path) -> tuple[Ablation, ...]:
    """Memorizing what another model wrote, from the first step: who cannot read can still store."""
    given = LabelStep("label", "given", {"path": str(labels.resolve())})

    def change(name: str) -> Change:
        return lambda recipe: dataclasses.replace(_variant(name)(recipe), steps=(given, recipe.steps[-1]))

    return tuple(Ablation(f"storing, {name}", SELF_TRAINING, f"{name} attention", change(name)) for name in ATTENTIONS)


def _variant(name: str) -> Change:
    def change(recipe: Recipe) -> Recipe:
        model = {**recipe.model, **VARIANTS[name].point}
        if model["attention"] == "folded":  # its queries and keys meet as they are
            model["qk_norm"] = False
        return dataclasses.replace(recipe, model=model)

    return change


def named(wanted: Sequence[str], found: Sequence[Ablation]) -> list[Ablation]:
    """Those of these names; all if none is named."""
    return [one for one in found if not wanted or one.name in wanted]
