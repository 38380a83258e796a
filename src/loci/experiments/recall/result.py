"""What the recall experiment keeps of each training, and what several trainings say together.

Pure functions of rows, but for reading and writing result.json. Knows nothing of trainings or pages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from loci.evaluation.calibration import auroc_right, ece
from loci.evaluation.metrics import (
    Estimate,
    Rate,
    has_probabilities,
    is_right,
    over_seeds,
    repeated,
    scorable,
    score_arrays,
    wilson,
)
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, Row, read_rows, write_rows
from loci.evaluation.significance import paired, repeated_difference
from loci.experiments.trials import AGAIN
from loci.files import read_struct, write_json

RESULT, ROWS = "result.json", "recall.jsonl"
Counts = tuple[int, int]
"""So many, of so many."""


@dataclass(frozen=True)
class Measured:
    """One training and what it answered."""

    part: str
    """The part of the experiment it belongs to."""
    name: str
    recipe: str
    shows: str
    asked: str
    """Which questions: "dev", or a held-back fold of train."""
    asked_hash: str
    seed: int
    budget: float
    """Times the recipe's own characters."""
    parameters: int
    characters: int
    """Read in training."""
    reading_loss: float
    """Nats per character at the end of the first stage, which learns to read."""
    funnel: tuple[tuple[str, int, int], ...]
    """Name of a step, questions left after it, of how many."""
    labels: Counts | None
    """Of a model that labels: pseudo-labels about the people asked about that are right."""
    faithful: Counts | None
    """Of such a model: answers given as they were labelled, right or wrong."""
    rows: tuple[Row, ...] = ()

    @property
    def title(self) -> str:
        """What was trained, and how long."""
        return self.name if self.budget == 1 else f"{self.name}, {self.budget:g} × the budget"

    def right(self, split: str) -> list[bool]:
        """Which questions about the people of a split are answered rightly."""
        return [is_right(row) for row in scorable(self.rows) if row.split == split]


def write_result(run: Path, measured: Measured) -> None:
    """Keep it in the run's folder; the result comes last, so that a run that has it is done."""
    write_rows(run / "predictions" / ROWS, measured.rows)
    write_json(run / RESULT, {name: value for name, value in vars(measured).items() if name != "rows"})


def read_result(run: Path) -> Measured:
    """What `write_result` left in a run's folder."""
    kept = read_struct(run / RESULT, Measured, remedy=AGAIN)
    return replace(kept, rows=tuple(read_rows(run / "predictions" / ROWS)))


def read_results(folder: Path) -> list[Measured]:
    """All results below a folder, in the order of their paths."""
    return [read_result(path.parent) for path in sorted(folder.rglob(RESULT))]


def alike(measured: Iterable[Measured], key: Callable[[Measured], object]) -> list[list[Measured]]:
    """Those with the same key together, in the order met, each group by seed."""
    found: dict[object, list[Measured]] = defaultdict(list)
    for one in measured:
        found[key(one)].append(one)
    return [sorted(own, key=lambda m: m.seed) for own in found.values()]


def grouped(measured: Iterable[Measured]) -> list[list[Measured]]:
    """Trainings that differ in nothing but their seed together."""
    return alike(measured, lambda m: (m.part, m.name, m.budget, m.asked))


def accuracy(own: Sequence[Measured], split: str = HELD_OUT) -> Rate:
    """Right answers about the people of a split, of all seeds together."""
    return repeated([m.right(split) for m in own])


def answered(own: Sequence[Measured], split: str = NEVER_READ) -> Rate:
    """Answers given about the people of a split at the run's own threshold, of all seeds together."""
    rows = [[not row.abstained for row in m.rows if row.split == split] for m in own]
    return over_seeds([wilson(sum(said), len(said)) for said in rows])


@dataclass(frozen=True)
class Doubt:
    """Whether the probabilities of answers about held-out people can be trusted, several folds together."""

    right: Rate
    """The best answer is right, given or not."""
    answered_rightly: Rate
    answered_wrongly: Rate
    remembered: Rate | None
    """Of a model that labels: answers given as they were labelled."""
    auroc: Estimate
    """How often a right answer has a higher probability than a wrong one."""
    ece: float


def doubt(own: Sequence[Measured]) -> Doubt | None:
    """Of all held-out answers together, each of its own model; None where they have no probabilities."""
    rows = [row for m in own for row in _held_out(m)]
    if not has_probabilities(rows):
        return None
    scores = score_arrays(rows)
    # All folds with one seed are one model's answers to all questions; others answer the same ones.
    models = list(zip(*alike(own, lambda m: m.asked), strict=False))

    def share(of: Callable[[Row], bool]) -> Rate:
        return repeated([[of(row) for m in model for row in scorable(_held_out(m))] for model in models])

    return Doubt(
        right=share(lambda row: row.correct is True),
        answered_rightly=share(lambda row: row.correct is True and not row.silent),
        answered_wrongly=share(lambda row: not row.correct and not row.silent),
        remembered=counted([_together([m.faithful for m in model]) for model in models]),
        auroc=auroc_right(scores),
        ece=ece(scores),
    )


def _together(counts: Sequence[Counts | None]) -> Counts | None:
    known = [one for one in counts if one is not None]
    return (sum(kept for kept, _ in known), sum(n for _, n in known)) if known else None


def over_folds(measured: Iterable[Measured]) -> list[list[Measured]]:
    """Trainings that differ in nothing but their seed and the people held back together."""
    return alike(measured, lambda m: (m.part, m.name, m.budget))


def counted(counts: Sequence[Counts | None]) -> Rate | None:
    """Counts of several seeds about the same questions; which ones is not known, so they may be the same in all."""
    known = [one for one in counts if one is not None]
    n = sum(n for _, n in known)
    return wilson(sum(kept for kept, _ in known), n, independent=n / len(known)) if known else None


def left_after(own: Sequence[Measured], step: str) -> Rate | None:
    """Questions left after a step of the error funnel, all seeds together."""
    return counted([(kept, n) for m in own for name, kept, n in m.funnel if name == step])


def gain(whole: Sequence[Measured], own: Sequence[Measured]) -> tuple[Estimate, float] | None:
    """Share of held-out people gained over the whole recipe, and p; None where no seed was trained in both ways."""
    by_seed = {m.seed: m for m in whole}
    models = [paired(_held_out(by_seed[m.seed]), _held_out(m)) for m in own if m.seed in by_seed]
    return repeated_difference(models, np.random.default_rng(0)) if models else None


def _held_out(measured: Measured) -> list[Row]:
    return [row for row in measured.rows if row.split == HELD_OUT]


def numbers(own: Sequence[Measured]) -> dict[str, object]:
    """A group as JSON data."""
    rates = {split: accuracy(own, split) for split in (TAUGHT, HELD_OUT)} | {NEVER_READ: answered(own)}
    return {
        "name": own[0].title,
        **{name: getattr(own[0], name) for name in ("recipe", "asked", "budget", "parameters")},
        "characters": sum(m.characters for m in own) // len(own),
        "seeds": [m.seed for m in own],
        "accuracies": [accuracy([m]).value for m in own],
        "people": {
            split: {"successes": rate.successes, "n": rate.n, "low": rate.low, "high": rate.high}
            for split, rate in rates.items()
        },
        "funnel": {step: kept.value for step, _, _ in own[0].funnel if (kept := left_after(own, step)) is not None},
    }
