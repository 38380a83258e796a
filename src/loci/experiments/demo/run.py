"""The demo: the course's experiment on the embedded world, from nothing to a report.

Four systems answer the same questions about held-out people: the most common train answer, the model taught by the
train questions alone, the same model pretrained on the text first, and one that learned to read the text and studied it
by itself. Knows the order of the steps; each step is another room's.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loci.answering.evidence import EvidenceIndex
from loci.errors import LociError
from loci.evaluation.asking import ask_rows
from loci.evaluation.metrics import exact_match, most_common_answer, most_common_answer_baseline
from loci.evaluation.rows import Row, write_rows
from loci.experiments.demo.page import DemoRow, Example, demo_page
from loci.files import write_json
from loci.pipeline import carry_out
from loci.recipes import DataShape
from loci.recipes.demo import DEMO_WORLD, demo, demo_scratch
from loci.recipes.recall import self_training
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.world import write_world
from loci.training.checkpoint import load_model
from loci.training.plan import Recipe
from loci.training.reports import Observer
from loci.training.run import PREDICTIONS, read_metrics
from loci.training.sources import TrainingData

N_EXAMPLES = 10
MINUTES = 3.5
"""Training time of all models together: with installation and everything else under five minutes."""


@dataclass(frozen=True)
class System:
    """A model of the comparison, with its share of the training time."""

    name: str
    explanation: str
    recipe: Callable[[DataShape], Recipe]
    share: float


def _small_study(shape: DataShape) -> Recipe:
    """Self-training in more and smaller steps: the world is small, and so is the time."""
    return self_training(shape).override(("read.batch_size=16", "read.time_share=3", "memorize.time_share=1"))


#: The one that is expected to know most comes last. Without pretraining the few questions are soon learned by heart.
SYSTEMS = (
    System("no pretraining", "taught by the train questions alone", demo_scratch, 0.06),
    System("pretrained", "read the text first, then the same questions", demo, 0.42),
    System("self-training", "learned to read, wrote itself a question about everybody", _small_study, 0.52),
)


@dataclass(frozen=True)
class DemoResult:
    """What the demo found."""

    rows: tuple[DemoRow, ...]
    examples: tuple[Example, ...]
    minutes: float
    report: Path


def run_demo(
    out: Path,
    *,
    minutes: float | None = None,
    seed: int = 0,
    observers: Callable[[str, Path], Sequence[Observer]],
    say: Callable[[str], None] = lambda text: None,
) -> DemoResult:
    """Carry out the demo in a new folder. `observers` are made for each training by its name and run folder."""
    if minutes is not None and not minutes > 0:
        raise LociError(f"--minutes must be positive, it is {minutes:g}")
    world = dataclasses.replace(DEMO_WORLD, seed=seed)  # refuses a bad seed before an earlier demo is removed
    if out.exists() and any(out.iterdir()):
        if not (out / "demo.json").exists():
            raise LociError("is not empty and no earlier demo", path=out, remedy="choose another --out")
        _remove_earlier(out)
    started = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "demo.json", {"seed": seed, "minutes": minutes})
    say(f"writing a world of {world.people} people")
    write_world(world, out / "world")
    data = TrainingData(Corpus.read(out / "world"), Questions.read(out / "world" / "birth_places_train.tsv"))
    held_out = Questions.read(out / "world" / "birth_dev.tsv")
    assert data.questions is not None
    shape = DataShape.of(data.corpus, data.questions)

    def learned(system: System) -> tuple[DemoRow, list[Row]]:
        recipe = dataclasses.replace(
            system.recipe(shape).within((MINUTES if minutes is None else minutes) * system.share), seed=seed
        )
        run = out / recipe.name
        say(f"training: {system.name}")
        carry_out(recipe, data, run, observers=lambda folder: observers(system.name, folder))
        predictions = ask_rows(load_model(run), held_out, split="held-out")
        write_rows(run / PREDICTIONS / "birth_dev.jsonl", predictions)
        return DemoRow(system.name, system.explanation, exact_match(predictions), read_metrics(run)), predictions

    train_answers = [answer for question in data.questions.answered for answer in question.answers[:1]]
    baseline = exact_match(most_common_answer_baseline(train_answers, held_out))
    rows = [DemoRow("most common place", f"always says {most_common_answer(train_answers)}", baseline)]
    predictions: list[Row] = []
    for system in SYSTEMS:
        row, predictions = learned(system)
        rows.append(row)
    index = EvidenceIndex(data.corpus)
    examples = tuple(_example(row, index) for row in predictions[:N_EXAMPLES])
    spent = (time.perf_counter() - started) / 60
    about = {"people": world.people, "lines": len(data.corpus), "train": len(train_answers)}
    demo_page(rows, examples, world=about, minutes=spent).write(out / "report.html")
    return DemoResult(tuple(rows), examples, spent, out / "report.html")


def _example(row: Row, index: EvidenceIndex) -> Example:
    found = index.find(row.question, subject=row.subject, answer=row.answers[0])
    supporting = [evidence for evidence in found if evidence.supports]
    return Example(row, supporting[0] if supporting else None)


def _remove_earlier(out: Path) -> None:
    """Make room for a new demo: only what an earlier one wrote."""
    import shutil

    for name in ("world", "demo", "demo-scratch", "self-training"):
        shutil.rmtree(out / name, ignore_errors=True)
    for name in ("report.html", "demo.json"):
        (out / name).unlink(missing_ok=True)


def as_json(result: DemoResult) -> str:
    """The result for a script."""
    rows = [
        {"system": row.name, "correct": row.rate.successes, "n": row.rate.n, "low": row.rate.low, "high": row.rate.high}
        for row in result.rows
    ]
    return json.dumps({"systems": rows, "minutes": round(result.minutes, 2), "report": str(result.report)}, indent=2)
