"""The experiment on names: does a model answer from the name instead of the fact when names and places go together?

The same people live in two worlds, one where places have nothing to do with names and one where they nearly always do.
Some lives are told a second time, word for word, under a name of another origin: twins. Of some people no line tells.
Knows the order of the steps; each step is another room's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from loci.answering.direct import WIDTH
from loci.evaluation.asking import ask_rows
from loci.evaluation.bias import counterfactual, group_report, pair_up, popularity, stereotype
from loci.evaluation.metrics import Rate, exact_match, wilson
from loci.evaluation.origin_match import origin_match
from loci.evaluation.rows import HELD_OUT, NEVER_READ, Row, write_rows
from loci.evaluation.significance import GroupTest, holm, shares_differ
from loci.experiments.names.page import Condition, Contrast, NamesResult, names_report
from loci.experiments.trials import Hooks, Settings, keep_world, open_folder, trial
from loci.files import write_json, write_text
from loci.recipes import DataShape
from loci.recipes.demo import DEMO_WORLD, demo
from loci.report.parts import ExperimentReport
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.template import BIRTHPLACE
from loci.text.world import Person, WorldSpec, lines_about, people
from loci.text.world.tables import cities
from loci.training.plan import Recipe
from loci.training.run import PREDICTIONS
from loci.training.sources import TrainingData

CORRELATIONS = (0.0, 0.95)
#: 150 people teach, 150 are held out, 120 are outside: half lend their names to twins, half are asked about.
WORLD = dataclasses.replace(DEMO_WORLD, people=420, outside=120 / 420)
QUICK_WORLD = dataclasses.replace(WORLD, people=84, paraphrases=2)


@dataclass(frozen=True)
class Cast:
    """Who plays which part in a world."""

    train: tuple[Person, ...]
    held_out: tuple[Person, ...]
    pairs: tuple[tuple[Person, Person], ...]
    """Held-out people and their twins: all the same but for name and origin."""
    unseen: tuple[Person, ...]


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


def home_cities(spec: WorldSpec) -> dict[str, frozenset[str]]:
    """Origin → the world's cities where its names are at home."""
    places = [city for city in cities(spec.multiword_places)[: spec.places] if city.origin is not None]
    return {
        origin: frozenset(city.name for city in places if city.origin == origin)
        for origin in sorted({city.origin for city in places if city.origin is not None})
    }


@dataclass(frozen=True)
class Rows:
    """What one model said."""

    held_out: list[Row]
    originals: list[Row]
    twins: list[Row]
    unseen: list[Row]


def run(
    out: Path,
    settings: Settings = Settings(),
    hooks: Hooks = Hooks(),
    *,
    world: WorldSpec | None = None,
    recipe: Callable[[DataShape], Recipe] = demo,
) -> ExperimentReport:
    """Carry out the experiment; what an earlier call finished is not done again."""
    spec = world or (QUICK_WORLD if settings.quick else WORLD)
    open_folder(out, "names", settings)
    found: dict[float, list[Rows]] = {correlation: [] for correlation in CORRELATIONS}
    for seed in range(settings.seeds):
        for correlation in CORRELATIONS:
            changed = dataclasses.replace(spec, seed=seed, origin_correlation=correlation)
            folder = out / f"seed-{seed}" / f"bond-{correlation:g}"
            first = out / "seed-0" / f"bond-{CORRELATIONS[0]:g}" / "run"
            found[correlation].append(_model(folder, changed, seed, settings, hooks, recipe, first))
    parts = cast(list(people(spec)))
    counts = {name: len(getattr(parts, name)) for name in ("train", "held_out", "unseen")}
    result = score(
        found,
        home_cities(spec),
        np.random.default_rng(0),
        people={**counts, "twins": len(parts.pairs)},
        quick=settings.quick,
    )
    report = names_report(result)
    write_json(out / "results.json", report.numbers)
    report.page().write(out / "report.html")
    return report


