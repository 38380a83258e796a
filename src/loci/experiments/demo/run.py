"""The whole experiment on the embedded world: a baseline, a small model taught in three ways, and a report.

Four systems answer the same questions: the most common train answer, a model taught by the train questions alone, the
same model pretrained on the text first, and one that learned to read, wrote itself a question about everybody in the
text and memorized the answers. Budgets are in characters, so that every machine trains the same models. Steps this
small gain nothing from a second thread, so a second core trains one of the models meanwhile. Another seed needs another
folder.

examples:
  loci demo                               under five minutes on two cores
  loci demo --quick                       all steps within a minute; proves nothing
  loci demo --out demo-1 --seed 1 --json
"""

from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loci import machine
from loci.answering.evidence import EvidenceIndex
from loci.evaluation.asking import ask_rows
from loci.evaluation.metrics import most_common_answer, most_common_answer_baseline
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, Row, read_rows, write_rows
from loci.experiments.demo.page import demo_report
from loci.experiments.demo.result import DemoResult, Example, system_result
from loci.experiments.trials import Hooks, Settings, keep_report, keep_world, open_folder, trial
from loci.recipes import DataShape
from loci.recipes.demo import DEMO_WORLD, demo, demo_scratch, demo_self_training
from loci.report.parts import Report
from loci.text.questions import Questions
from loci.training.checkpoint import LoadedModel
from loci.training.plan import Recipe
from loci.training.run import PREDICTIONS, holds_run, read_metrics, read_run
from loci.training.sources import TrainingData

N_EXAMPLES = 10
#: Split → the world's file of questions about its people.
FILES = {TAUGHT: "birth_places_train", HELD_OUT: "birth_dev", NEVER_READ: "birth_outside"}


@dataclass(frozen=True)
class Options:
    """Which demo."""

    seed: int = 0
    """Seed of the world and of the trainings."""
    quick: bool = False
    """A small model for a few seconds: shows the steps, proves nothing."""


#: Name, explanation and recipe of each model; the one that is expected to know most comes last.
SYSTEMS = (
    ("no pretraining", "taught by the train questions alone", demo_scratch),
    ("pretrained", "read the text first, then the same questions", demo),
    ("self-training", "learned to read, wrote itself a question about everybody", demo_self_training),
)
MEANWHILE = "pretrained"


def run(out: Path, options: Options = Options(), hooks: Hooks = Hooks()) -> Report:
    """Carry out the demo; what an earlier call finished is not done again."""
    world = dataclasses.replace(DEMO_WORLD, seed=options.seed)
    open_folder(out, "demo", options, may_change=())
    data = TrainingData.read(keep_world(world, out / "world"))
    asked = {split: Questions.read(out / "world" / f"{name}.tsv") for split, name in FILES.items()}
    assert data.questions is not None
    answers = [answer for question in data.questions.answered for answer in question.answers[:1]]
    common = [
        dataclasses.replace(row, split=split)
        for split, questions in asked.items()
        for row in most_common_answer_baseline(answers, questions)
    ]
    systems = [system_result("most common place", f"always says {most_common_answer(answers)}", common)]
    shape, settings = DataShape.of(data.corpus, data.questions), Settings(quick=options.quick)
    recipes = {name: settings.budgeted(make(shape), options.seed) for name, _, make in SYSTEMS}
    if not options.quick and machine.usable_cores() > 1:
        with _on_another_core(recipes[MEANWHILE], out, hooks), machine.threads(1):
            for name, recipe in recipes.items():
                if name != MEANWHILE:
                    trial(recipe, data, out / recipe.name, name, hooks)
    for name, explanation, _ in SYSTEMS:
        recipe = recipes[name]
        rows = _answers(trial(recipe, data, out / recipe.name, name, hooks), asked, out / recipe.name)
        systems.append(system_result(name, explanation, rows, read_metrics(out / recipe.name)))
    last = [s.metrics[-1] for s in systems if s.metrics]
    counts = world.counts
    result = DemoResult(
        systems=tuple(systems),
        examples=_examples([row for row in rows if row.split == HELD_OUT][:N_EXAMPLES], data),
        people={"train": counts.train, "held_out": counts.dev, "never_read": counts.outside},
        lines=len(data.corpus),
        seed=options.seed,
        characters=sum(row["characters"] for row in last),
        minutes=sum(row["seconds"] for row in last) / 60,
        quick=options.quick,
    )
    return keep_report(out, demo_report(result))


@contextlib.contextmanager
def _on_another_core(recipe: Recipe, out: Path, hooks: Hooks) -> Iterator[None]:
    """Carry a recipe out in a second process during the block; what that leaves undone, a later trial does."""
    run = out / recipe.name
    flags = ["--recipe", recipe.name, "--data", str(out / "world"), "--seed", str(recipe.seed)]
    command = [sys.executable, "-m", "loci", "train", "--out", str(run), "--threads", "1", "--no-tensorboard"]
    command += ["--resume"] if holds_run(run) else flags
    if holds_run(run) and read_run(run).finished:
        yield
        return
    hooks.say(f"training meanwhile: {MEANWHILE}")
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
        while process.poll() is None and not hooks.should_stop():
            time.sleep(0.2)
    finally:
        process.terminate()  # it saves a checkpoint first
        process.wait()


def _answers(loaded: LoadedModel, asked: dict[str, Questions], folder: Path) -> list[Row]:
    """What a model says about everybody; answers that are there already are read."""
    rows: list[Row] = []
    for split, questions in asked.items():
        file = folder / PREDICTIONS / f"{FILES[split]}.jsonl"
        if not file.exists():
            # About people nobody wrote about, what counts is whether the run would say anything at all.
            write_rows(file, ask_rows(loaded, questions, split=split, withhold=split == NEVER_READ))
        rows += read_rows(file)
    return rows


def _examples(rows: list[Row], data: TrainingData) -> tuple[Example, ...]:
    index = EvidenceIndex(data.corpus)
    found = []
    for row in rows:
        lines = index.find(row.question, subject=row.subject, answer=row.answers[0])
        found.append(Example(row, next((line for line in lines if line.supports), None)))
    return tuple(found)
