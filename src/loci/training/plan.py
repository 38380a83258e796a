"""Recipes as data: what is learned from what, for how long, under which schedule.

A `Recipe` is a list of `Stage`s in order; a stage mixes objectives under one budget and one schedule. Plain values all
the way down, so that a recipe is stored beside its run as JSON, compared, derived and overridden (`--set
stage.field=value`). Knows nothing of how training is done.
"""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from loci.errors import LociError

SourceName = Literal["corpus", "unasked", "text", "questions", "passages", "studied"]
Answering = Literal["direct", "recite", "remember"]
ScheduleName = Literal["course", "cosine", "wsd", "constant"]
OptimiserName = Literal["adamw", "muon"]
DecayGroups = Literal["matrices", "all-but-biases"]

#: What a stage's budget can be counted in.
BUDGETS = ("epochs", "steps", "minutes", "characters")
LARGEST_SEED = 2**53
"""Stages and processes derive seeds of their own from it, and a generator takes 64 bits."""


@dataclass(frozen=True)
class MixtureComponent:
    """One objective of a stage's mixture: what it reads and its share of every batch."""

    objective: str
    source: SourceName = "corpus"
    share: float = 1.0
    options: Mapping[str, Any] = field(default_factory=dict)


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
    """A step's batch is worked through in this many parts; the gradient is that of the whole, the memory of a part."""
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
    focus: float = 0.0
    """λ of the focus term: how much the entropy of attention costs. 0 leaves it out."""
    near: float = 0.0
    """λ of the near term: how much looking far away costs. 0 leaves it out."""
    near_max: float = 64.0
    """L_max of the near term: the squared distance beyond which a look costs no more."""

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise LociError(f"a stage's name is one word, this one is {self.name!r}")
        if not self.mixture:
            raise LociError(f"stage {self.name}: no objective")
        given = [name for name in BUDGETS if getattr(self, name) is not None]
        if len(given) != 1:
            raise LociError(
                f"stage {self.name}: the budget is exactly one of {', '.join(BUDGETS)}; given: {given or 'none'}"
            )
        for name in (*given, "batch_size", "lr", "pool", "time_share", "accumulate", "batch_start", "length_start"):
            if not getattr(self, name) > 0:
                raise LociError(f"stage {self.name}: {name} must be positive, it is {getattr(self, name)}")
            if getattr(self, name) == math.inf:
                raise LociError(f"stage {self.name}: {name} must end somewhere, it is {getattr(self, name)}")
        if not all(0 <= beta < 1 for beta in self.betas) or self.weight_decay < 0:
            raise LociError(f"stage {self.name}: betas are from 0 to below 1, and weight_decay is not negative")
        if self.schedule == "course" and self.final_tokens is None:
            raise LociError(f"stage {self.name}: the course's schedule needs final_tokens")
        if self.rate_lag not in (0, 1):
            raise LociError(f"stage {self.name}: rate_lag is 0 or 1, it is {self.rate_lag}")
        if self.focus < 0 or self.near < 0 or self.near_max <= 0:
            raise LociError(f"stage {self.name}: focus and near must not be negative, near_max must be positive")
        if self.clip < 0 or not 0 <= self.floor <= 1:
            raise LociError(f"stage {self.name}: clip must not be negative and floor must be in [0, 1]")
        if min(self.batch_warmup, self.length_warmup) < 0 or max(self.batch_start, self.length_start) > 1:
            raise LociError(f"stage {self.name}: a warm-up has no negative steps and starts with at most the whole")

    @property
    def sources(self) -> frozenset[str]:
        """The sources its mixture reads."""
        return frozenset(part.source for part in self.mixture)

    def with_budget(self, **budget: float) -> Stage:
        """The same stage under another budget."""
        changes: dict[str, Any] = {**dict.fromkeys(BUDGETS), **budget}
        return dataclasses.replace(self, **changes)


