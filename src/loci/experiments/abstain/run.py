"""The experiment on silence: is teaching "I don't know" better than a threshold on the probability?

In each seed's world some people are told of without the fact and some not at all. Half of them teach, the other half
test. One model learns the demo's recipe, and the teaching half chooses its threshold; the other learns the same recipe
with "I don't know" as the answer about the teaching half. Knows the order of the steps; each step is another room's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from loci.answering.direct import WIDTH
from loci.data.prompts import I_DONT_KNOW
from loci.evaluation.abstention import (
    LEVELS,
    abstention_rate,
    aurc_estimate,
    best_threshold,
    cost_score,
    risk_coverage,
    with_threshold,
    wrong_cost,
)
from loci.evaluation.asking import ask_rows
from loci.evaluation.error_kinds import ErrorClassifier, fabrication_rate, kinds_by_split
from loci.evaluation.metrics import exact_match, mean_estimate, scorable
from loci.evaluation.rows import HELD_OUT, NEVER_READ, UNSTATED, Row, write_rows
from loci.evaluation.score_arrays import score_arrays
from loci.evaluation.selective import auroc_knowable, thinned
from loci.experiments.abstain.page import AbstainResult, Confidence, Priced, System, abstain_report
from loci.experiments.trials import Hooks, Settings, keep_world, open_folder, trial
from loci.files import write_json
from loci.recipes import DataShape
from loci.recipes.demo import DEMO_WORLD, demo
from loci.report.parts import ExperimentReport
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.template import BIRTHPLACE
from loci.text.world import Person, WorldSpec, people
from loci.text.world.tables import cities
from loci.training.checkpoint import LoadedModel
from loci.training.plan import Recipe
from loci.training.run import PREDICTIONS
from loci.training.sources import TrainingData

#: 150 people teach, 50 told ones help to choose the threshold, 100 test; 60 are untold and 100 outside, half of each.
WORLD = dataclasses.replace(
    DEMO_WORLD, people=460, unstated=60 / 460, outside=100 / 460, train_share=1 / 2, dev_share=1 / 6
)
QUICK_WORLD = dataclasses.replace(WORLD, people=92, paraphrases=2)

EVERYTHING, THRESHOLD, TAUGHT = "answers all", "threshold", "taught"
_SPLITS = {"unstated": UNSTATED, "outside": NEVER_READ}


@dataclass(frozen=True)
class Parts:
    """Who teaches and who tests, as questions. People of `test` are in nothing else."""

    plain: Questions
    """What both models are taught."""
    taught: Questions
    """The same and "I don't know" about the teaching half."""
    validation: Mapping[str, Questions]
    """Split → questions, to choose a threshold by."""
    test: Mapping[str, Questions]


def parts(everybody: Sequence[Person]) -> Parts:
    """Deal the people of a world out; every second person of whom nothing is known teaches."""

    def questions(chosen: Sequence[Person], answer: Callable[[Person], str | None]) -> Questions:
        return Questions.from_pairs((BIRTHPLACE.ask(person.name), answer(person)) for person in chosen)

    def place(person: Person) -> str:
        return person.birth_place.name

    of = {
        split: [p for p in everybody if p.split == split] for split in ("train", "dev", "test", "unstated", "outside")
    }
    silent = [person for split in _SPLITS for person in of[split][::2]]
    plain = questions(of["train"], place)
    return Parts(
        plain=plain,
        taught=Questions.from_pairs(
            [(q.text, q.answer) for q in plain] + [(BIRTHPLACE.ask(p.name), I_DONT_KNOW) for p in silent]
        ),
        validation={
            HELD_OUT: questions(of["dev"], place),
            **{name: questions(of[split][::2], lambda person: None) for split, name in _SPLITS.items()},
        },
        test={
            HELD_OUT: questions(of["test"], place),
            **{name: questions(of[split][1::2], lambda person: None) for split, name in _SPLITS.items()},
        },
    )


@dataclass(frozen=True)
class SeedRows:
    """What the two models of one seed said."""

    validation: list[Row]
    plain: list[Row]
    taught: list[Row]
    known: Mapping[str, str]
    """Subject → answer, of the people asked about in training."""
    corpus: Corpus
    places: frozenset[str] = frozenset()
    """Every place of the world, also those nobody is known to come from."""


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
    open_folder(out, "abstain", settings)
    found = [
        _seed(out / f"seed-{seed}", dataclasses.replace(spec, seed=seed), seed, settings, hooks, recipe)
        for seed in range(settings.seeds)
    ]
    result = score(found, np.random.default_rng(0), people=_counts(spec), quick=settings.quick)
    report = abstain_report(result)
    write_json(out / "results.json", report.numbers)
    report.page().write(out / "report.html")
    return report


def _seed(
    out: Path, spec: WorldSpec, seed: int, settings: Settings, hooks: Hooks, recipe: Callable[[DataShape], Recipe]
) -> SeedRows:
    corpus = Corpus.read(keep_world(spec, out / "world"))
    dealt = parts(list(people(spec)))

    def model(name: str, questions: Questions) -> LoadedModel:
        questions.write(out / f"{name}.tsv")
        data = TrainingData(corpus, Questions.read(out / f"{name}.tsv"))
        chosen = settings.budgeted(recipe(DataShape(len(corpus), len(questions))), seed)
        named = dataclasses.replace(chosen, name=f"abstain-{name}")
        return trial(named, data, out / name, f"seed {seed}, {name}", hooks, first=out.parent / "seed-0" / "plain")

    def rows(loaded: LoadedModel, name: str, asked: Mapping[str, Questions]) -> list[Row]:
        said = [ask_rows(loaded, questions, n=WIDTH, split=split) for split, questions in asked.items()]
        for split, answers in zip(asked, said, strict=True):
            write_rows(out / name / PREDICTIONS / f"{split}.jsonl", answers)
        return list(chain.from_iterable(said))

    plain = model("plain", dealt.plain)
    return SeedRows(
        validation=[
            row for split, asked in dealt.validation.items() for row in ask_rows(plain, asked, n=WIDTH, split=split)
        ],
        plain=rows(plain, "plain", dealt.test),
        taught=rows(model("taught", dealt.taught), "taught", dealt.test),
        known={q.subject: q.answers[0] for q in dealt.plain if q.subject is not None},
        corpus=corpus,
        places=frozenset(city.name for city in cities(spec.multiword_places)[: spec.places]),
    )


def _counts(spec: WorldSpec) -> dict[str, int]:
    counts = spec.counts
    halves = [len(range(0, n, 2)) for n in (counts.unstated, counts.outside)]
    return {
        "stated": counts.train + counts.dev + counts.test,
        "unstated": counts.unstated,
        "outside": counts.outside,
        "train": counts.train,
        "validation": counts.dev,
        "teach": sum(halves),
        "test_stated": counts.test,
        "test_unstated": counts.unstated - halves[0],
        "test_outside": counts.outside - halves[1],
    }


def score(
    seeds: Sequence[SeedRows], rng: np.random.Generator, *, people: Mapping[str, int], quick: bool = False
) -> AbstainResult:
    """All figures from the rows. Thresholds are each seed's own; the questions of all seeds are counted together."""
    chosen = {level: [best_threshold(score_arrays(seed.validation), level) for seed in seeds] for level in LEVELS}
    cut = {
        level: [with_threshold(seed.plain, threshold) for seed, threshold in zip(seeds, thresholds, strict=True)]
        for level, thresholds in chosen.items()
    }
    systems = {
        EVERYTHING: [seed.plain for seed in seeds],
        **{f"{THRESHOLD} {level:g}": rows for level, rows in cut.items()},
        TAUGHT: [seed.taught for seed in seeds],
    }
    whole = {
        name: list(chain.from_iterable(rows))
        for name, rows in (("plain", systems[EVERYTHING]), (TAUGHT, systems[TAUGHT]))
    }
    return AbstainResult(
        systems=tuple(_system(name, rows, seeds) for name, rows in systems.items()),
        priced=tuple(
            _priced(level, whole["plain"], list(chain.from_iterable(cut[level])), whole[TAUGHT], chosen[level])
            for level in LEVELS
        ),
        confidence=tuple(_confidence(name, rows, rng) for name, rows in whole.items()),
        people=people,
        seeds=len(seeds),
        quick=quick,
    )


