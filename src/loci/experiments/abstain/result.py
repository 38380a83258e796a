"""What the experiment on silence found, computed from rows: a threshold against being taught to say "I don't know".

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
    cost_score,
    risk_coverage,
    with_threshold,
)
from loci.evaluation.error_kinds import ErrorClassifier, ErrorKind, fabrication_rate, kinds_by_split
from loci.evaluation.metrics import Estimate, Rate, exact_match, mean_estimate, over_seeds, score_arrays
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, UNSTATED, Row
from loci.evaluation.selective import auroc_knowable, thinned
from loci.text.corpus import Corpus

EVERYTHING, THRESHOLD, SILENCE = "answers all", "threshold", "taught silence"


@dataclass(frozen=True)
class SeedRows:
    """What the two models of one seed said."""

    validation: list[Row]
    plain: list[Row]
    silence: list[Row]
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
    everything: Estimate
    threshold: Estimate
    silence: Estimate
    difference: Estimate
    """Taught silence minus threshold, question by question."""
    thresholds: tuple[float, ...]
    """As chosen for each seed; infinite where no answer was worth giving."""


@dataclass(frozen=True)
class Confidence:
    """What a model's probabilities are worth, whatever it says or withholds."""

    name: str
    aurc: Estimate
    curve: RiskCoverage
    auroc_knowable: Estimate


@dataclass(frozen=True)
class AbstainResult:
    """The whole experiment."""

    systems: tuple[System, ...]
    """The last one is the model taught silence."""
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
    chosen = {level: [best_threshold(score_arrays(seed.validation), level) for seed in seeds] for level in LEVELS}
    cut = {
        level: [with_threshold(seed.plain, threshold) for seed, threshold in zip(seeds, thresholds, strict=True)]
        for level, thresholds in chosen.items()
    }
    systems = {
        EVERYTHING: [seed.plain for seed in seeds],
        **{f"{THRESHOLD} {level:g}": rows for level, rows in cut.items()},
        SILENCE: [seed.silence for seed in seeds],
    }
    plain, silence = (_tested(chain.from_iterable(systems[name])) for name in (EVERYTHING, SILENCE))
    return AbstainResult(
        systems=tuple(_system(name, rows, seeds) for name, rows in systems.items()),
        costs=tuple(
            _costs(level, plain, _tested(chain.from_iterable(cut[level])), silence, chosen[level]) for level in LEVELS
        ),
        confidence=tuple(_confidence(name, rows, rng) for name, rows in (("plain", plain), (SILENCE, silence))),
        people=people,
        seeds=len(seeds),
        quick=quick,
    )


def _tested(rows: chain[Row]) -> list[Row]:
    """The rows of the test: everybody but the people of the train questions."""
    return [row for row in rows if row.split != TAUGHT]


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
    level: float, plain: Sequence[Row], cut: Sequence[Row], silence: Sequence[Row], thresholds: Sequence[float]
) -> Costs:
    assert [row.question for row in cut] == [row.question for row in silence], "both models answer the same questions"
    return Costs(
        level,
        cost_score(plain, level),
        cost_score(cut, level),
        cost_score(silence, level),
        mean_estimate(cost_points(silence, level) - cost_points(cut, level)),
        tuple(thresholds),
    )


def _confidence(name: str, rows: Sequence[Row], rng: np.random.Generator) -> Confidence:
    taken = score_arrays(rows)
    return Confidence(name, aurc_estimate(taken, rng), thinned(risk_coverage(taken)), auroc_knowable(rows))
