"""Do answers follow the group of the name? The share of answers that match the group, against chance.

`matching` says which answers belong to which group, such as the cities where the names of an origin come from. About
people nobody could know anything of, whatever exceeds chance comes from the name alone. Knows nothing of models.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from loci.evaluation.metrics import Rate, wilson
from loci.evaluation.rows import Row
from loci.evaluation.significance import ROUNDS


@dataclass(frozen=True)
class OriginMatch:
    """How many of the answers given match their group, how many would if groups were shuffled, and p."""

    share: Rate
    by_chance: float
    p_value: float


def origin_match(
    rows: Iterable[Row],
    matching: Mapping[str, Collection[str]],
    rng: np.random.Generator,
) -> OriginMatch:
    """One-sided permutation test over the groups of the rows that were answered and name a group."""
    answered = [row for row in rows if row.group is not None and not row.abstained]
    if not answered:
        return OriginMatch(wilson(0, 0), math.nan, 1.0)
    groups = {group: index for index, group in enumerate(dict.fromkeys(row.group for row in answered))}
    answers = {answer: index for index, answer in enumerate(dict.fromkeys(row.prediction for row in answered))}
    fits = np.array([[answer in matching.get(group or "", ()) for answer in answers] for group in groups])
    member = np.array([groups[row.group] for row in answered])
    said = np.array([answers[row.prediction] for row in answered])
    seen = int(fits[member, said].sum())
    rounds = min(ROUNDS, max(200, 20_000_000 // len(answered)))  # many rows need fewer
    shuffled = np.array([fits[rng.permutation(member), said].sum() for _ in range(rounds)])
    return OriginMatch(
        wilson(seen, len(answered)),
        float(shuffled.mean() / len(answered)),
        float(((shuffled >= seen).sum() + 1) / (rounds + 1)),
    )
