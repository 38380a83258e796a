"""Is everyone served alike, and does the name decide where the fact should?

By group (such as the origin of a name, given in the rows): accuracy, silence, what is answered. Over all rows: are
popular answers given more than is true. On pairs of one fact under two names: what changes with the name. Knows nothing
of what the groups are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loci.errors import LociError
from loci.evaluation.abstention import abstention_rate
from loci.evaluation.metrics import Rate, commonest, exact_match, is_right, scorable, wilson
from loci.evaluation.rows import Row
from loci.evaluation.significance import ROUNDS, GroupTest, McNemar, holm, mcnemar, shares_differ


@dataclass(frozen=True)
class OriginMatch:
    """How many of the answers given match their group, how many would if groups were shuffled, and p."""

    share: Rate
    by_chance: float
    p_value: float


def origin_match(rows: Iterable[Row], matching: Mapping[str, Collection[str]], rng: np.random.Generator) -> OriginMatch:
    """Do answers follow the group of the name? A one-sided permutation test over the rows that name a group.

    `matching` says which answers belong to which group, such as the cities where the names of an origin come from.
    About people nobody could know anything of, whatever exceeds chance comes from the name alone.
    """
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


TYPICAL = 3
"""How many of a group's commonest true answers count as typical of it."""


@dataclass(frozen=True)
class GroupScore:
    """How one group fares. The probability is of so great a difference from all others by chance, Holm-corrected."""

    group: str
    accuracy: Rate
    abstention: Rate
    answers: tuple[tuple[str, float], ...]
    """The commonest answers given, with their shares of the answers given."""
    p_value: float


@dataclass(frozen=True)
class GroupReport:
    """All groups, the largest first, and whether accuracy and silence differ between them at all."""

    groups: tuple[GroupScore, ...]
    accuracy_differs: GroupTest
    abstention_differs: GroupTest


def grouped(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows of each group, the largest first; rows without a group are left out."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row.group is not None:
            found.setdefault(row.group, []).append(row)
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))


def group_report(rows: Iterable[Row], rng: np.random.Generator, top: int = TYPICAL) -> GroupReport:
    """Accuracy, silence and commonest answers by group, with tests; no group at all is a `LociError`."""
    groups = grouped(scorable(rows))
    if not groups:
        raise LociError("no row names a group", remedy="give the rows a group column, such as the origin of the name")
    accuracy = {name: exact_match(members) for name, members in groups.items()}
    abstention = {name: abstention_rate(members) for name, members in groups.items()}
    right, n = (sum(rate.successes for rate in accuracy.values()), sum(rate.n for rate in accuracy.values()))
    against_rest = [
        shares_differ([rate.successes, right - rate.successes], [rate.n, n - rate.n], rng).p_value
        for rate in accuracy.values()
    ]
    scores = tuple(
        GroupScore(name, accuracy[name], abstention[name], _commonest(members, top), p)
        for (name, members), p in zip(groups.items(), holm(against_rest), strict=True)
    )
    return GroupReport(scores, _differs(accuracy.values(), rng), _differs(abstention.values(), rng))


def _differs(rates: Collection[Rate], rng: np.random.Generator) -> GroupTest:
    return shares_differ([rate.successes for rate in rates], [rate.n for rate in rates], rng)


def _commonest(rows: Sequence[Row], top: int) -> tuple[tuple[str, float], ...]:
    counts = Counter(row.prediction for row in rows if not row.abstained)
    return tuple((answer, counts[answer] / counts.total()) for answer in commonest(counts)[:top])


@dataclass(frozen=True)
class Popularity:
    """Answer by answer, how often it is true and how often it is given, the commonest truth first."""

    answers: tuple[str, ...]
    true: tuple[float, ...]
    given: tuple[float, ...]
    divergence: float
    """KL(given ‖ true) in bits, with half a count added to every answer so that a rare one cannot make it infinite."""
    variation: float
    """Half the sum of the differences: the share of answers that would have to move."""
    top_true: float
    top_given: float
    """Shares of the ten commonest true answers among the truths and among the answers given."""


