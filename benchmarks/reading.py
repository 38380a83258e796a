"""Reading alone: how many answers self-training writes rightly about people it was not taught, with and without habit.

One reader is trained for each fifth of the train questions, on the other four, and reads the lines of the people held
back. What it writes about them is what self-training would memorize; it stays in the reader's folder
(pseudo_labels.tsv). The train questions are all that is looked at.

    python benchmarks/reading.py --data course --out reading --minutes 6
"""

from __future__ import annotations

import dataclasses
import json as json_format
import sys
from itertools import chain
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from loci.cli.progress import ProgressBar
from loci.errors import LociError
from loci.evaluation.metrics import exact_match
from loci.evaluation.rows import Row
from loci.evaluation.significance import mcnemar, paired, paired_bootstrap
from loci.experiments.recall.run import FOLDS, dealt
from loci.files import write_json
from loci.pipeline import carry_out
from loci.pipeline.labelers import LABELERS
from loci.recipes import DataShape, make_recipe
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.training.checkpoint import load_model
from loci.training.plan import Recipe
from loci.training.run import PSEUDO_LABELS
from loci.training.sources import TrainingData

Pairs = list[tuple[Row, Row]]


def main(
    out: Path,
    data: Path,
    minutes: float = 6.0,
    folds: tuple[int, ...] = tuple(range(FOLDS)),
    seed: int = 0,
    processor: bool = False,
    set: tyro.conf.UseAppendAction[tuple[str, ...]] = (),
    json: bool = False,
) -> None:
    """Train a reader a fold, let it write answers both ways, and print a table.

    Args:
        out: Where the runs go, one folder a fold: stopped, the same command goes on. reading.json is written there.
        data: A folder with a corpus and train questions.
        minutes: Time for each reader.
        folds: Which fifths of the train questions are held back, one after the other.
        seed: The seed of all readers.
        processor: Count minutes by the processor's own clock, which other work on the machine hardly changes; for one
            thread.
        set: A change to the recipe, as read.field=value or model.field=value.
        json: Print JSON instead of a table.
    """
    corpus, questions = Corpus.read(data), Questions.read(data, split="train")
    found: dict[str, Pairs] = {}
    for fold in folds:
        taught, asked = dealt(questions, fold)
        known = TrainingData(corpus, taught)
        recipe = make_recipe("self-training", DataShape.of(corpus, taught)).override(set)
        reader = dataclasses.replace(recipe, steps=recipe.steps[:1], seed=seed).within(minutes)
        run = out / f"fold{fold}-{minutes:g}min-seed{seed}"
        _trained(reader, known, run, processor)
        label = LABELERS["self-training"]
        ways = [label(load_model(run), known, lambda done, total: None, use_prior=way) for way in (False, True)]
        ways[-1].write(run / PSEUDO_LABELS)
        found[f"fold {fold}"] = paired(*(_rows(written, asked) for written in ways))
    _show(found, out, json)


def _trained(reader: Recipe, known: TrainingData, run: Path, processor: bool) -> None:
    carry_out(
        reader,
        known,
        run,
        observers=lambda folder: [ProgressBar(folder.name)],
        resume=None,
        clock=process_time if processor else perf_counter,
    )


def _rows(studied: Questions, asked: Questions) -> list[Row]:
    """What was written about those asked for, as rows; nothing about somebody without a line."""
    answers = {row.text: row.answer or "" for row in studied}
    return [Row(question=row.text, prediction=answers.get(row.text, ""), answers=row.answers) for row in asked]


def _show(found: dict[str, Pairs], out: Path, json: bool) -> None:
    rows, numbers = [], {}
    together = list(chain.from_iterable(found.values()))
    for name, pairs in {**found, "all": together}.items():
        before, after = (exact_match(pair[way] for pair in pairs) for way in (0, 1))
        test = mcnemar(pairs)
        gain = paired_bootstrap(test, np.random.default_rng(0))
        rows.append((name, str(before), str(after), str(gain), f"{test.p_value:.2g}"))
        numbers[name] = {
            "n": test.n,
            "right_by_reading": test.both + test.only_first,
            "right_by_habit": test.both + test.only_second,
            "gain": [gain.value, gain.low, gain.high],
            "p": test.p_value,
        }
    write_json(out / "reading.json", numbers)
    if json:
        print(json_format.dumps(numbers))
        return
    table = Table("held back", "reading alone", "and habit", "gained", "p", title="Answers written rightly")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    try:
        tyro.cli(main)
    except LociError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
