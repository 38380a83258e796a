"""The settings of a synthetic world, and how many people each of its splits has.

Knows nothing of names, places or sentences beyond how many of them the tables offer.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from loci.errors import LociError
from loci.text.world.tables import KINDS, PEOPLE, PRODUCTS, cities, name_capacity, origins, product_words, relations

# The course asks about 2,937 people: 2,000 with answers to learn from, 500 to develop on, 437 to be tested on.
COURSE_PEOPLE = 2937
COURSE_TRAIN = 2000 / COURSE_PEOPLE
COURSE_DEV = 500 / COURSE_PEOPLE

MOST_PARAPHRASES = 100
MOST_SKEW = 8.0
QUESTION_WORDINGS = 3


class Counts(NamedTuple):
    """People in each split of a world, in file order."""

    train: int
    dev: int
    test: int
    unstated: int
    outside: int


def apportion(total: int, shares: Sequence[Fraction]) -> list[int]:
    """Divide `total` by `shares`, which sum to 1: the largest remainders round up, of equal ones the earlier."""
    quotas = [total * share for share in shares]
    counts = [math.floor(quota) for quota in quotas]
    by_remainder = sorted(range(len(shares)), key=lambda part: (counts[part] - quotas[part], part))
    for part in by_remainder[: total - sum(counts)]:
        counts[part] += 1
    return counts


def exact(share: float) -> Fraction:
    """The fraction a person meant by a decimal: 0.1 is one tenth, not the nearest binary number."""
    return Fraction(share).limit_denominator(1_000_000)


@dataclass(frozen=True)
class RelationSpec:
    """A relation that a world's questions ask for.

    Attributes:
        name: birthplace, birth_year, occupation, employer, death_place or study_place; of products made_in, designer.
        train_questions: how many train questions, about the first train people whose lines tell it; None for all.
        unstated: share of people whose lines do not tell it.
    """

    name: str
    train_questions: int | None = None
    unstated: float = 0.0

    @classmethod
    def parse(cls, text: str, train_questions: int | None = None, unstated: float = 0.0) -> RelationSpec:
        """From "NAME", "NAME:QUESTIONS" or "NAME:QUESTIONS:UNSTATED"; what it leaves open is taken from the others."""
        name, _, numbers = text.partition(":")
        questions, _, share = numbers.partition(":")
        try:
            return cls(name, int(questions) if questions else train_questions, float(share) if share else unstated)
        except ValueError:
            message = f"{text!r} is not NAME, NAME:QUESTIONS or NAME:QUESTIONS:UNSTATED"
            raise LociError(message, remedy="such as employer:30:0.2") from None


@dataclass(frozen=True)
class WorldSpec:
    """Everything that determines a world: the same spec gives the same bytes on every machine.

    Attributes:
        people: how many people (or products) exist, in the corpus or outside it.
        seed: which world.
        places: how many cities exist, the most popular of the table first.
        skew: the exponent of the Zipf law over places; 0 makes all equally likely.
        origin_correlation: chance that a place in a life is drawn from the cities of the person's origin.
        paraphrases: lines about each person, telling the same facts in other words.
        permute: tell the facts of each line in an order of its own, not in the order of a life.
        full_names: repeat the whole name instead of pronouns and surnames.
        unstated: share of people whose lines never say where they were born.
        outside: share of people about whom the corpus has no line.
        multiword_places: admit places of several words ("New York").
        train_share: share of the askable people in the train split.
        dev_share: share of the askable people in the dev split; the rest is the test split.
        relations: the relations that are asked for, each with its own question files and its own share of people whose
            lines do not tell it. Without any, the world is the course's: birthplaces in the course's files.
        wordings: how many wordings the questions of a relation have, up to three.
        spread: spread the facts over the lines about a person, instead of telling all of them in each line.
        kind: whether the world is about people or about products.
    """

    people: int = 1000
    seed: int = 0
    places: int = 300
    skew: float = 1.0
    origin_correlation: float = 0.7
    paraphrases: int = 1
    permute: bool = False
    full_names: bool = False
    unstated: float = 0.0
    outside: float = 0.0
    multiword_places: bool = False
    train_share: float = COURSE_TRAIN
    dev_share: float = COURSE_DEV
    relations: tuple[RelationSpec, ...] = ()
    wordings: int = 1
    spread: bool = False
    kind: str = PEOPLE

    def __post_init__(self) -> None:
        offered = len(cities(self.multiword_places))
        if self.kind not in KINDS:
            raise LociError(f"unknown kind of world {self.kind!r}", remedy=f"one of: {', '.join(KINDS)}")
        products = len(product_words().names) * len(product_words().things)
        capacity = name_capacity() if self.kind == PEOPLE else products
        _within("people", self.people, 1, capacity, "the name tables have no more distinct names")
        _within("seed", self.seed, 0, 2**63 - 1)
        # The table starts with one city of each origin: with this many places every origin has one.
        _within("places", self.places, len(origins()), offered, "add rows to cities.tsv for more")
        _within("skew", self.skew, 0.0, MOST_SKEW)
        _within("paraphrases", self.paraphrases, 1, MOST_PARAPHRASES)
        for share in ("origin_correlation", "unstated", "outside", "train_share", "dev_share"):
            _within(share, getattr(self, share), 0.0, 1.0)
        if exact(self.unstated) + exact(self.outside) > 1:
            raise LociError(f"unstated {self.unstated} and outside {self.outside} are more than all people together")
        if exact(self.train_share) + exact(self.dev_share) > 1:
            raise LociError(f"train_share {self.train_share} and dev_share {self.dev_share} are more than 1 together")
        self._check_relations()
        if self.counts.train == 0:
            raise LociError(
                f"nobody is left to learn from: people {self.people}, unstated {self.unstated}, "
                f"outside {self.outside}, train_share {self.train_share}",
                remedy="raise people or train_share, or lower unstated and outside",
            )

    def _check_relations(self) -> None:
        _within("wordings", self.wordings, 1, QUESTION_WORDINGS)
        known = relations(self.kind)
        for relation in self.relations:
            if relation.name not in known:
                raise LociError(f"unknown relation {relation.name!r}", remedy=f"one of: {', '.join(known)}")
            _within(f"unstated of {relation.name}", relation.unstated, 0.0, 1.0)
            if relation.train_questions is not None:
                _within(f"train questions of {relation.name}", relation.train_questions, 0, self.counts.train)
        if len({relation.name for relation in self.relations}) < len(self.relations):
            raise LociError("a relation is named twice")
        if self.kind == PRODUCTS and not self.relations:
            raise LociError("a world of products needs relations", remedy=f"some of: {', '.join(known)}")
        if self.relations and self.unstated:
            raise LociError("with relations, unstated is a share of each relation", remedy="set it in RelationSpec")

    def as_data(self) -> dict[str, Any]:
        """The spec as it stands in world.json: without what a world in the course's layout does not use."""
        data = asdict(self) | {"relations": [asdict(relation) for relation in self.relations]}
        later = {"relations": [], "wordings": 1, "spread": False, "kind": PEOPLE}
        return {name: value for name, value in data.items() if name not in later or value != later[name]}

    @cached_property
    def counts(self) -> Counts:
        """How many people each split has."""
        unstated, outside = exact(self.unstated), exact(self.outside)
        asked, n_unstated, n_outside = apportion(self.people, [1 - unstated - outside, unstated, outside])
        train, dev = exact(self.train_share), exact(self.dev_share)
        n_train, n_dev, n_test = apportion(asked, [train, dev, 1 - train - dev])
        return Counts(n_train, n_dev, n_test, n_unstated, n_outside)

    @cached_property
    def _split_ends(self) -> list[int]:
        return list(accumulate(self.counts))

    def split_of(self, index: int) -> str:
        """The split of the person with this number."""
        return Counts._fields[bisect_right(self._split_ends, index)]


def _within(name: str, value: float, least: float, most: float, why: str | None = None) -> None:
    if not least <= value <= most:  # also catches nan
        raise LociError(f"{name} must be from {least} to {most}, not {value}", remedy=why)


def example_products(seed: int = 0) -> WorldSpec:
    """The example that comes with Loci: 60 products with three lines each, and two relations."""
    return WorldSpec(
        people=60,
        seed=seed,
        paraphrases=3,
        permute=True,
        train_share=2 / 3,
        dev_share=1 / 3,
        relations=(RelationSpec("made_in"), RelationSpec("designer")),
        spread=True,
        kind=PRODUCTS,
    )