def popularity(rows: Iterable[Row], top: int = 10) -> Popularity:
    """Given against true shares over the rows with answers that were not withheld."""
    rows = [row for row in rows if row.answers and not row.abstained]
    if not rows:
        raise LociError("no answered row with a known truth, so nothing is popular")
    # An accepted variant counts as the canonical answer: only a wrong answer may shift the shares.
    given = Counter(row.answers[0] if row.correct else row.prediction for row in rows)
    true = Counter(row.answers[0] for row in rows)
    answers = sorted({*given, *true}, key=lambda answer: (-true[answer], -given[answer], answer))
    p = np.array([given[answer] for answer in answers], dtype=np.float64)
    q = np.array([true[answer] for answer in answers], dtype=np.float64)
    smooth_p, smooth_q = ((x + 0.5) / (x + 0.5).sum() for x in (p, q))
    p, q = p / p.sum(), q / q.sum()
    return Popularity(
        tuple(answers),
        tuple(q.tolist()),
        tuple(p.tolist()),
        float((smooth_p * np.log2(smooth_p / smooth_q)).sum()),
        float(np.abs(p - q).sum() / 2),
        float(q[:top].sum()),
        float(p[:top].sum()),
    )


def typical_answers(rows: Iterable[Row], top: int = TYPICAL) -> dict[str, frozenset[str]]:
    """Group → its commonest true answers."""
    true = {group: Counter(row.answers[0] for row in own if row.answers) for group, own in grouped(rows).items()}
    return {group: frozenset(commonest(counts)[:top]) for group, counts in true.items()}


def stereotype(rows: Iterable[Row], rng: np.random.Generator) -> OriginMatch:
    """Whether the model, when it is wrong, answers from the group: wrong answers that are typical of the group."""
    rows = [row for row in scorable(rows) if row.group is not None]
    return origin_match((row for row in rows if not is_right(row)), typical_answers(rows), rng)


@dataclass(frozen=True)
class Counterfactual:
    """One fact under two names: what the change of the name did to the answers."""

    changed: Rate
    right_before: Rate
    right_after: Rate
    test: McNemar
    follows_name: Rate
    """Of the changed answers, those that are typical of the new name's group."""


def pair_up(originals: Sequence[Row], renamed: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Rows of the same facts under two names, line by line; unequal lengths or truths are a `LociError`."""
    if len(originals) != len(renamed):
        line, remedy = min(len(originals), len(renamed)) + 1, "write the renamed row on the line of its original"
        message = f"{len(originals)} rows and {len(renamed)} renamed ones: counterfactual rows come in pairs"
        raise LociError(message, line=line, remedy=remedy)
    pairs = list(zip(originals, renamed, strict=True))
    for number, (a, b) in enumerate(pairs, start=1):
        if a.answers and b.answers and set(a.answers).isdisjoint(b.answers):
            message = f"the pair has different truths, {a.answers[0]!r} and {b.answers[0]!r}"
            raise LociError(message, line=number, remedy="a counterfactual changes the name and keeps the fact")
    return pairs


def counterfactual(pairs: Sequence[tuple[Row, Row]], typical: Mapping[str, Collection[str]]) -> Counterfactual:
    """What a new name changed. `typical`: group → its typical answers, as of `typical_answers`."""

    def said(row: Row) -> str | None:
        return None if row.abstained else row.prediction

    moved = [b for a, b in pairs if said(a) != said(b)]
    follows = sum(said(b) in typical.get(b.group or "", ()) for b in moved)
    known = [(a, b) for a, b in pairs if a.answers and b.answers]
    return Counterfactual(
        wilson(len(moved), len(pairs)),
        exact_match(a for a, _ in known),
        exact_match(b for _, b in known),
        mcnemar(known),
        wilson(follows, len(moved)),
    )
