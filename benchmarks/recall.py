"""The recall recipes on real files: what each lever brings, which attention stores facts, how accuracy grows.

Every arm and seed is trained in a folder of its own below --out and never twice: stopped, the same command goes on.
Without --dev a fifth of the train questions is held back and asked about; with it the recipes learn from all of them
and are asked the dev file, which is a look at dev: write it down.

    python benchmarks/recall.py levers   --data ../shared/data/course --out runs/levers --minutes 10 --seeds 3
    python benchmarks/recall.py variants --data ../shared/data/course --out runs/variants --minutes 10 --seeds 3
    python benchmarks/recall.py curve    --data ../shared/data/course --out runs/curve --recipes strict --seeds 1
    python benchmarks/recall.py final    --data ../shared/data/course --out runs/final --dev --seeds 3
"""

from __future__ import annotations

import dataclasses
import json as json_format
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.table import Table

from loci.cli.progress import ProgressBar
from loci.experiments.recall import LEVERS, Arm, Trained, carry_out, dealt, variant_arms
from loci.experiments.trials import Hooks
from loci.files import write_json
from loci.knowledge.metrics import exact_match, wilson
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.training.sources import TrainingData

MINUTES = (5.0, 10.0, 20.0, 40.0, 60.0)
ATTENTIONS = ("vanilla", "rope", "synthesizer", "perceiver", "folded")
What = Literal["levers", "variants", "curve", "final"]


def main(
    what: Annotated[What, tyro.conf.Positional],
    data: Path,
    out: Path,
    recipes: tuple[Literal["strict", "self-study"], ...] = ("strict", "self-study"),
    seeds: int = 3,
    first_seed: int = 0,
    minutes: float | None = None,
    fold: int = 0,
    dev: bool = False,
    only: tuple[str, ...] = (),
    set: tyro.conf.UseAppendAction[tuple[str, ...]] = (),
    json: bool = False,
) -> None:
    """Train, ask, and print a table.

    Args:
        what: levers: the recipe and what it is without each part. variants: the same recipe with other attention.
            curve: accuracy after 5 to 60 minutes. final: the recipe itself.
        data: A folder with a corpus, train questions and, for --dev, a dev file.
        out: Where runs, results.json and nothing else go.
        recipes: Which of the two.
        seeds: How many trainings of each kind.
        first_seed: The first seed; several calls can share the work.
        minutes: Time for each training, instead of the recipe's own.
        fold: Which fifth of the train questions is held back.
        dev: Learn from all train questions and ask the dev file instead.
        only: Only the arms of these names.
        set: A change to the recipe, as stage.field=value or model.field=value.
        json: Print JSON instead of a table.
    """
    corpus, questions = Corpus.read(data), Questions.read(next(data.glob("*train*.tsv")))
    taught, asked = (questions, Questions.read(next(data.glob("*dev*.tsv")))) if dev else dealt(questions, fold)
    console = Console(stderr=True)
    bar = Hooks(observers=lambda name: [ProgressBar(name)], say=console.print)
    results: list[dict[str, Any]] = []
    for arm, time in _plan(what, recipes, minutes):
        if only and arm.name not in only:
            continue
        done = []
        for seed in range(first_seed, first_seed + seeds):
            run = out / f"{_slug(arm.name)}{f'-{time:g}min' if time else ''}-seed{seed}"
            trained = carry_out(
                arm, TrainingData(corpus, taught), asked, run, seed=seed, minutes=time, overrides=set, hooks=bar
            )
            console.print(f"{arm.name}, seed {seed}: {exact_match(trained.rows)}")
            done.append(trained)
        results.append(_summary(arm, time, done))
        write_json(out / "results.json", {"dev": dev, "fold": None if dev else fold, "arms": results})
    if json:
        print(json_format.dumps(results, ensure_ascii=False))
    else:
        Console().print(_table(results))


def _plan(what: What, recipes: tuple[str, ...], minutes: float | None) -> list[tuple[Arm, float | None]]:
    if what == "levers":
        return [(arm, minutes) for arm in LEVERS if arm.recipe in recipes]
    if what == "variants":
        return [(arm, minutes) for recipe in recipes for arm in variant_arms(recipe, ATTENTIONS)]
    own = [Arm(recipe, recipe, "the recipe") for recipe in recipes]
    return [(arm, time) for arm in own for time in (MINUTES if what == "curve" else (minutes,))]


def _summary(arm: Arm, minutes: float | None, done: list[Trained]) -> dict[str, Any]:
    """Right answers over all seeds with an interval, each seed's own rate, and the waterfall's mean steps."""
    rates = [exact_match(trained.rows) for trained in done]
    pooled = wilson(sum(rate.successes for rate in rates), sum(rate.n for rate in rates))
    steps = zip(*(trained.waterfall for trained in done), strict=True)
    waterfall = [(same[0].name, sum(step.kept.value for step in same) / len(same)) for same in steps]
    return {
        "arm": arm.name,
        "shows": arm.shows,
        "minutes": minutes,
        "seeds": [trained.seed for trained in done],
        "accuracies": [rate.value for rate in rates],
        "pooled": dataclasses.asdict(pooled) | {"value": pooled.value},
        "waterfall": waterfall,
    }


def _table(results: list[dict[str, Any]]) -> Table:
    table = Table("arm", "min", "each seed", "all seeds (95 %)", "waterfall")
    for row in results:
        pooled = row["pooled"]
        table.add_row(
            row["arm"],
            f"{row['minutes']:g}" if row["minutes"] else "own",
            " · ".join(f"{value:.1%}" for value in row["accuracies"]),
            f"{pooled['value']:.1%} ({pooled['low']:.1%}–{pooled['high']:.1%})",
            " → ".join(f"{name} {value:.1%}" for name, value in row["waterfall"][1:]),
        )
    return table


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name).strip("-")


if __name__ == "__main__":
    tyro.cli(main)
