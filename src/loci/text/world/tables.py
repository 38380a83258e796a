"""The tables a world is made of: names, cities, occupations, lemmas, as the TSV files next to this module have them.

Knows nothing of people or sentences, and draws nothing. The order of rows is part of a world's bytes: cities stand by
popularity, and a row added in the middle changes every world.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import NamedTuple

FEMALE, MALE, ANY, THING = "female", "male", "any", "thing"
PEOPLE, PRODUCTS = KINDS = ("people", "products")
INITIALS = tuple(f"{letter}." for letter in "ABCDEFGHJKLMNPRSTVWZ")
MIDDLE_NAMES = 6  # middle names each gender of an origin has


class City(NamedTuple):
    """A real city; `origin` is the origin of the names that are common there, or None."""

    name: str
    country: str
    origin: str | None

    @property
    def record(self) -> dict[str, str]:
        """Where it is, as JSON data."""
        return {"place": self.name, "country": self.country}


class Occupation(NamedTuple):
    """What a person does, what one studies for it (or None), and where it is done ("a hospital")."""

    name: str
    upos: tuple[str, ...]
    field: str | None
    workplace: str


class Given(NamedTuple):
    """A given name and the gender it tells."""

    name: str
    gender: str


class Family(NamedTuple):
    """A family name and the form it takes after a woman's given name."""

    name: str
    female: str

    def after(self, gender: str) -> str:
        """The form that goes with `gender`."""
        return self.female if gender == FEMALE else self.name


class Origin(NamedTuple):
    """The names of one origin."""

    name: str
    given: tuple[Given, ...]
    family: tuple[Family, ...]
    middle: tuple[Given, ...]

    @property
    def pairs(self) -> int:
        """Distinct given and family names together."""
        return len(self.given) * len(self.family)

    def middles(self, gender: str) -> tuple[str, ...]:
        """Middle names and initials that fit `gender`; every gender has as many."""
        fitting = [middle.name for middle in self.middle if gender in (middle.gender, ANY)]
        return (*fitting[:MIDDLE_NAMES], *INITIALS)


class Relation(NamedTuple):
    """A relation that questions may ask for: the fact that tells it, the slot that says it, and how it is asked.

    The first question is the usual one. One has the subject at its start, one in the middle, one at its end.
    """

    name: str
    kind: str
    fact: str
    slot: str
    questions: tuple[str, ...]


class ProductWords(NamedTuple):
    """What products are named after, what they are, and what they are made of."""

    names: tuple[str, ...]
    things: tuple[str, ...]
    materials: tuple[str, ...]


def rows(name: str) -> list[list[str]]:
    """The cells of a table below its header line."""
    text = resources.files("loci.text.world").joinpath("tables", f"{name}.tsv").read_text(encoding="utf-8")
    header, *body = [line.split("\t") for line in text.split("\n") if line]
    assert all(len(row) == len(header) for row in body), name
    return body


def _none(cell: str) -> str | None:
    return None if cell == "-" else cell


@cache
def cities(multiword: bool) -> tuple[City, ...]:
    """Cities by popularity; those of several words only on request."""
    everything = (City(name, country, _none(origin)) for name, country, origin in rows("cities"))
    return tuple(city for city in everything if multiword or " " not in city.name)


@cache
def several_words() -> dict[str, str]:
    """How the words of a place of several words hang together: the relation of the words that are not its head."""
    return {name: relation for name, relation in rows("several_words")}  # noqa: C416 - rows are lists, not pairs


@cache
def occupations() -> tuple[Occupation, ...]:
    """Every occupation."""
    return tuple(
        Occupation(name, tuple(upos.split()), _none(field), at) for name, upos, field, at in rows("occupations")
    )


@cache
def origins() -> tuple[Origin, ...]:
    """Every origin with its names, in table order."""
    given, family, middle = rows("given_names"), rows("family_names"), rows("middle_names")
    return tuple(
        Origin(
            name,
            tuple(Given(row[2], row[1]) for row in given if row[0] == name),
            tuple(Family(row[1], row[2]) for row in family if row[0] == name),
            tuple(Given(row[2], row[1]) for row in middle if row[0] == name),
        )
        for name in dict.fromkeys(row[0] for row in family)
    )


@cache
def name_capacity() -> int:
    """The most people whose names can all differ when every origin has an equal share."""
    smallest = min(origin.pairs for origin in origins())
    return smallest * (1 + MIDDLE_NAMES + len(INITIALS)) * len(origins())


@cache
def lemmas() -> dict[tuple[str, str], str]:
    """Lemma of (form, part of speech) where it is not the form itself."""
    return {(form, upos): lemma for form, upos, lemma in rows("lemmas")}


@cache
def relations(kind: str) -> dict[str, Relation]:
    """The relations of people or of products, by name."""
    found = (Relation(name, of, fact, slot, tuple(asked)) for name, of, fact, slot, *asked in rows("relations"))
    return {relation.name: relation for relation in found if relation.kind == kind}


@cache
def product_words() -> ProductWords:
    """The words of which products are made up."""
    return ProductWords(*map(tuple, zip(*rows("products"), strict=True)))