@dataclass(frozen=True)
class Recipe:
    """A model and the stages that teach it, in order."""

    name: str
    model: Mapping[str, Any]
    """Fields of `GPTConfig` but the vocabulary's size, which comes from the corpus."""
    stages: tuple[Stage, ...]
    seed: int = 0
    template: str = "Where was {subject} born?"
    note: str = ""
    """One line for a list of recipes."""
    answering: Answering = "direct"
    """How the model is asked: for the answer at once; or to recite the subject's line first, behind the question or (to
    remember) behind the bare name, and read it."""
    readers: tuple[str, ...] = ()
    """Other runs whose models read the corpus beside this one before it studies."""

    def __post_init__(self) -> None:
        names = [stage.name for stage in self.stages]
        if not names or len(set(names)) != len(names):
            raise LociError(f"recipe {self.name}: stages need distinct names, these are {names}")
        if not 0 <= self.seed <= LARGEST_SEED:
            raise LociError(f"a seed must be from 0 to {LARGEST_SEED}, it is {self.seed}")

    def within(self, minutes: float) -> Recipe:
        """The same stages in a wall-clock time, split by their time shares."""
        if minutes <= 0:
            raise LociError(f"--minutes must be positive, it is {minutes}")
        total = sum(stage.time_share for stage in self.stages)
        stages = tuple(stage.with_budget(minutes=minutes * stage.time_share / total) for stage in self.stages)
        return dataclasses.replace(self, stages=stages)

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
        value = _value(text)
        if not dot and where == "seed":
            return dataclasses.replace(self, seed=_coerce(value, int, "--set seed"))
        if where == "model" and dot:
            return dataclasses.replace(self, model={**self.model, name: value})
        places = {stage.name: index for index, stage in enumerate(self.stages)}
        if where not in places or not dot:
            known = ", ".join([*(f"{stage}.FIELD" for stage in places), "model.FIELD", "seed"])
            raise LociError(f"--set {target!r}: no such place in recipe {self.name}", remedy=f"one of: {known}")
        stage = self.stages[places[where]]
        fields = {f.name for f in dataclasses.fields(stage)} - {"name", "mixture"}
        if name not in fields:
            raise LociError(f"--set {target}: a stage has no such field", remedy=f"one of: {', '.join(sorted(fields))}")
        value = _coerce(value, typing.get_type_hints(Stage)[name], target.strip())
        changed = stage.with_budget(**{name: value}) if name in BUDGETS else dataclasses.replace(stage, **{name: value})
        stages = tuple(changed if s.name == where else s for s in self.stages)
        return dataclasses.replace(self, stages=stages)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text.strip()


def to_dict(value: Any) -> dict[str, Any]:
    """Plain data of a recipe or a part of one."""
    data: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(value)))
    return data


def recipe_from_dict(data: Mapping[str, Any]) -> Recipe:
    """A recipe from plain data, as stored beside a run."""
    stages = []
    for stage in data["stages"]:
        mixture = tuple(from_dict(MixtureComponent, part, where="mixture") for part in stage["mixture"])
        stages.append(from_dict(Stage, {**stage, "mixture": mixture}, where=str(stage.get("name"))))
    return from_dict(Recipe, {**data, "stages": tuple(stages)}, where="recipe")


T = typing.TypeVar("T")


def from_dict(cls: type[T], data: Mapping[str, Any], *, where: str) -> T:
    """A dataclass from plain data, with the simple types checked: a wrong one is named, not stored."""
    hints = typing.get_type_hints(cls)
    if unknown := sorted(set(data) - set(hints)):
        raise LociError(f"{where}: unknown field {', '.join(unknown)}", remedy=f"known: {', '.join(sorted(hints))}")
    values = {name: _coerce(value, hints[name], f"{where}.{name}") for name, value in data.items()}
    return cls(**values)


def _coerce(value: Any, hint: Any, where: str) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType:
        if value is None and types.NoneType in args:
            return None
        return _coerce(value, next(arg for arg in args if arg is not types.NoneType), where)
    if origin is Literal:
        if value not in args:
            raise LociError(f"{where} must be one of {', '.join(args)}, it is {value!r}")
        return value
    if origin is tuple:
        if args[-1] is Ellipsis:
            return tuple(value)
        if not isinstance(value, (list, tuple)) or len(value) != len(args):
            raise LociError(f"{where} must be a list of {len(args)} values, it is {value!r}")
        return tuple(_coerce(one, own, where) for one, own in zip(value, args, strict=True))
    wanted = {float: (int, float), int: (int,), bool: (bool,), str: (str,)}.get(hint)
    if wanted is not None and (not isinstance(value, wanted) or (isinstance(value, bool) and hint is not bool)):
        raise LociError(f"{where} must be {hint.__name__}, it is {value!r}")
    return float(value) if hint is float else value
