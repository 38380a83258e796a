"""The recall recipes on real files: what each lever brings, which attention stores facts, how accuracy grows.

Every arm and seed is trained in a folder of its own below --out and never twice: stopped, the same command goes on.
Without --dev a fifth of the train questions is held back and asked about; with it the recipes learn from all of them
and are asked the dev file, which is a look at dev: write it down.

    python benchmarks/recall.py levers   --data course --out recall --minutes 10 --seeds 3
    python benchmarks/recall.py variants --data course --out recall --minutes 10 --seeds 3
    python benchmarks/recall.py storing  --data course --out recall --minutes 3 --studied RUN/pseudo_labels.tsv
    python benchmarks/recall.py curve    --data course --out recall --recipes recite --seeds 1
    python benchmarks/recall.py final    --data course --out recall --dev --seeds 3
    python benchmarks/recall.py page     --out recall
"""

from __future__ import annotations

import json as json_format
import re
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Annotated, Literal

import tyro
from rich.console import Console
from rich.table import Table

from loci.cli.progress import ProgressBar
from loci.errors import LociError
from loci.evaluation.metrics import exact_match
from loci.experiments.recall.ablations import LEVERS, Arm, storing_arms, variant_arms
from loci.experiments.recall.page import recall_report
from loci.experiments.recall.run import carry_out, dealt, read_results
from loci.experiments.trials import Hooks
from loci.files import write_json
from loci.report.parts import ExperimentReport
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.training.run import PSEUDO_LABELS
from loci.training.sources import TrainingData

MINUTES = (5.0, 10.0, 20.0, 40.0, 60.0)
ATTENTIONS = ("vanilla", "rope", "synthesizer", "perceiver", "folded")
ORDINALS = ("first", "second", "third", "fourth", "last")
What = Literal["levers", "variants", "storing", "curve", "final", "page"]


def main(
    what: Annotated[What, tyro.conf.Positional],
    out: Path,
    data: Path | None = None,
    recipes: tuple[Literal["recite", "self-training"], ...] = ("recite", "self-training"),
    seeds: int = 3,
    first_seed: int = 0,
    minutes: float | None = None,
    fold: int = 0,
    dev: bool = False,
    processor: bool = False,
    studied: Path | None = None,
    only: tuple[str, ...] = (),
    set: tyro.conf.UseAppendAction[tuple[str, ...]] = (),
    json: bool = False,
) -> None:
    """Train, ask, and print a table.

    Args:
        what: levers: the recipe and what it is without each part. variants: the same recipe with other attention.
            storing: other attention learns by heart what one and the same reader wrote.
            curve: accuracy after 5 to 60 minutes. final: the recipe itself. page: all of it that is there, on one page.
        out: Where the runs go, in a folder for each question; page writes recall.html and results.json there.
        data: A folder with a corpus, train questions and, for --dev, a dev file.
        recipes: Which of the two.
        seeds: How many trainings of each kind.
        first_seed: The first seed; several calls can share the work.
        minutes: Time for each training, instead of the recipe's own; of a curve only this point.
        fold: Which fifth of the train questions is held back.
        dev: Learn from all train questions and ask the dev file instead.
        processor: Count minutes by the processor's own clock, which other work on the machine hardly changes; for one
            thread.
        studied: For storing: the questions and answers a self-training run wrote, taught by the same slice.
        only: Only the arms of these names; of a curve or final, a lever's arm instead of the recipe itself.
        set: A change to the recipe, as stage.field=value or model.field=value.
        json: Print JSON instead of a table.
    """
    if what == "page":
        return _page(out, json)
    if data is None:
        raise LociError("--data is missing", remedy="name a folder with a corpus and train questions")
    if seeds < 1:
        raise LociError(f"--seeds must be at least 1, it is {seeds}")
    corpus, questions = Corpus.read(data), Questions.read(data, split="train")
    taught, asked = (questions, Questions.read(data, split="dev")) if dev else dealt(questions, fold)
    console = Console(stderr=True)
    bar = Hooks(observers=lambda name: [ProgressBar(name)], say=console.print)
    named = "dev" if dev else f"the {ORDINALS[fold]} fifth of train"
    done = []
    plan = _plan(what, recipes, minutes, studied, only)
    if unknown := sorted({*only} - {arm.name for arm, _ in plan}):
        raise LociError(
            f"no arm is called {unknown[0]!r}", remedy="; ".join(dict.fromkeys(arm.name for arm, _ in plan))
        )
    for arm, time in plan:
        if only and arm.name not in only:
            continue
        for seed in range(first_seed, first_seed + seeds):
            slice_name = "dev" if dev else f"fold{fold}"
            run = out / what / f"{_slug(arm.name)}{f'-{time:g}min' if time else ''}-{slice_name}-seed{seed}"
            _require_same_lesson(run, studied)
            measured = carry_out(
                arm,
                TrainingData(corpus, taught),
                asked,
                run,
                what=what,
                named=named,
                seed=seed,
                minutes=time,
                overrides=set,
                hooks=bar,
                clock=process_time if processor else perf_counter,
            )
            console.print(f"{arm.name}, seed {seed}: {exact_match(measured.rows)}")
            done.append(measured)
    _show(recall_report(done), json)


def _require_same_lesson(run: Path, studied: Path | None) -> None:
    """Refuse a folder in which something else was learned by heart."""
    kept = run / PSEUDO_LABELS
    if studied is not None and kept.is_file() and Questions.read(kept).hash != Questions.read(studied).hash:
        raise LociError("was written by another reader", path=kept, remedy="choose another --out")


def _page(out: Path, json: bool) -> None:
    """Everything measured below a folder, on one page."""
    measured = read_results(out)
    if not measured:
        raise LociError(
            "holds no results", path=out, remedy="train first: recall.py final --data DIR --out " + str(out)
        )
    report = recall_report(measured)
    report.page().write(out / "recall.html")
    write_json(out / "results.json", report.numbers)
    _show(report, json)
    Console(stderr=True).print(out / "recall.html")


def _show(report: ExperimentReport, json: bool) -> None:
    if json:
        print(json_format.dumps(report.numbers, ensure_ascii=False))
        return
    for section in report.sections:
        for table in section.tables:
            drawn = Table(*table.headers, title=section.title, caption=table.caption)
            for row in table.rows:
                drawn.add_row(*("" if cell is None else str(cell) for cell in row))
            Console().print(drawn)


def _plan(
    what: What, recipes: tuple[str, ...], minutes: float | None, studied: Path | None, only: tuple[str, ...]
) -> list[tuple[Arm, float | None]]:
    if what == "levers":
        return [(arm, minutes) for arm in LEVERS if arm.recipe in recipes]
    if what == "variants":
        return [(arm, minutes) for recipe in recipes for arm in variant_arms(recipe, ATTENTIONS)]
    if what == "storing":
        if studied is None:
            raise LociError("--studied is missing", remedy="name the pseudo_labels.tsv of a self-training run")
        return [(arm, minutes) for arm in storing_arms(studied, ATTENTIONS)]
    own = [arm for arm in LEVERS if arm.recipe in recipes and (only or arm.name == arm.recipe)]
    return [(arm, time) for arm in own for time in (MINUTES if what == "curve" and minutes is None else (minutes,))]


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name).strip("-")


if __name__ == "__main__":
    try:
        tyro.cli(main)
    except LociError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
