"""What does each part of the recall recipes bring, which attention stores facts, and how does accuracy grow?

Every training lies in a folder of its own below --out and is never repeated: stopped, the same command goes on. Without
--dev a fold of the train questions is held back and asked about; with it the recipes learn from all of them and are
asked the dev file, which is a look at dev: write it down. The page shows everything that was measured below --out.

examples:
  loci experiment recall --data course --parts ablations --out recall
  loci experiment recall --data course --parts recipes --dev --out recall
  loci experiment recall --data course --parts budgets --recipes self-training --seeds 1 --out recall
  loci experiment recall --data course --parts storing --labels RUN/pseudo_labels.tsv --out recall
  loci experiment recall --parts --out recall          only the page
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from loci.errors import LociError
from loci.evaluation.asking import ask_rows
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, Row
from loci.experiments.recall.ablations import ABLATIONS, RECIPES, Ablation, named, storing, variants
from loci.experiments.recall.funnel import model_funnel
from loci.experiments.recall.page import recall_report
from loci.experiments.recall.result import RESULT, Measured, read_result, read_results, write_result
from loci.experiments.trials import Hooks, Settings, keep_report, trial, trial_metrics
from loci.recipes import DataShape, make_recipe
from loci.report.parts import Report
from loci.text.match import is_accepted
from loci.text.questions import Questions
from loci.text.strangers import Strangers
from loci.training.checkpoint import LoadedModel
from loci.training.plan import Recipe
from loci.training.run import PSEUDO_LABELS
from loci.training.sources import TrainingData

FOLDS = 5
BUDGETS = (0.25, 0.5, 1.0, 2.0)
LAST_STEPS = 20
"""Steps at the end of a stage whose mean loss is reported."""
PEOPLE = 200
"""So many of the taught people, and so many names nobody wrote about, are asked about too."""
Part = Literal["recipes", "budgets", "ablations", "variants", "storing"]


@dataclass(frozen=True)
class Options(Settings):
    """What is trained, and on what."""

    data: Path | None = None
    """A folder with a corpus, train questions and, for --dev, a dev file."""
    parts: tuple[Part, ...] = ("recipes",)
    """recipes: recite and self-training. budgets: the same with a quarter to twice the characters. ablations: the
    recipes and what they are without each part. variants: the same recipes with other attention. storing: other
    attention memorizes what one and the same reader wrote."""
    recipes: tuple[str, ...] = ("recite", "self-training")
    """Which of the two."""
    only: tuple[str, ...] = ()
    """Only the ablations of these names."""
    fold: int = 0
    """Which of five folds of the train questions is held back."""
    dev: bool = False
    """Learn from all train questions and ask the dev file instead."""
    labels: Path | None = None
    """For storing: the pseudo_labels.tsv of a self-training run that was taught by the same questions."""
    set: tuple[str, ...] = ()
    """Changes to the recipes, as stage.field=value or model.field=value."""


def run(out: Path, options: Options, hooks: Hooks = Hooks()) -> Report:
    """Train and ask what is not there yet; then everything measured below `out`, on one page."""
    if planned := _planned(options):
        taught, asked, label = _data(options)
        for part, one, budget in planned:
            for seed in options.every_seed:
                name = f"{one.name}{f' x{budget:g}' if budget != 1 else ''} {label} seed{seed}"
                folder = out / part / re.sub(r"[^\w.]+", "-", name)
                made = one.change(make_recipe(one.recipe, DataShape.of(taught.corpus, taught.questions)))
                made = options.budgeted(made.override(options.set), seed, budget)
                about = Measured(
                    *(part, one.name, one.recipe, one.shows, label, asked.hash, seed, budget),
                    *(0, 0, 0.0, (), None, None),
                )
                measure(about, made, taught, asked, folder, hooks)
    measured = read_results(out) if out.is_dir() else []
    if not measured:
        raise LociError("holds no results", path=out, remedy="train first: --data FOLDER --parts recipes")
    return keep_report(out, recall_report(measured))


def _planned(options: Options) -> list[tuple[str, Ablation, float]]:
    """Part, ablation and budget of everything to be trained. What is wrong is said before anything is."""
    found: list[tuple[str, Ablation, float]] = []
    if "storing" in options.parts and options.labels is None:
        raise LociError("--labels is missing", remedy="name the pseudo_labels.tsv of a self-training run")
    if options.parts and options.data is None:
        raise LociError("--data is missing", remedy="name a folder with a corpus and train questions")
    for part in options.parts:
        if part == "storing":
            assert options.labels is not None
            all_of_it = storing(options.labels)
        elif part == "variants":
            all_of_it = tuple(one for recipe in options.recipes for one in variants(recipe))
        else:
            all_of_it = ABLATIONS if part == "ablations" or options.only else RECIPES
        chosen = [one for one in named(options.only, all_of_it) if one.recipe in options.recipes]
        if not chosen:
            names = "; ".join(one.name for one in all_of_it)
            raise LociError(f"--only {' '.join(options.only)}: no such ablation", remedy=f"one of: {names}")
        budgets = BUDGETS if part == "budgets" else (options.budget,)
        found += [(part, one, budget) for one in chosen for budget in budgets]
    return found


def _data(options: Options) -> tuple[TrainingData, Questions, str]:
    """What teaches, what is asked, and what the questions are called."""
    assert options.data is not None
    data = TrainingData.read(options.data)
    if data.questions is None:
        raise LociError("no file of train questions in this folder", path=options.data)
    if options.dev:
        return data, Questions.read(options.data, split="dev"), "dev"
    taught, asked = held_back(data.questions, options.fold)
    return dataclasses.replace(data, questions=taught), asked, f"fold {options.fold}"


def held_back(questions: Questions, fold: int) -> tuple[Questions, Questions]:
    """Train questions without one fold of them, and that fold; neighbours stay together, as in a file of its own.

    What is asked is not taught: a file may hold a question twice, and the other one is then left out.
    """
    if not 0 <= fold < FOLDS:
        raise LociError(f"there are folds 0 to {FOLDS - 1}, not {fold}")
    n = len(questions)
    start, stop = n * fold // FOLDS, n * (fold + 1) // FOLDS
    asked = questions[start:stop]
    if not len(asked):
        raise LociError(f"{n} questions are too few for {FOLDS} folds", path=questions.path)
    texts, subjects = {row.text for row in asked}, {row.subject for row in asked} - {None}
    others = [*questions.rows[:start], *questions.rows[stop:]]
    rest = tuple(row for row in others if row.text not in texts and row.subject not in subjects)
    return dataclasses.replace(questions, rows=rest), asked


def measure(about: Measured, recipe: Recipe, data: TrainingData, asked: Questions, run: Path, hooks: Hooks) -> Measured:
    """Train (or go on, or do nothing when it is done), ask, and see where questions are lost."""
    if (run / RESULT).is_file():
        found = read_result(run)
        if found.asked_hash != asked.hash:
            raise LociError("was asked other questions", path=run / RESULT, remedy="choose another --out")
    strangers = _strangers(data)  # now, not after hours
    loaded = trial(recipe, data, run, f"{about.title}, seed {about.seed}", hooks)  # refuses another training
    if (run / RESULT).is_file():
        return found
    rows = ask_rows(loaded, asked, split=HELD_OUT)
    labels = Questions.read(run / PSEUDO_LABELS) if (run / PSEUDO_LABELS).is_file() else None
    metrics = trial_metrics(loaded, recipe, run)
    first = [row["loss"] for row in metrics if row["stage"] == recipe.stages[0].name][-LAST_STEPS:]
    funnel = model_funnel(loaded, asked, rows, data.corpus, labels=labels)
    written = {} if labels is None else {question.text: question.answer or "" for question in labels}
    measured = dataclasses.replace(
        about,
        parameters=sum(parameter.numel() for parameter in loaded.model.parameters()),
        characters=metrics[-1]["characters"],
        reading_loss=sum(first) / len(first),
        funnel=tuple((step.name, step.kept.successes, step.kept.n) for step in funnel),
        labels=None if labels is None else _count(is_accepted(written.get(q.text, ""), q.answers) for q in asked),
        faithful=None if labels is None else _count(row.prediction == written.get(row.question) for row in rows),
        rows=(*rows, *_other_people(loaded, data, strangers)),
    )
    write_result(run, measured)
    return measured


def _count(passed: Iterable[bool]) -> tuple[int, int]:
    found = list(passed)
    return sum(found), len(found)


def _other_people(loaded: LoadedModel, data: TrainingData, strangers: Questions) -> list[Row]:
    """Rows about the first taught people, and about names nobody wrote about, silent below the run's threshold."""
    assert data.questions is not None
    taught = ask_rows(loaded, data.questions[:PEOPLE], split=TAUGHT)
    return taught + ask_rows(loaded, strangers, split=NEVER_READ, withhold=True)


def _strangers(data: TrainingData) -> Questions:
    names = Strangers(sorted(data.corpus.by_subject)).at_most("recombined", PEOPLE, np.random.default_rng(0))
    return Questions.from_pairs((data.template.ask(name), None) for name in names)
