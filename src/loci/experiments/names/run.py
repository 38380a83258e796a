"""Does a model answer from the name instead of the fact when names and places go together?

The same people live in two worlds, one where places have nothing to do with names and one where they nearly always do.
Some lives are told a second time, word for word, under a name of another origin: twins. Of some people no line tells.

examples:
  loci experiment names --out names --seeds 3
  loci experiment names --quick                      all steps within a minute; proves nothing
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from loci.evaluation.asking import ask_rows
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, Row, write_rows
from loci.experiments.names.page import names_report
from loci.experiments.names.result import ModelRows, score
from loci.experiments.trials import Hooks, Settings, birthplaces, keep_report, keep_world, open_folder, trial
from loci.files import write_text
from loci.recipes import DataShape
from loci.recipes.demo import DEMO_WORLD, demo
from loci.report.parts import Report
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.world import Person, WorldSpec, lines_about, people
from loci.text.world.tables import cities
from loci.training.plan import Recipe
from loci.training.run import PREDICTIONS
from loci.training.sources import TrainingData

CORRELATIONS = (0.0, 0.95)
#: 150 people teach, 150 are held out, 120 have no line: half lend their names to twins, half are asked about.
WORLD = dataclasses.replace(DEMO_WORLD, people=420, outside=120 / 420, train_share=1 / 2, dev_share=1 / 2)
QUICK_WORLD = dataclasses.replace(WORLD, people=84, paraphrases=2)
Options = Settings


@dataclass(frozen=True)
class Cast:
    """Who plays which part in a world."""

    train: tuple[Person, ...]
    held_out: tuple[Person, ...]
    pairs: tuple[tuple[Person, Person], ...]
    """Held-out people and their twins: all the same but for name and origin."""
    never_read: tuple[Person, ...]


def cast(everybody: Sequence[Person]) -> Cast:
    """Every second person outside the text lends a name to a held-out person of another origin and the same gender."""
    of = {split: [p for p in everybody if p.split == split] for split in ("train", "dev", "outside")}
    lenders = of["outside"][::2]
    pairs = []
    for person in of["dev"]:
        lender = next((p for p in lenders if p.gender == person.gender and p.origin != person.origin), None)
        if lender is not None:
            lenders.remove(lender)
            pairs.append((person, _renamed(person, lender)))
    return Cast(tuple(of["train"]), tuple(of["dev"]), tuple(pairs), tuple(of["outside"][1::2]))


def _renamed(person: Person, lender: Person) -> Person:
    # The number stays: it decides the wording of the lines, and twins are told word for word alike.
    return dataclasses.replace(
        person, given=lender.given, middle=lender.middle, family=lender.family, origin=lender.origin
    )


def cities_of(spec: WorldSpec) -> dict[str, frozenset[str]]:
    """Origin → the world's cities where its names come from."""
    places = [city for city in cities(spec.multiword_places)[: spec.places] if city.origin is not None]
    return {
        origin: frozenset(city.name for city in places if city.origin == origin)
        for origin in sorted({city.origin for city in places if city.origin is not None})
    }


def run(
    out: Path,
    options: Options = Options(),
    hooks: Hooks = Hooks(),
    *,
    world: WorldSpec | None = None,
    recipe: Callable[[DataShape], Recipe] = demo,
) -> Report:
    """Carry out the experiment; what an earlier call finished is not done again."""
    spec = world or (QUICK_WORLD if options.quick else WORLD)
    open_folder(out, "names", options)
    found: dict[float, list[ModelRows]] = {correlation: [] for correlation in CORRELATIONS}
    for seed in options.every_seed:
        for correlation in CORRELATIONS:
            changed = dataclasses.replace(spec, seed=seed, origin_correlation=correlation)
            folder = out / f"seed-{seed}" / f"correlation-{correlation:g}"
            found[correlation].append(_model(folder, changed, options, hooks, recipe))
    parts = cast(list(people(spec)))
    counts = {name: len(getattr(parts, name)) for name in ("train", "held_out", "never_read")}
    counts["twins"] = len(parts.pairs)
    result = score(found, cities_of(spec), np.random.default_rng(0), people=counts, quick=options.quick)
    return keep_report(out, names_report(result))


def _model(
    out: Path, spec: WorldSpec, options: Options, hooks: Hooks, recipe: Callable[[DataShape], Recipe]
) -> ModelRows:
    parts = cast(list(people(spec)))
    # The world's own text, which holds every character of its questions, then the twins' lines.
    told = Corpus.read(keep_world(spec, out / "world")).raw
    told += "".join(f"{line.text}\n" for _, twin in parts.pairs for line in lines_about(twin, spec))
    write_text(out / "wiki.txt", told)
    birthplaces(parts.train).write(out / "train.tsv")
    data = TrainingData(Corpus.read(out / "wiki.txt"), Questions.read(out / "train.tsv"))
    chosen = options.budgeted(recipe(DataShape(len(data.corpus), len(parts.train))), spec.seed)
    named = dataclasses.replace(chosen, name=f"names-{out.name}")
    loaded = trial(named, data, out / "run", f"seed {spec.seed}, {out.name}", hooks)

    def rows(file: str, chosen: Sequence[Person], split: str) -> list[Row]:
        said = ask_rows(loaded, birthplaces(chosen, answers=split != NEVER_READ), split=split)
        grouped = [dataclasses.replace(row, group=p.origin) for row, p in zip(said, chosen, strict=True)]
        write_rows(out / "run" / PREDICTIONS / f"{file}.jsonl", grouped)
        return grouped

    held_out = rows("held-out", parts.held_out, HELD_OUT)
    by_subject = {row.subject: row for row in held_out}
    return ModelRows(
        taught=rows("taught", parts.train, TAUGHT),
        held_out=held_out,
        originals=[by_subject[person.name] for person, _ in parts.pairs],
        twins=rows("twins", [twin for _, twin in parts.pairs], HELD_OUT),
        never_read=rows("never-read", parts.never_read, NEVER_READ),
    )
