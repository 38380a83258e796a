"""Recipes as data: what is learned from what, for how long, under which schedule.

A `Recipe` is steps in order. A `Stage` trains: it mixes objectives under one budget and one schedule. A `LabelStep`
lets the model trained so far write pseudo-labels that later stages learn from. Plain values all the way down, so that a
recipe is stored with its run as JSON, compared, derived and overridden (`--set stage.field=value`). Knows nothing of
how training and labelling are done.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from loci.errors import LociError
from loci.training.plain_data import coerce, from_dict, parsed, require_finite

SourceName = Literal[
    "corpus",
    "taught-lines",
    "subjects",
    "text",
    "marked-lines",
    "questions",
    "reading-examples",
    "reading-taught",
    "reading-lines",
    "reading-subjects",
    "pseudo-labels",
]
ScheduleName = Literal["course", "cosine", "wsd", "constant"]
OptimiserName = Literal["adamw", "muon"]
DivergencePolicy = Literal["stop", "halve-rate"]
DecayGroups = Literal["matrices", "all-but-biases"]

#: What a stage's budget can be counted in.
BUDGETS = ("epochs", "steps", "minutes", "characters")
_LEAST = 1e-30
LARGEST_SHARE = 1e9
#: What the numbers of a stage may be: beyond, no training could make sense. A number that is none is in no interval.
BOUNDS: Mapping[str, tuple[float, float]] = {
    "epochs": (_LEAST, 1e6),
    "steps": (1, 1e9),
    "minutes": (_LEAST, 1e6),
    "characters": (_LEAST, 1e15),
    "time_share": (_LEAST, 1e15),
    "batch_size": (1, 1e6),
    "pool": (1, 1e4),
    "accumulate": (1, 1e6),
    "batch_warmup": (0, 1e9),
    "batch_start": (_LEAST, 1),
    "length_warmup": (0, 1e9),
    "length_start": (_LEAST, 1),
    "lr": (_LEAST, 1e3),
    "matrix_lr": (_LEAST, 1e3),
    "weight_decay": (0, 1e3),
    "clip": (0, 1e9),
    "warmup": (0, 1e15),
    "decay": (0, 1),
    "rate_lag": (0, 1),
    "floor": (0, 1),
    "final_tokens": (1, 1e18),
    "focus": (0, 1e6),
    "near": (0, 1e6),
    "near_max": (_LEAST, 1e12),
    "pointer": (0, 1e6),
    "held_out": (0, 0.5),
}
LARGEST_POOL = 10**6
LARGEST_SEED = 2**53
"""Stages and processes derive seeds of their own from it, and a generator takes 64 bits."""


@dataclass(frozen=True)
class MixtureComponent:
    """One objective of a stage's mixture: what it reads and its share of every batch."""

    objective: str
    source: SourceName = "corpus"
    share: float = 1.0
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_finite(self.options, self.objective)
        if not 0 < self.share <= LARGEST_SHARE:
            raise LociError(f"a share must be positive and at most {LARGEST_SHARE:g}, it is {self.share}")