def _system(name: str, by_seed: Sequence[Sequence[Row]], seeds: Sequence[SeedRows]) -> System:
    kinds = kinds_by_split(
        [
            classified
            for rows, seed in zip(by_seed, seeds, strict=True)
            for classified in ErrorClassifier(seed.known, seed.corpus, places=seed.places).classify(rows)
        ]
    )
    told = [row for rows in by_seed for row in rows if row.split == HELD_OUT]
    return System(
        name=name,
        accuracy=exact_match(told),
        withheld=abstention_rate(told),
        right_if_said=exact_match(row for row in told if not row.abstained),
        fabricated={split: fabrication_rate(kinds[split]) for split in (NEVER_READ, UNSTATED)},
        kinds=kinds,
        by_seed=tuple(_figures(rows) for rows in by_seed),
    )


def _figures(rows: Sequence[Row]) -> dict[str, float]:
    told, unseen, unstated = ([row for row in rows if row.split == split] for split in (HELD_OUT, NEVER_READ, UNSTATED))
    return {
        "held-out: right": exact_match(told).value,
        "held-out: withheld": abstention_rate(told).value,
        "unseen: made up": 1 - abstention_rate(unseen).value,
        "unstated: made up": 1 - abstention_rate(unstated).value,
    }


def _priced(
    level: float,
    plain: Sequence[Row],
    cut: Sequence[Row],
    taught: Sequence[Row],
    thresholds: Sequence[float],
) -> Priced:
    def points(rows: Sequence[Row]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array(
            [0.0 if row.abstained else 1.0 if row.correct else -wrong_cost(level) for row in scorable(rows)]
        )

    assert [row.question for row in cut] == [row.question for row in taught], "the two models answer the same questions"
    return Priced(
        level,
        cost_score(plain, level),
        cost_score(cut, level),
        cost_score(taught, level),
        mean_estimate(points(taught) - points(cut)),
        tuple(thresholds),
    )


def _confidence(name: str, rows: Sequence[Row], rng: np.random.Generator) -> Confidence:
    taken = score_arrays(rows)
    return Confidence(name, aurc_estimate(taken, rng), thinned(risk_coverage(taken)), auroc_knowable(rows))
