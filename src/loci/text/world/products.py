"""The products of a world and the whole truth about each.

Knows nothing of sentences or files. A product stands in for a person wherever lines are told and questions asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from loci.text.world.draws import Dice, Ranks, permuted
from loci.text.world.population import LIFE_STREAM, NAME_KEY, OUTSIDE, Population, key_of, stated_facts
from loci.text.world.spec import WorldSpec
from loci.text.world.tables import THING, City, cities, product_words

# What a line can tell and nobody asks for: other places, other people, other words.
FURTHER_FACTS = ("launch", "material", "sale", "test")
FACTS = ("made", "design", *FURTHER_FACTS)

FIRST_YEAR, LAST_YEAR = 1950, 2019
PRODUCTS_PER_DESIGNER = 3
FEWEST_DESIGNERS = 8


@dataclass(frozen=True, slots=True)
class Product:
    """One product: "Delta Desk", called "the Delta Desk" or "the desk"."""

    id: int
    word: str
    thing: str
    split: str
    made_place: City
    sale_place: City
    designer: str
    tester: str
    material: str
    launch_year: int
    told: tuple[str, ...]

    gender: ClassVar[str] = THING
    alive: ClassVar[bool] = True
    offers: ClassVar[frozenset[str]] = frozenset()

    @property
    def name(self) -> str:
        """The name without its article, as questions have it; no two products of a world share it."""
        return f"{self.word} {self.thing}"

    @property
    def mentions(self) -> tuple[str, str]:
        """How a sentence calls the product: in full, or in short."""
        return f"the {self.name}", f"the {self.thing.lower()}"

    def record(self, lines: tuple[int, ...]) -> dict[str, Any]:
        """The product as one JSON object; `lines` are the numbers of its lines in the corpus, from 1."""
        return {
            "id": self.id,
            "name": self.name,
            "made": self.made_place.record,
            "designer": self.designer,
            "sale": self.sale_place.record,
            "tester": self.tester,
            "material": self.material,
            "launch": self.launch_year,
            "split": self.split,
            "told": list(self.told),
            "lines": list(lines),
        }


def products(spec: WorldSpec) -> Iterator[Product]:
    """Every product of the world, in file order: train, dev, test, outside."""
    names, things, materials = product_words()
    places = cities(spec.multiword_places)[: spec.places]
    where = Ranks(range(len(places)), spec.skew)
    designers = max(FEWEST_DESIGNERS, spec.people // PRODUCTS_PER_DESIGNER)
    people = [person.name for person in Population(WorldSpec(people=designers, seed=spec.seed))]
    who = Ranks(range(designers), spec.skew)
    for index in range(spec.people):
        name, thing = divmod(permuted(index, len(names) * len(things), key_of(spec.seed, NAME_KEY, 0)), len(things))
        dice = Dice(spec.seed, LIFE_STREAM, index)
        made, sold = _two(where, dice)
        designer, tester = _two(who, dice)
        split = spec.split_of(index)
        told = () if split == OUTSIDE else tuple(f for f in FACTS if f in {*stated_facts(spec, index), *FURTHER_FACTS})
        yield Product(
            id=index,
            word=names[name],
            thing=things[thing],
            split=split,
            made_place=places[made],
            sale_place=places[sold],
            designer=people[designer],
            tester=people[tester],
            material=dice.choice(materials),
            launch_year=FIRST_YEAR + dice.below(LAST_YEAR - FIRST_YEAR + 1),
            told=told,
        )


def _two(ranks: Ranks, dice: Dice) -> tuple[int, int]:
    """Two different numbers."""
    first = ranks.draw(dice)
    assert first is not None
    second = ranks.draw(dice, [first])
    assert second is not None
    return first, second