@dataclass(frozen=True)
class Stage:
    """A mixture of objectives under one budget and schedule. Exactly one of `BUDGETS` is the budget."""

    name: str
    mixture: tuple[MixtureComponent, ...]
    epochs: float | None = None
    steps: int | None = None
    minutes: float | None = None
    characters: float | None = None
    """Useful characters to train on, padding not counted."""
    time_share: float = 1.0
    """This stage's part of the whole when `--minutes` gives the recipe a time instead."""
    batch_size: int = 128
    shuffle: bool = True
    pool: int = 1
    """How many batches are sorted by length together, so that little of a batch is padding."""
    accumulate: int = 1
    """A step's batch is worked through in this many parts of like length: the gradient is that of the whole, the memory
    that of a part, and less of it is padding."""
    batch_warmup: int = 0
    """Steps until the batch has its full size. Steps, not a share of the budget: a batch depends on the step alone."""
    batch_start: float = 0.25
    """The share of the batch at the first step of its warm-up."""
    length_warmup: int = 0
    """Steps until examples of the corpus have their full length. Questions are never cut."""
    length_start: float = 0.25
    """The share of the length at the first step of its warm-up."""
    optimiser: OptimiserName = "adamw"
    lr: float = 6e-3
    matrix_lr: float = 0.02
    """Muon's own learning rate for the matrices of the trunk."""
    betas: tuple[float, float] = (0.9, 0.95)
    weight_decay: float = 0.1
    decay_groups: DecayGroups = "matrices"
    """What decays: the weights of matrix products, or (as the course's code does) everything but biases."""
    clip: float = 1.0
    """Largest gradient norm; 0 leaves gradients as they are."""
    schedule: ScheduleName = "cosine"
    warmup: float = 0.02
    """Share of the budget (tokens for the course's schedule) until the full learning rate."""
    decay: float = 0.3
    """Share of the budget over which a warm-up–stable–decay schedule falls."""
    rate_lag: int = 0
    """1: a step uses the rate computed after the step before it, the first one the full rate (the course's code)."""
    floor: float = 0.1
    """The learning rate's last value, as a part of the full one."""
    final_tokens: int | None = None
    """Where the course's cosine ends, in tokens; only the course's schedule uses it."""
    divergence: DivergencePolicy = "stop"
    """What is done when a loss or a weight is no number any more: stop, or go back to the last checkpoint and on at
    half the rate."""
    focus: float = 0.0
    """λ of the focus term: how much the entropy of attention costs. 0 leaves it out."""
    near: float = 0.0
    """λ of the near term: how much looking far away costs. 0 leaves it out."""
    near_max: float = 64.0
    """L_max of the near term: the squared distance beyond which a look costs no more."""
    pointer: float = 0.0
    """λ of the pointer term: how much it costs that a head does not look at the character that is being copied."""
    held_out: float = 0.0
    """Share of the records, the last of each source, that are not learned from. Their loss is measured while the stage
    trains, and the weights that had the lowest are kept in `best/`."""

    def __post_init__(self) -> None:
        _require_one_word(self.name)
        if not self.mixture:
            raise LociError(f"stage {self.name}: no objective")
        given = [name for name in BUDGETS if getattr(self, name) is not None]
        if len(given) != 1:
            raise LociError(
                f"stage {self.name}: the budget is exactly one of {', '.join(BUDGETS)}; given: {given or 'none'}"
            )
        for name, (least, most) in BOUNDS.items():
            if (value := getattr(self, name)) is not None and not least <= value <= most:
                raise LociError(f"stage {self.name}: {name} must be from {least:g} to {most:g}, it is {value}")
        if self.pool * self.batch_size > LARGEST_POOL:
            raise LociError(
                f"stage {self.name}: pool times batch_size is {self.pool * self.batch_size:,}, more than "
                f"{LARGEST_POOL:,} examples cannot be sorted at once"
            )
        if not all(0 <= beta < 1 for beta in self.betas):
            raise LociError(f"stage {self.name}: betas are from 0 to below 1, not {self.betas}")
        if self.schedule == "course" and self.final_tokens is None:
            raise LociError(f"stage {self.name}: the course's schedule needs final_tokens")

    @property
    def sources(self) -> frozenset[str]:
        """The sources its mixture reads."""
        return frozenset(part.source for part in self.mixture)

    def with_budget(self, **budget: float) -> Stage:
        """The same stage under another budget."""
        changes: dict[str, Any] = {**dict.fromkeys(BUDGETS), **budget}
        return dataclasses.replace(self, **changes)


@dataclass(frozen=True)
class LabelStep:
    """Let the model write pseudo-labels: a labeler of `loci.pipeline.labelers` by name, and its options."""

    name: str
    labeler: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require_one_word(self.name)
        require_finite(self.options, self.name)


def _require_one_word(name: str) -> None:
    if not name.isidentifier():
        raise LociError(f"a step's name is one word, this one is {name!r}")


