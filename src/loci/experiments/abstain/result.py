"""What the experiment on silence found, computed from rows: ways to say "I don't know", side by side.

Pure functions of rows. Knows nothing of trainings or pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from loci.evaluation.abstention import (
    LEVELS,
    RiskCoverage,
    abstention_rate,
    aurc_estimate,
    best_threshold,
    cost_points,
    risk_coverage,
    with_threshold,
)
from loci.evaluation.error_kinds import ErrorClassifier, ErrorKind, fabrication_rate, kinds_by_split
from loci.evaluation.metrics import Estimate, Rate, exact_match, mean_estimate, over_seeds, score_arrays
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, UNSTATED, Row
from loci.evaluation.selective import auroc_knowable, thinned
from loci.text.corpus import Corpus

EVERYTHING, THRESHOLD, PROBE, SILENCE = "answers all", "threshold", "familiarity probe", "taught silence"
R_TUNING, RUN = "R-Tuning", "the run as it is"


@dataclass(frozen=True)
class Scored:
    """Rows of best answers, never silent, each with the probability that a threshold is to be set on."""

    validation: list[Row]
    """To choose the threshold by."""
    test: list[Row]


@dataclass(frozen=True)
class SeedRows:
    """What the models of one seed said about the same people."""

    said: Mapping[str, list[Row]]
    """System → its rows, for those that decide by themselves what to say; `RUN` among them."""
    scored: Mapping[str, Scored]
    """System → its rows, for those that need a threshold."""
    known: Mapping[str, str]
    """Subject → answer, of the people asked about in training."""
    corpus: Corpus
    places: frozenset[str] = frozenset()
    """Every place of the world, also those nobody is known to come from."""


@dataclass(frozen=True)
class System:
    """One way of answering, over all seeds."""

    name: str
    taught: Rate
    """People of the train questions answered rightly."""
    accuracy: Rate
    """Held-out people answered rightly; withheld ones count as not."""
    withheld: Rate
    """Held-out people, whose birthplace the text tells, answered with "I don't know": false abstention."""
    right_if_said: Rate
    fabricated: Mapping[str, Rate]
    """People never read about, and people whose lines leave the fact out → how often something was made up."""
    kinds: Mapping[str, Mapping[ErrorKind, Rate]]
    by_seed: tuple[Mapping[str, float], ...]


@dataclass(frozen=True)
class Costs:
    """Scores at one confidence target: a wrong answer costs t/(1−t), silence nothing."""

    level: float
    scores: Mapping[str, Estimate]
    """System → mean points; a threshold is the one that was chosen for this target."""
    differences: Mapping[str, Estimate]
    """System → the run minus it, question by question."""
    thresholds: Mapping[str, tuple[float, ...]]
    """System → as chosen for each seed; infinite where no answer was worth giving."""


@dataclass(frozen=True)
class Confidence:
    """What a system's probabilities are worth, whatever it says or withholds."""

    name: str
    aurc: Estimate
    curve: RiskCoverage
    auroc_knowable: Estimate


@dataclass(frozen=True)
class AbstainResult:
    """The whole experiment."""

    systems: tuple[System, ...]
    """The last one is the run as it is."""
    costs: tuple[Costs, ...]
    confidence: tuple[Confidence, ...]
    people: Mapping[str, int]
    """How many people of a seed's world play which part."""
    seeds: int
    quick: bool


def score(
    seeds: Sequence[SeedRows], rng: np.random.Generator, *, people: Mapping[str, int], quick: bool = False
) -> AbstainResult:
    """All figures from the rows. Thresholds are each seed's own; the questions of all seeds are counted together."""
    chosen = {
        level: {
            name: tuple(best_threshold(score_arrays(seed.scored[name].validation), level) for seed in seeds)
            for name in seeds[0].scored
        }
        for level in LEVELS
    }
    cut = {
        level: {
            name: [with_threshold(seed.scored[name].test, at) for seed, at in zip(seeds, own, strict=True)]
            for name, own in thresholds.items()
        }
        for level, thresholds in chosen.items()
    }
    said = {name: [seed.said[name] for seed in seeds] for name in seeds[0].said}
    first, run = said.pop(EVERYTHING), said.pop(RUN)
    with_thresholds = {f"{name} {level:g}": cut[level][name] for name in seeds[0].scored for level in LEVELS}
    systems = {EVERYTHING: first, **with_thresholds, **said, RUN: run}
    sure = {**{name: [seed.scored[name].test for seed in seeds] for name in seeds[0].scored}, **said, RUN: run}
    return AbstainResult(
        systems=tuple(_system(name, rows, seeds) for name, rows in systems.items()),
        costs=tuple(
            _costs(level, {EVERYTHING: first, **cut[level], **said, RUN: run}, chosen[level]) for level in LEVELS
        ),
        confidence=tuple(_confidence(name, _tested(rows), rng) for name, rows in sure.items()),
        people=people,
        seeds=len(seeds),
        quick=quick,
    )


def _tested(by_seed: Sequence[Sequence[Row]]) -> list[Row]:
    """The rows of the test, all seeds: everybody but the people of the train questions."""
    return [row for row in chain.from_iterable(by_seed) if row.split != TAUGHT]


def _of(rows: Sequence[Row], split: str) -> list[Row]:
    return [row for row in rows if row.split == split]


def _system(name: str, by_seed: Sequence[Sequence[Row]], seeds: Sequence[SeedRows]) -> System:
    kinds = kinds_by_split(
        [
            classified
            for rows, seed in zip(by_seed, seeds, strict=True)
            for classified in ErrorClassifier(seed.known, seed.corpus, places=seed.places).classify(rows)
        ]
    )
    told = [_of(rows, HELD_OUT) for rows in by_seed]
    return System(
        name=name,
        taught=over_seeds([exact_match(_of(rows, TAUGHT)) for rows in by_seed]),
        accuracy=over_seeds([exact_match(rows) for rows in told]),
        withheld=over_seeds([abstention_rate(rows) for rows in told]),
        right_if_said=over_seeds([exact_match(row for row in rows if not row.abstained) for rows in told]),
        fabricated={split: fabrication_rate(kinds[split]) for split in (NEVER_READ, UNSTATED)},
        kinds=kinds,
        by_seed=tuple(
            {
                "taught: right": exact_match(_of(rows, TAUGHT)).value,
                "held-out: right": exact_match(_of(rows, HELD_OUT)).value,
                "held-out: withheld": abstention_rate(_of(rows, HELD_OUT)).value,
                "never read about: made up": 1 - abstention_rate(_of(rows, NEVER_READ)).value,
                "not told: made up": 1 - abstention_rate(_of(rows, UNSTATED)).value,
            }
            for rows in by_seed
        ),
    )


def _costs(
    level: float, systems: Mapping[str, Sequence[Sequence[Row]]], thresholds: Mapping[str, tuple[float, ...]]
) -> Costs:
    tested = {name: _tested(rows) for name, rows in systems.items()}
    asked = [[row.question for row in rows] for rows in tested.values()]
    assert all(questions == asked[0] for questions in asked), "all systems answer the same questions"
    points = {name: cost_points(rows, level) for name, rows in tested.items()}
    return Costs(
        level,
        {name: mean_estimate(own) for name, own in points.items()},
        {name: mean_estimate(points[RUN] - own) for name, own in points.items() if name != RUN},
        thresholds,
    )


def _confidence(name: str, rows: Sequence[Row], rng: np.random.Generator) -> Confidence:
    taken = score_arrays(rows)
    return Confidence(name, aurc_estimate(taken, rng), thinned(risk_coverage(taken)), auroc_knowable(rows))
