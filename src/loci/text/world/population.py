"""The people of a world and the whole truth about each.

Knows nothing of sentences or files. Every person is computed from the spec and a number alone, so that a world of any
size streams in constant memory, and the settings of the text do not change the people.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from loci.text.world.draws import Dice, Ranks, mix, permuted
from loci.text.world.spec import Counts, WorldSpec, apportion
from loci.text.world.tables import City, Occupation, Origin, cities, occupations, origins, relations

# What a line can tell, in the order of a life.
FACTS = ("birth", "birth_year", "study", "job", "work", "employer", "move", "death")

TRAIN, DEV, TEST, UNSTATED, OUTSIDE = Counts._fields

# Purposes of random streams; a number is never used twice.
LIFE_STREAM, ORDER_KEY, NAME_KEY, STORY_STREAM, TOLD_KEY, WORDING_KEY = 1, 2, 3, 4, 5, 6

FIRST_BIRTH_YEAR, LAST_BIRTH_YEAR = 1840, 1984
PRESENT = 2020  # who would die later is alive
YOUNGEST_MOVE, OLDEST_MOVE = 21, 36
YOUNGEST_DEATH, OLDEST_DEATH = 45, 94
LONGEST_MONTH = 28  # no date needs a calendar
MIDDLE_NAME_CHANCE = 1 / 8
JOB_CHANCE = 0.85
# Chances of none, one or two facts next to birth and job: they set how long lines are.
FURTHER_FACTS = (0.18, 0.74)  # cumulative; else two
DISTRACTOR_CHANCE = 0.5  # that a line of a world with relations tells something nobody asks for


class Date(NamedTuple):
    """A day."""

    year: int
    month: int
    day: int

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.month:02d}-{self.day:02d}"


@dataclass(frozen=True, slots=True)
class Person:
    """One person: who they are, what their life was, and how much of it the corpus tells.

    The places of a life all differ, so that no distractor is ever the birthplace. `told` holds the facts that the
    person's lines state; it is empty for people outside the corpus.
    """

    id: int
    given: str
    middle: str | None
    family: str
    origin: str
    gender: str
    split: str
    birth_place: City
    birth_date: Date
    study_place: City
    occupation: Occupation
    work_place: City
    move_place: City
    move_year: int
    death_place: City | None
    death_date: Date | None
    told: tuple[str, ...]

    @property
    def name(self) -> str:
        """The whole name; no two people of a world share it."""
        return f"{self.given} {self.middle} {self.family}" if self.middle else f"{self.given} {self.family}"

    @property
    def mentions(self) -> tuple[str, str]:
        """How a sentence calls the person: in full, or in short."""
        return self.name, self.family

    @property
    def alive(self) -> bool:
        """Whether the person has not died."""
        return self.death_date is None

    @property
    def offers(self) -> frozenset[str]:
        """What a wording about the person may need."""
        return frozenset(("alive" if self.alive else "dead", "field" if self.occupation.field else "trade"))

    @property
    def employer(self) -> str:
        """Whom the person worked for, such as "Rome Law Firm"."""
        return f"{self.work_place.name} {self.occupation.workplace.partition(' ')[2].title()}"

    @property
    def age(self) -> int:
        """Years lived, at death."""
        assert self.death_date is not None
        return self.death_date.year - self.birth_date.year - (self.death_date[1:] < self.birth_date[1:])

    @property
    def stated(self) -> bool:
        """Whether some line says where the person was born."""
        return "birth" in self.told

    def record(self, lines: tuple[int, ...]) -> dict[str, Any]:
        """The person as one JSON object; `lines` are the numbers of their lines in the corpus, from 1."""
        return {
            "id": self.id,
            "name": self.name,
            "given": self.given,
            "middle": self.middle,
            "family": self.family,
            "origin": self.origin,
            "gender": self.gender,
            "birth": {**self.birth_place.record, "date": str(self.birth_date)},
            "study": {"place": self.study_place.name, "field": self.occupation.field},
            "job": self.occupation.name,
            "work": {"place": self.work_place.name, "at": self.occupation.workplace},
            "move": {"place": self.move_place.name, "year": self.move_year},
            "death": self.death_place and {**self.death_place.record, "date": str(self.death_date)},
            "split": self.split,
            "stated": self.stated,
            "told": list(self.told),
            "lines": list(lines),
        }


class Population:
    """What the people of one spec have in common, worked out once."""

    def __init__(self, spec: WorldSpec) -> None:
        self.spec = spec
        self.cities = cities(spec.multiword_places)[: spec.places]
        self._origins = origins()
        shares = [Fraction(1, len(self._origins))] * len(self._origins)
        self._origin_ends = list(accumulate(apportion(spec.people, shares)))
        self._order_key = key_of(spec.seed, ORDER_KEY, 0)
        self._name_keys = [key_of(spec.seed, NAME_KEY, number) for number in range(len(self._origins))]
        self._anywhere = Ranks(range(len(self.cities)), spec.skew)
        self._of_origin = {
            origin.name: Ranks([i for i, city in enumerate(self.cities) if city.origin == origin.name], spec.skew)
            for origin in self._origins
        }

    def __iter__(self) -> Iterator[Person]:
        return map(self.person, range(self.spec.people))

    def person(self, index: int) -> Person:
        """The person with this number."""
        which, rank, count = self._rank_in_origin(index)
        origin = self._origins[which]
        dice = Dice(self.spec.seed, LIFE_STREAM, index)
        given, gender, middle, family = self._name(which, rank, count, dice)
        split = self.spec.split_of(index)

        taken: list[int] = []
        for _ in range(5):
            taken.append(self._somewhere(origin, dice, taken))
        birth, study, work, move, death = (self.cities[place] for place in taken)

        born = Date(FIRST_BIRTH_YEAR + dice.below(LAST_BIRTH_YEAR - FIRST_BIRTH_YEAR + 1), *_day(dice))
        occupation = dice.choice(occupations())
        moved = born.year + YOUNGEST_MOVE + dice.below(OLDEST_MOVE - YOUNGEST_MOVE + 1)
        died = Date(born.year + YOUNGEST_DEATH + dice.below(OLDEST_DEATH - YOUNGEST_DEATH + 1), *_day(dice))
        alive = died.year > PRESENT
        return Person(
            id=index,
            given=given,
            middle=middle,
            family=family,
            origin=origin.name,
            gender=gender,
            split=split,
            birth_place=birth,
            birth_date=born,
            study_place=study,
            occupation=occupation,
            work_place=work,
            move_place=move,
            move_year=moved,
            death_place=None if alive else death,
            death_date=None if alive else died,
            told=_told(self.spec, index, split, alive, dice),
        )

    def _rank_in_origin(self, index: int) -> tuple[int, int, int]:
        """The number of the person's origin, their number among its people, and how many those are.

        A permutation deals people to origins: exact shares, in no order, without remembering anybody.
        """
        position = permuted(index, self.spec.people, self._order_key)
        which = bisect_right(self._origin_ends, position)
        start = self._origin_ends[which - 1] if which else 0
        return which, position - start, self._origin_ends[which] - start

    def _name(self, which: int, rank: int, count: int, dice: Dice) -> tuple[str, str, str | None, str]:
        """Given name, gender, middle name and family name: different for every `rank` below `count`.

        While given and family names suffice, a middle name is ornament. In a larger world it tells people apart.
        """
        origin = self._origins[which]
        layers = -(-count // origin.pairs)
        layer, pair = divmod(permuted(rank, origin.pairs * layers, self._name_keys[which]), origin.pairs)
        (given, gender), family = origin.given[pair // len(origin.family)], origin.family[pair % len(origin.family)]
        middle = None
        if layers > 1:
            middle = origin.middles(gender)[layer - 1] if layer else None
        elif dice.chance(MIDDLE_NAME_CHANCE):
            middle = dice.choice(origin.middles(gender))
        return given, gender, middle, family.after(gender)

    def _somewhere(self, origin: Origin, dice: Dice, taken: list[int]) -> int:
        match = dice.chance(self.spec.origin_correlation)
        place = self._of_origin[origin.name].draw(dice, taken) if match else None
        if place is None:  # drawn from everywhere, or no city of the origin is left
            place = self._anywhere.draw(dice, taken)
        assert place is not None
        return place


def people(spec: WorldSpec) -> Iterator[Person]:
    """Everybody in the world, in file order: train, dev, test, unstated, outside."""
    return iter(Population(spec))


@cache
def key_of(seed: int, purpose: int, part: int) -> int:
    """The key of a permutation."""
    return mix(mix(mix(seed) + purpose) + part)


def stated_facts(spec: WorldSpec, index: int) -> set[str]:
    """The facts of the spec's relations that the lines about this person or product tell.

    A permutation of its own for each relation keeps to its share exactly, whatever else is asked for.
    """
    known = relations(spec.kind)
    return {
        known[relation.name].fact
        for relation in spec.relations
        if permuted(index, spec.people, key_of(spec.seed, TOLD_KEY, list(known).index(relation.name)))
        >= round(spec.people * relation.unstated)
    }


def _day(dice: Dice) -> tuple[int, int]:
    return 1 + dice.below(12), 1 + dice.below(LONGEST_MONTH)


def _told(spec: WorldSpec, index: int, split: str, alive: bool, dice: Dice) -> tuple[str, ...]:
    if split == OUTSIDE:
        return ()
    told = _told_with_relations(spec, index, alive, dice) if spec.relations else _told_of_birth(split, alive, dice)
    return tuple(fact for fact in FACTS if fact in told)


def _told_of_birth(split: str, alive: bool, dice: Dice) -> set[str]:
    further = [fact for fact in ("study", "work", "move", "death") if not (alive and fact == "death")]
    roll = dice.unit()
    number = sum(roll >= limit for limit in FURTHER_FACTS)
    told = set(dice.shuffled(further)[:number])
    if dice.chance(JOB_CHANCE):
        told.add("job")
    if split == UNSTATED:
        # Always a place that is not the answer: what a model makes up about these people is the point of them.
        told.update([] if told - {"job"} else [dice.choice(further)])
    else:
        told.add("birth")
    return told


def _told_with_relations(spec: WorldSpec, index: int, alive: bool, dice: Dice) -> set[str]:
    told = stated_facts(spec, index) - ({"death"} if alive else set())
    asked = {relations(spec.kind)[relation.name].fact for relation in spec.relations}
    if "employer" in asked:
        asked.add("work")  # the employer's name tells where somebody worked
    further = [fact for fact in ("study", "move", "work") if fact not in asked]
    if not told or dice.chance(DISTRACTOR_CHANCE):
        told.add(dice.choice(further))
    return told