@dataclass(frozen=True)
class Recipe:
    """A model and the steps that teach it, in order."""

    name: str
    model: Mapping[str, Any]
    """Fields of `GPTConfig` but the vocabulary's size, which comes from the corpus."""
    steps: tuple[Stage | LabelStep, ...]
    seed: int = 0
    note: str = ""
    """One line for a list of recipes."""
    answerer: str = "direct"
    """How the model is asked: an answerer of `loci.answering` by name."""
    threshold: float | None = None
    """Answers whose confidence is below it are withheld unless asked otherwise; None leaves that to the answerer."""
    stranger_rate: float | None = None
    """How many made-up names may get an answer: by this the familiarity a name needs is chosen as the last step."""

    def __post_init__(self) -> None:
        require_finite(self.model, "model")
        if "vocab_size" in self.model:
            raise LociError("model.vocab_size comes from the data", remedy="leave it out")
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise LociError(f"recipe {self.name}: a threshold is from 0 to 1, not {self.threshold}")
        names = [step.name for step in self.steps]
        if not self.stages or len(set(names)) != len(names):
            raise LociError(f"recipe {self.name}: steps need distinct names and one must train, these are {names}")
        if not 0 <= self.seed <= LARGEST_SEED:
            raise LociError(f"a seed must be from 0 to {LARGEST_SEED}, it is {self.seed}")
        if self.stranger_rate is not None and not 0 < self.stranger_rate < 1:
            raise LociError(f"recipe {self.name}: stranger_rate is a share between 0 and 1, it is {self.stranger_rate}")
        labelled = False
        for step in self.steps:
            labelled = labelled or isinstance(step, LabelStep)
            if isinstance(step, Stage) and "pseudo-labels" in step.sources and not labelled:
                raise LociError(
                    f"stage {step.name} learns from pseudo-labels, and no step before it writes any",
                    remedy="put a LabelStep before it",
                )

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The steps that train."""
        return tuple(step for step in self.steps if isinstance(step, Stage))

    def with_stages(self, change: Callable[[Stage], Stage]) -> Recipe:
        """The same recipe with every stage changed."""
        steps = tuple(change(step) if isinstance(step, Stage) else step for step in self.steps)
        return dataclasses.replace(self, steps=steps)

    def __repr__(self) -> str:
        return f"Recipe({self.name!r}: {', '.join(step.name for step in self.steps)})"

    def within(self, minutes: float | None = None, *, characters: int | None = None) -> Recipe:
        """The same stages in a wall-clock time, or in so many characters, split by their time shares."""
        if minutes is not None and characters is not None:
            raise LociError("a recipe has one budget", remedy="give --minutes or --characters, not both")
        name, budget = ("minutes", minutes) if characters is None else ("characters", characters)
        if budget is None:
            return self
        if not 0 < budget <= BOUNDS[name][1]:
            raise LociError(f"--{name} must be positive and at most {BOUNDS[name][1]:g}, it is {budget}")
        total, whole = sum(stage.time_share for stage in self.stages), math.ceil if name == "characters" else float
        return self.with_stages(lambda stage: stage.with_budget(**{name: whole(budget * stage.time_share / total)}))

    def override(self, assignments: Sequence[str]) -> Recipe:
        """Apply `stage.field=value`, `model.field=value` and `seed=value`; values are JSON, or plain text."""
        recipe = self
        for assignment in assignments:
            recipe = recipe._override(assignment)
        return recipe

    def _override(self, assignment: str) -> Recipe:
        target, equals, text = assignment.partition("=")
        where, dot, name = target.strip().partition(".")
        if not equals:
            raise LociError(f"--set {assignment!r} is not of the form stage.field=value")
        value = parsed(text)
        if not dot and where in ("seed", "answerer"):
            hint = int if where == "seed" else str
            return dataclasses.replace(self, **{where: coerce(value, hint, f"--set {where}")})
        if where == "model" and dot:
            return dataclasses.replace(self, model={**self.model, name: value})
        step = next((step for step in self.steps if step.name == where), None)
        if step is None or not dot:
            known = ", ".join([*(f"{one.name}.FIELD" for one in self.steps), "model.FIELD", "seed", "answerer"])
            raise LociError(f"--set {target!r}: no such setting in recipe {self.name}", remedy=f"one of: {known}")
        changed = _with_field(step, name, value, target.strip())
        return dataclasses.replace(self, steps=tuple(changed if one is step else one for one in self.steps))


def _with_field(step: Stage | LabelStep, name: str, value: Any, target: str) -> Stage | LabelStep:
    if isinstance(step, LabelStep):
        return dataclasses.replace(step, options={**step.options, name: value})
    fields = {f.name for f in dataclasses.fields(step)} - {"name", "mixture"}
    if name not in fields:
        raise LociError(f"--set {target}: a stage has no such field", remedy=f"one of: {', '.join(sorted(fields))}")
    value = coerce(value, typing.get_type_hints(Stage)[name], target)
    return step.with_budget(**{name: value}) if name in BUDGETS else dataclasses.replace(step, **{name: value})


def recipe_from_dict(data: Mapping[str, Any]) -> Recipe:
    """A recipe from plain data, as stored with a run; what does not fit is a `LociError`."""
    return from_dict(Recipe, {**data, "steps": tuple(map(_step_from_dict, _list(data, "steps")))}, where="recipe")


def _step_from_dict(data: Mapping[str, Any]) -> Stage | LabelStep:
    where = str(data.get("name"))
    if "labeler" in data:
        return from_dict(LabelStep, data, where=where)
    mixture = tuple(from_dict(MixtureComponent, part, where=f"{where}.mixture") for part in _list(data, "mixture"))
    return from_dict(Stage, {**data, "mixture": mixture}, where=where)


def _list(data: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    found = data.get(name)
    if not isinstance(found, list | tuple) or not all(isinstance(one, dict) for one in found):
        raise LociError(f"{name} must be a list of objects, it is {found!r:.60}")
    return found
