"""The trainings of an experiment: one folder each, never repeated once finished, resumed where they were stopped.

Budgets are in characters or steps, so that every machine trains the same models. An experiment's folder remembers its
options, so that two experiments are never mixed in one. Knows nothing of what is asked of the models.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loci.errors import LociError
from loci.evaluation.json_data import to_json
from loci.files import read_struct, write_json
from loci.pipeline import carry_out
from loci.report.parts import Report
from loci.text.questions import Questions
from loci.text.template import BIRTHPLACE
from loci.text.world import WORLD_VERSION, Person, WorldSpec, write_world
from loci.training.checkpoint import LoadedModel, load_model
from loci.training.plan import BUDGETS, Recipe, Stage
from loci.training.reports import Observer
from loci.training.run import METRICS, holds_run, read_metrics, read_run
from loci.training.sources import TrainingData

SETTINGS, RESULTS, PAGE = "experiment.json", "results.json", "report.html"
AGAIN = "remove it: the same command makes it again"
SEEDS, QUICK_SEEDS = 3, 1
QUICK_STEPS = 40
#: A model small enough that a quick run shows all its steps within a minute.
QUICK_MODEL = {"n_layer": 2, "n_head": 2, "n_embd": 64}


@dataclass(frozen=True)
class Settings:
    """How thoroughly an experiment is carried out."""

    seeds: int | None = None
    """How many worlds and models of each kind (default: 3, quick: 1); more can be added later."""
    budget: float = 1.0
    """Times as many characters for each training as its recipe has."""
    quick: bool = False
    """A small world and model for a few seconds: shows the steps, proves nothing."""

    def __post_init__(self) -> None:
        if self.seeds is not None and self.seeds < 1:
            raise LociError(f"--seeds must be at least 1, it is {self.seeds}")
        if not 0 < self.budget < 1e6:
            raise LociError(f"--budget must be positive, it is {self.budget}")

    @property
    def every_seed(self) -> range:
        """The seeds, from 0."""
        return range(self.seeds if self.seeds is not None else QUICK_SEEDS if self.quick else SEEDS)

    def budgeted(self, recipe: Recipe, seed: int, budget: float | None = None) -> Recipe:
        """The recipe with this experiment's budget and a seed."""
        times = self.budget if budget is None else budget

        def change(stage: Stage) -> Stage:
            kind = next(name for name in BUDGETS if getattr(stage, name) is not None)
            whole = getattr(stage, kind) * times
            return stage.with_budget(**{kind: max(1, round(whole)) if kind == "steps" else whole})

        recipe = dataclasses.replace(recipe, seed=seed)
        if self.quick:
            recipe = dataclasses.replace(recipe, model={**recipe.model, **QUICK_MODEL})
            return recipe.with_stages(lambda stage: stage.with_budget(steps=QUICK_STEPS))
        return recipe.with_stages(change) if times != 1 else recipe


@dataclass(frozen=True)
class Hooks:
    """Who wants to know how it goes, and who may stop it."""

    observers: Callable[[str], Sequence[Observer]] = lambda name: ()
    """Made for each training by its name."""
    say: Callable[[str], None] = lambda text: None
    should_stop: Callable[[], bool] = lambda: False
    labelling: Callable[[int, int], None] = field(default=lambda done, total: None)
    """Told how many lines of how many are labelled."""


class Stopped(Exception):
    """The user stopped a training; its checkpoint is saved and the same call goes on from it."""


def open_folder(out: Path, name: str, settings: Any, may_change: Iterable[str] = ("seeds",)) -> None:
    """Begin or go on with an experiment in `out`. More seeds may be asked for later; anything else must stay."""
    kept: dict[str, Any] = {"experiment": name, **to_json(settings)}
    file = out / SETTINGS
    if out.exists() and not out.is_dir():
        raise LociError("is a file, an experiment is a folder", path=out, remedy="choose another --out")
    if file.is_file():
        before = read_struct(file, dict[str, Any], remedy="remove its folder, or choose another --out")
        for what, value in kept.items():
            if what not in may_change and before.get(what) != value:
                raise LociError(
                    f"holds an experiment with {what} {before.get(what)}, not {value}",
                    path=out,
                    remedy="choose another --out, or the same settings",
                )
    elif out.is_dir() and any(out.iterdir()):
        raise LociError("is not empty and holds no experiment", path=out, remedy="choose another --out")
    write_json(file, kept)


def keep_report(out: Path, report: Report) -> Report:
    """Write the numbers and the page."""
    write_json(out / RESULTS, report.numbers)
    report.page().write(out / PAGE)
    return report


def keep_world(spec: WorldSpec, folder: Path, *, conllu: bool = False) -> Path:
    """The world of `spec` in `folder`: written once; another one there is a `LociError`."""
    manifest = folder / "world.json"
    if not manifest.is_file():
        write_world(spec, folder, conllu=conllu)
    else:
        found = read_struct(manifest, dict[str, Any], remedy="remove the folder: the same command makes it again")
        if found.get("spec") != spec.as_data() or found.get("world_version") != WORLD_VERSION:
            raise LociError("holds another world", path=folder, remedy="choose another --out")
    return folder


def birthplaces(people: Sequence[Person], *, answers: bool = True) -> Questions:
    """Where people were born, with or without the answers."""
    return Questions.from_pairs(
        (BIRTHPLACE.ask(person.name), person.birth_place.name if answers else None) for person in people
    )


def trial(recipe: Recipe, data: TrainingData, run: Path, name: str, hooks: Hooks) -> LoadedModel:
    """Train, go on training, or do neither when it is done; then load the model."""
    resume = holds_run(run)
    if not resume or not read_run(run).finished:
        hooks.say(f"{'going on with' if resume else 'training'}: {name}")
    told: dict[str, Any] = {"should_stop": hooks.should_stop, "labelling": hooks.labelling}
    outcome = carry_out(recipe, data, run, resume=resume, observers=lambda folder: hooks.observers(name), **told)
    if not outcome.finished:
        raise Stopped
    return load_model(run)


def trial_metrics(loaded: LoadedModel, recipe: Recipe, run: Path) -> list[dict[str, Any]]:
    """A trial's rows of metrics; those that end a stage must be there, since they say what it took."""
    rows = read_metrics(run)
    last = {row["stage"]: row["step"] for row in rows}
    if sum(last.get(stage.name, 0) for stage in recipe.stages) != loaded.config["total_steps"]:
        message, remedy = "is missing or damaged", "remove the run's folder: the same command trains it again"
        raise LociError(message, path=run / METRICS, remedy=remedy)
    return rows
