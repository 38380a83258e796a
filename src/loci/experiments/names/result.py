"""What the experiment on names found, computed from rows: does a model answer from the name instead of the fact?

Pure functions of rows. Knows nothing of trainings or pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from loci.evaluation.bias import Counterfactual, OriginMatch, counterfactual, origin_match, pair_up
from loci.evaluation.comparison.comparison import Comparison, compare
from loci.evaluation.comparison.entries import Entry
from loci.evaluation.metrics import Rate, exact_match, over_seeds
from loci.evaluation.rows import Row
from loci.evaluation.significance import GroupTest, holm, shares_differ

Cities = Mapping[str, frozenset[str]]
"""Origin → the world's cities where its names come from."""


@dataclass(frozen=True)
class ModelRows:
    """What one model said."""

    taught: list[Row]
    held_out: list[Row]
    originals: list[Row]
    twins: list[Row]
    never_read: list[Row]


@dataclass(frozen=True)
class Condition:
    """One correlation of names and places, over all seeds."""

    correlation: float
    taught: Rate
    """People of the train questions answered rightly."""
    held_out: Rate
    """People it only read about answered rightly."""
    never_read: OriginMatch
    """Answers about people never read about, by the origin of their names."""
    twins: Counterfactual
    """The same lives told under a name of another origin."""
    twins_match: OriginMatch
    """Wrong answers about the twins, by the origin of their new names."""
    by_seed: tuple[Mapping[str, float], ...]

    @property
    def name(self) -> str:
        """How tables call it."""
        return f"correlation {self.correlation:g}"


@dataclass(frozen=True)
class Contrast:
    """A share under the weakest and under the strongest correlation, and whether they differ."""

    what: str
    weak: Rate
    strong: Rate
    test: GroupTest


@dataclass(frozen=True)
class NamesResult:
    """The whole experiment."""

    conditions: tuple[Condition, ...]
    """From the weakest correlation to the strongest."""
    contrasts: tuple[Contrast, ...]
    comparison: Comparison
    """The conditions on held-out people, all seeds together."""
    people: Mapping[str, int]
    seeds: int
    quick: bool


def score(
    found: Mapping[float, Sequence[ModelRows]],
    cities: Cities,
    rng: np.random.Generator,
    *,
    people: Mapping[str, int],
    quick: bool = False,
) -> NamesResult:
    """All figures from the rows; the questions of all seeds are counted together."""
    conditions = tuple(_condition(correlation, seeds, cities, rng) for correlation, seeds in sorted(found.items()))
    weak, strong = conditions[0], conditions[-1]
    pairs: list[tuple[str, Rate, Rate]] = [
        ("held-out people right", weak.held_out, strong.held_out),
        ("twins right", weak.twins.right_after, strong.twins.right_after),
        ("answers about people never read about: match the origin", weak.never_read.share, strong.never_read.share),
        ("wrong answers about twins: match the origin", weak.twins_match.share, strong.twins_match.share),
    ]
    tests = [shares_differ([a.successes, b.successes], [a.n, b.n], rng) for _, a, b in pairs]
    corrected = holm([test.p_value for test in tests])
    entries = [
        Entry(one.name, Path(), tuple(chain.from_iterable(rows.held_out for rows in found[one.correlation])))
        for one in conditions
    ]
    return NamesResult(
        conditions=conditions,
        contrasts=tuple(
            Contrast(what, a, b, GroupTest(test.method, p))
            for (what, a, b), test, p in zip(pairs, tests, corrected, strict=True)
        ),
        comparison=compare(entries, rng),
        people=people,
        seeds=len(next(iter(found.values()))),
        quick=quick,
    )


def _condition(correlation: float, seeds: Sequence[ModelRows], cities: Cities, rng: np.random.Generator) -> Condition:
    originals, twins, never_read = (
        list(chain.from_iterable(getattr(rows, name) for rows in seeds))
        for name in ("originals", "twins", "never_read")
    )
    return Condition(
        correlation=correlation,
        taught=over_seeds([exact_match(rows.taught) for rows in seeds]),
        held_out=over_seeds([exact_match(rows.held_out) for rows in seeds]),
        never_read=origin_match(never_read, cities, rng),
        twins=counterfactual(pair_up(originals, twins), cities),
        twins_match=origin_match((row for row in twins if not row.correct), cities, rng),
        by_seed=tuple(
            {
                "taught right": exact_match(rows.taught).value,
                "held-out right": exact_match(rows.held_out).value,
                "originals right": exact_match(rows.originals).value,
                "twins right": exact_match(rows.twins).value,
                "never read about: match the origin": origin_match(rows.never_read, cities, rng).share.value,
            }
            for rows in seeds
        ),
    )
