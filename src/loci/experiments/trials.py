"""The trainings of an experiment: one folder each, never repeated once finished, resumed where they were stopped.

The first training may have a budget in minutes; all others are given the number of steps it took, so that a busy
machine favours none of them. An experiment's folder remembers its settings, so that two experiments are never mixed in
one. Knows nothing of what is asked of the models.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loci.errors import LociError
from loci.files import read_object, write_json
from loci.pipeline import carry_out
from loci.text.world import WORLD_VERSION, WorldSpec, write_world
from loci.training.checkpoint import LoadedModel, load_model
from loci.training.plan import Recipe
from loci.training.reports import Observer
from loci.training.run import holds_run, read_metrics, read_run
from loci.training.sources import TrainingData

SETTINGS = "experiment.json"
SEEDS, QUICK_SEEDS = 3, 1
QUICK_MINUTES = 0.15
#: A model small enough that a quick run shows all its steps within a minute.
QUICK_MODEL = {"n_layer": 2, "n_head": 2, "n_embd": 64}


@dataclass(frozen=True)
class Settings:
    """How thoroughly an experiment is carried out."""

    seeds: int = SEEDS
    minutes: float | None = None
    """Time for each training, instead of the recipe's own."""
    quick: bool = False
    """A small world and model for a few seconds: shows the steps, proves nothing."""

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise LociError(f"--seeds must be at least 1, it is {self.seeds}")
        if self.minutes is not None and not self.minutes > 0:
            raise LociError(f"--minutes must be positive, it is {self.minutes}")

    def budgeted(self, recipe: Recipe, seed: int) -> Recipe:
        """The recipe with this experiment's budget and a seed."""
        recipe = dataclasses.replace(recipe, seed=seed)
        if self.quick:
            recipe = dataclasses.replace(recipe, model={**recipe.model, **QUICK_MODEL})
        minutes = self.minutes if self.minutes is not None else QUICK_MINUTES if self.quick else None
        return recipe.within(minutes) if minutes is not None else recipe


@dataclass(frozen=True)
class Hooks:
    """Who wants to know how it goes, and who may stop it."""

    observers: Callable[[str], Sequence[Observer]] = lambda name: ()
    """Made for each training by its name."""
    say: Callable[[str], None] = lambda text: None
    should_stop: Callable[[], bool] = lambda: False


class Stopped(Exception):
    """The user stopped a training; its checkpoint is saved and the same call goes on from it."""


def open_folder(out: Path, name: str, settings: Settings) -> None:
    """Begin or go on with an experiment in `out`. More seeds may be asked for later; anything else must stay."""
    kept = {"experiment": name, "minutes": settings.minutes, "quick": settings.quick}
    file = out / SETTINGS
    if out.exists() and not out.is_dir():
        raise LociError("is a file, an experiment is a folder", path=out, remedy="choose another --out")
    if file.is_file():
        before = read_object(file)
        for what, value in kept.items():
            if before.get(what) != value:
                raise LociError(
                    f"holds an experiment with {what} {before.get(what)}, not {value}",
                    path=out,
                    remedy="choose another --out, or the same settings",
                )
    elif out.is_dir() and any(out.iterdir()):
        raise LociError("is not empty and holds no experiment", path=out, remedy="choose another --out")
    write_json(file, {**kept, "seeds": settings.seeds})


def keep_world(spec: WorldSpec, folder: Path) -> Path:
    """The world of `spec` in `folder`: written once; another one there is a `LociError`."""
    manifest = folder / "world.json"
    if not manifest.is_file():
        write_world(spec, folder)
    else:
        found = read_object(manifest)
        if found.get("spec") != spec.as_data() or found.get("world_version") != WORLD_VERSION:
            raise LociError("holds another world", path=folder, remedy="choose another --out")
    return folder


def equal_steps(recipe: Recipe, first: Path) -> Recipe:
    """The recipe with as many steps in each stage as the finished run `first` took."""
    steps: dict[str, int] = {}
    for row in read_metrics(first):
        steps[row["stage"]] = row["step"]
    return recipe.with_stages(lambda stage: stage.with_budget(steps=steps[stage.name]))


def trial(recipe: Recipe, data: TrainingData, run: Path, name: str, hooks: Hooks, *, first: Path) -> LoadedModel:
    """Train, go on training, or do neither when it is done; then load the model. The run `first` sets the pace."""
    if run != first:
        recipe = equal_steps(recipe, first)
    resume = holds_run(run)
    if not resume or not read_run(run).finished:
        hooks.say(f"{'going on with' if resume else 'training'}: {name}")
    outcome = carry_out(
        recipe,
        data,
        run,
        resume=resume,
        observers=lambda folder: hooks.observers(name),
        should_stop=hooks.should_stop,
    )
    if not outcome.finished:
        raise Stopped
    return load_model(run)