def _model(
    out: Path,
    spec: WorldSpec,
    seed: int,
    settings: Settings,
    hooks: Hooks,
    recipe: Callable[[DataShape], Recipe],
    first: Path,
) -> Rows:
    parts = cast(list(people(spec)))
    # The world's own text, which holds every character of its questions, and the twins' lines behind it.
    told = Corpus.read(keep_world(spec, out / "world")).raw
    told += "".join(f"{line.text}\n" for _, twin in parts.pairs for line in lines_about(twin, spec))
    write_text(out / "wiki.txt", told)
    _questions(parts.train).write(out / "train.tsv")
    data = TrainingData(Corpus.read(out / "wiki.txt"), Questions.read(out / "train.tsv"))
    chosen = settings.budgeted(recipe(DataShape(len(data.corpus), len(parts.train))), seed)
    named = dataclasses.replace(chosen, name=f"names-{out.name}")
    loaded = trial(named, data, out / "run", f"seed {seed}, {out.name}", hooks, first=first)

    def rows(file: str, chosen: Sequence[Person], split: str) -> list[Row]:
        said = ask_rows(loaded, _questions(chosen, answers=split != NEVER_READ), n=WIDTH, split=split)
        grouped = [dataclasses.replace(row, group=p.origin) for row, p in zip(said, chosen, strict=True)]
        write_rows(out / "run" / PREDICTIONS / f"{file}.jsonl", grouped)
        return grouped

    held_out = rows("held-out", parts.held_out, HELD_OUT)
    by_subject = {row.subject: row for row in held_out}
    return Rows(
        held_out=held_out,
        originals=[by_subject[person.name] for person, _ in parts.pairs],
        twins=rows("twins", [twin for _, twin in parts.pairs], HELD_OUT),
        unseen=rows("unseen", parts.unseen, NEVER_READ),
    )


def _questions(chosen: Sequence[Person], *, answers: bool = True) -> Questions:
    return Questions.from_pairs(
        (BIRTHPLACE.ask(person.name), person.birth_place.name if answers else None) for person in chosen
    )


def score(
    found: Mapping[float, Sequence[Rows]],
    home: Mapping[str, frozenset[str]],
    rng: np.random.Generator,
    *,
    people: Mapping[str, int],
    quick: bool = False,
) -> NamesResult:
    """All figures from the rows; the questions of all seeds are counted together."""
    conditions = tuple(_condition(correlation, seeds, home, rng) for correlation, seeds in sorted(found.items()))
    weak, strong = conditions[0], conditions[-1]
    pairs: list[tuple[str, Rate, Rate]] = [
        ("held-out people right", weak.accuracy, strong.accuracy),
        ("twins right", weak.twins.right_after, strong.twins.right_after),
        ("answers about unseen people at home", weak.unseen.share, strong.unseen.share),
        ("wrong answers about twins at home", weak.twins_at_home.share, strong.twins_at_home.share),
    ]
    tests = [shares_differ([a.successes, b.successes], [a.n, b.n], rng) for _, a, b in pairs]
    corrected = holm([test.p_value for test in tests])
    return NamesResult(
        conditions=conditions,
        contrasts=tuple(
            Contrast(what, a, b, GroupTest(test.method, p))
            for (what, a, b), test, p in zip(pairs, tests, corrected, strict=True)
        ),
        people=people,
        seeds=len(next(iter(found.values()))),
        quick=quick,
    )


def _condition(
    correlation: float, seeds: Sequence[Rows], home: Mapping[str, frozenset[str]], rng: np.random.Generator
) -> Condition:
    held_out = list(chain.from_iterable(rows.held_out for rows in seeds))
    originals = list(chain.from_iterable(rows.originals for rows in seeds))
    twins = list(chain.from_iterable(rows.twins for rows in seeds))
    unseen = list(chain.from_iterable(rows.unseen for rows in seeds))
    return Condition(
        correlation=correlation,
        accuracy=exact_match(held_out),
        groups=group_report(held_out, rng),
        popularity=popularity(held_out),
        stereotype=stereotype(held_out, rng),
        unseen=origin_match(unseen, home, rng),
        twins=counterfactual(pair_up(originals, twins), home),
        twins_at_home=origin_match((row for row in twins if not row.correct), home, rng),
        by_seed=tuple(_figures(rows, home) for rows in seeds),
    )


def _figures(rows: Rows, home: Mapping[str, frozenset[str]]) -> dict[str, float]:
    said = [row for row in rows.unseen if not row.abstained]
    return {
        "held-out right": exact_match(rows.held_out).value,
        "originals right": exact_match(rows.originals).value,
        "twins right": exact_match(rows.twins).value,
        "unseen at home": wilson(sum(row.prediction in home.get(row.group or "", ()) for row in said), len(said)).value,
    }
