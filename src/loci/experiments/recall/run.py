"""Recall: what each part of a recipe brings, which attention stores facts, and how accuracy grows with time.

Everything is chosen on slices of the train questions: `dealt` holds one fifth back, the models learn from the rest, and
the slice's answers only score. An arm is a recipe with a change; arms, seeds and slices are trained one by one, each in
a folder of its own, and never twice. Knows the order of the steps; each step is another room's.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from loci.errors import LociError
from loci.evaluation.asking import ask_rows
from loci.evaluation.rows import Row, read_rows, write_rows
from loci.experiments.recall.ablations import Arm
from loci.experiments.recall.funnel import error_funnel
from loci.experiments.recall.page import Measured
from loci.experiments.recall.page import Question as Aim
from loci.experiments.trials import Hooks, Stopped
from loci.files import read_object, write_json
from loci.pipeline import carry_out as train
from loci.recipes import DataShape, make_recipe
from loci.text.questions import Questions
from loci.training.checkpoint import load_model
from loci.training.run import PREDICTIONS, PSEUDO_LABELS, holds_run, other_training, read_metrics, read_run
from loci.training.sources import TrainingData

FOLDS = 5
RESULT, ASKED, ASKED_HASH = "result.json", "asked.jsonl", "asked_hash"
LAST_STEPS = 20
"""Steps at the end of a stage whose mean loss is told."""


def dealt(questions: Questions, fold: int) -> tuple[Questions, Questions]:
    """Train questions without one fifth of them, and that fifth; neighbours stay together, as in a file of its own.

    What is asked is not taught: a file may hold a question twice, and the other one is then left out.
    """
    if not 0 <= fold < FOLDS:
        raise LociError(f"there are folds 0 to {FOLDS - 1}, not {fold}")
    n = len(questions)
    start, stop = n * fold // FOLDS, n * (fold + 1) // FOLDS
    asked = questions[start:stop]
    if not len(asked):
        raise LociError(f"{n} questions cannot be dealt into {FOLDS} folds", path=questions.path)
    texts, subjects = {row.text for row in asked}, {row.subject for row in asked} - {None}
    others = questions.rows[:start] + questions.rows[stop:]
    rest = tuple(row for row in others if row.text not in texts and row.subject not in subjects)
    return dataclasses.replace(questions, rows=rest), asked


def carry_out(
    arm: Arm,
    data: TrainingData,
    asked: Questions,
    run: Path,
    *,
    what: Aim,
    named: str,
    seed: int,
    minutes: float | None,
    overrides: Sequence[str] = (),
    hooks: Hooks = Hooks(),
    clock: Callable[[], float] = time.perf_counter,
) -> Measured:
    """Train one arm (or go on, or do nothing when it is done), ask it, and see where the points went.

    `named` says which questions are asked. A folder that holds another training, or other answers, is a `LociError`.
    """
    made = arm.change(make_recipe(arm.recipe, DataShape.of(data.corpus, data.questions)))
    made = dataclasses.replace(made.override(overrides), seed=seed)
    made = made.within(minutes) if minutes is not None else made
    if holds_run(run) and (difference := other_training(read_run(run), made, data.describe())) is not None:
        raise LociError(difference, path=run, remedy="choose another --out")
    if (run / RESULT).is_file() and read_object(run / RESULT).get(ASKED_HASH) != asked.hash:
        raise LociError("was asked other questions", path=run / RESULT, remedy="choose another --out")
    if (run / RESULT).is_file():
        return read_result(run)
    hooks.say(f"training: {arm.name}, seed {seed}")
    outcome = train(
        made,
        data,
        run,
        resume=None,
        observers=lambda folder: hooks.observers(f"{arm.name}, seed {seed}"),
        should_stop=hooks.should_stop,
        clock=clock,
    )
    if not outcome.finished:
        raise Stopped
    loaded = load_model(run)
    rows = ask_rows(loaded, asked)
    write_rows(run / PREDICTIONS / ASKED, rows)
    labels = run / PSEUDO_LABELS
    studied = Questions.read(labels) if labels.is_file() else None
    waterfall = error_funnel(loaded, asked, rows, data.corpus, studied=studied)
    metrics = read_metrics(run)
    first = [row["loss"] for row in metrics if row["stage"] == made.stages[0].name][-LAST_STEPS:]
    measured = Measured(
        what=what,
        arm=arm.name,
        recipe=arm.recipe,
        shows=arm.shows,
        asked=named,
        seed=seed,
        minutes=minutes,
        parameters=sum(parameter.numel() for parameter in loaded.model.parameters()),
        characters=metrics[-1]["characters"],
        reading_loss=sum(first) / len(first),
        waterfall=tuple((step.name, step.kept.successes, step.kept.n) for step in waterfall),
        rows=tuple(rows),
        faithful=None if studied is None else _faithful(rows, studied),
    )
    kept = {name: value for name, value in vars(measured).items() if name != "rows"} | {ASKED_HASH: asked.hash}
    write_json(run / RESULT, kept)  # last: a run that has it is done
    return measured


def read_result(run: Path) -> Measured:
    """What `carry_out` left in a run's folder."""
    kept = read_object(run / RESULT)
    kept.pop(ASKED_HASH, None)
    try:
        kept["waterfall"] = tuple(tuple(step) for step in kept["waterfall"])
        kept["faithful"] = kept["faithful"] and tuple(kept["faithful"])
        return Measured(**kept, rows=tuple(read_rows(run / PREDICTIONS / ASKED)))
    except (KeyError, TypeError) as error:
        raise LociError(f"is no result of a recall training ({error})", path=run / RESULT) from None


def read_results(folder: Path) -> list[Measured]:
    """All results below a folder, in the order of their paths."""
    return [read_result(path.parent) for path in sorted(folder.rglob(RESULT))]


def _faithful(rows: Sequence[Row], studied: Questions) -> tuple[int, int]:
    """Answers given as they were written while studying."""
    written = {question.text: question.answer for question in studied}
    return sum(row.prediction == written.get(row.question) for row in rows), len(rows)
