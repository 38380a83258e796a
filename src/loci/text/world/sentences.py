"""Sentence templates: what each says, when it fits, and how its slots are filled for a subject.

Knows nothing of lines or corpora. A template carries its own dependency parse, so that text and tree have one source;
the tree is built only when somebody asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias

from loci.text.world import parse
from loci.text.world.parse import Phrase, Position, Token, Word, head_first, head_last, noun_phrase
from loci.text.world.population import FACTS as FACTS_OF_PEOPLE
from loci.text.world.population import Date, Person
from loci.text.world.products import FACTS as FACTS_OF_PRODUCTS
from loci.text.world.products import Product
from loci.text.world.tables import ANY, FEMALE, MALE, THING, Relation, occupations, rows

Subject: TypeAlias = Person | Product
FACTS = {*FACTS_OF_PEOPLE, *FACTS_OF_PRODUCTS}

# What a wording may need: to come first in a line, a living or a dead person, an occupation one studies for or learns.
NEEDS = {"opening", "alive", "dead", "field", "trade"}
# How a sentence calls what it is about.
FULL, SHORT, PRONOUN = "full", "short", "pronoun"

PRONOUNS = {FEMALE: ("she", "her"), MALE: ("he", "his"), ANY: ("they", "their"), THING: ("it", "its")}
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
# Vowels that are spoken with a consonant first.
TAKES_A = ("uni", "utr", "eu", "one")

PIECE = re.compile(r"\{[^}]+\}|\w+|[^\w\s]")
SLOT = re.compile(r"\{([^}]+)\}")
PLURALS = {"was": "were", "is": "are", "works": "work", "lives": "live", "has": "have"}


@dataclass(frozen=True)
class Template:
    """One wording: the facts it states, what it needs, and per position a word or slot with its part of the tree."""

    id: str
    facts: frozenset[str]
    needs: frozenset[str]
    text: str
    uposes: tuple[str, ...]
    positions: tuple[Position, ...]

    def __post_init__(self) -> None:
        assert self.facts, self.id
        assert self.facts <= FACTS, self.id
        assert self.needs <= NEEDS, self.id
        assert len(self.pieces) == len(self.uposes) == len(self.positions), self.id
        assert parse.is_tree([position.head for position in self.positions]), self.id
        assert "%" not in self.text, self.id
        assert self.slots.count("a") <= 1, self.id

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The words, slots and marks of the wording."""
        return tuple(PIECE.findall(self.text))

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """The slots in order, without their braces."""
        return tuple(SLOT.findall(self.text))

    @cached_property
    def frame(self) -> str:
        """The wording with %s for every slot."""
        return SLOT.sub("%s", self.text)

    @property
    def has_pronoun(self) -> bool:
        """Whether the wording cannot do without a pronoun."""
        return "his" in self.slots


@cache
def templates(*, birth_years: bool = False) -> tuple[Template, ...]:
    """Every wording, in table order; with `birth_years`, one that gives the year of birth states that as a fact."""
    found = tuple(_template(*row) for row in rows("sentences"))
    if not birth_years:
        return found
    years = {"birth.year", "birth.date"}
    return tuple(
        replace(template, facts=template.facts | {"birth_year"}) if years & {*template.slots} else template
        for template in found
    )


def _template(id: str, facts: str, needs: str, text: str, upos: str, head: str, deprel: str) -> Template:
    spaces = [text[piece.end() : piece.end() + 1] == " " for piece in PIECE.finditer(text)]
    positions = tuple(map(Position, map(int, head.split()), deprel.split(), spaces))
    needed = frozenset(needs.split()) - {"-"}
    return Template(id, frozenset(facts.split()), needed, text, tuple(upos.split()), positions)


class Slot(NamedTuple):
    """What fills a gap of a wording: its text for a person or product, and the tree of that text."""

    text: Callable[[Any], str]
    phrase: Callable[[str], Phrase]


_literal = cache(parse.word)
_place = cache(parse.proper_name)


def _number(text: str) -> Phrase:
    return _literal(text, "NUM")


def _date(text: str) -> Phrase:
    return head_first(text.split(), ["NUM", "PROPN", "NUM"], "nmod:unmarked")


@cache
def _job(text: str) -> Phrase:
    return noun_phrase(text, next(occupation.upos for occupation in occupations() if occupation.name == text))


@cache
def _workplace(text: str) -> Phrase:
    return noun_phrase(text, ["DET", *["NOUN"] * text.count(" ")])


def _name(text: str) -> Phrase:
    forms = text.split()
    if forms[0] == "the":
        return head_last(forms, ["DET", *["PROPN"] * (len(forms) - 1)], ["det", *["compound"] * (len(forms) - 2)])
    return head_first(forms, ["PROPN"] * len(forms), "flat")


def _employer(text: str) -> Phrase:
    forms = text.split()
    return head_last(forms, ["PROPN"] * len(forms), ["compound"] * (len(forms) - 1))


def _spoken(date: Date) -> str:
    return f"{date.day} {MONTHS[date.month - 1]} {date.year}"


SLOTS: dict[str, Slot] = {
    "job": Slot(lambda person: person.occupation.name, _job),
    "field": Slot(lambda person: person.occupation.field, lambda text: _literal(text, "NOUN")),
    "workplace": Slot(lambda person: person.occupation.workplace, _workplace),
    "birth": Slot(lambda person: person.birth_place.name, _place),
    "birth.country": Slot(lambda person: person.birth_place.country, _place),
    "birth.date": Slot(lambda person: _spoken(person.birth_date), _date),
    "birth.year": Slot(lambda person: str(person.birth_date.year), _number),
    "study": Slot(lambda person: person.study_place.name, _place),
    "work": Slot(lambda person: person.work_place.name, _place),
    "move": Slot(lambda person: person.move_place.name, _place),
    "move.year": Slot(lambda person: str(person.move_year), _number),
    "death": Slot(lambda person: person.death_place.name, _place),
    "death.date": Slot(lambda person: _spoken(person.death_date), _date),
    "death.year": Slot(lambda person: str(person.death_date.year), _number),
    "age": Slot(lambda person: str(person.age), _number),
    "employer": Slot(lambda person: person.employer, _employer),
    "made": Slot(lambda product: product.made_place.name, _place),
    "sale": Slot(lambda product: product.sale_place.name, _place),
    "designer": Slot(lambda product: product.designer, _name),
    "tester": Slot(lambda product: product.tester, _name),
    "material": Slot(lambda product: product.material, lambda text: _literal(text, "NOUN")),
    "launch": Slot(lambda product: str(product.launch_year), _number),
}


def answer_of(relation: Relation, subject: Subject) -> str | None:
    """What the relation is for this subject, told or not; None where there is no such thing."""
    return None if relation.fact == "death" and subject.alive else SLOTS[relation.slot].text(subject)


def text_of(template: Template, subject: Subject, mention: str, *, ends_line: bool) -> str:
    """The template filled for `subject`, called by `mention`. A line's last full stop stands alone, as the course's."""
    text = template.frame % tuple(_values(template, subject, mention))
    return text[0].upper() + (f"{text[1:-1]} ." if ends_line else text[1:])


def tokens_of(template: Template, subject: Subject, mention: str, *, ends_line: bool) -> list[Token]:
    """The tree of the text that `text_of` gives."""
    values = iter(_values(template, subject, mention))
    phrases = [
        _phrase(piece[1:-1], next(values), upos, mention) if piece[0] == "{" else _literal(piece, upos)
        for piece, upos in zip(template.pieces, template.uposes, strict=True)
    ]
    tokens = parse.assemble(template.positions, phrases)
    first = tokens[0]
    tokens[0] = first._replace(form=first.form[0].upper() + first.form[1:])
    if ends_line:
        tokens[-2] = tokens[-2]._replace(space_after=True)
    return tokens


def _values(template: Template, subject: Subject, mention: str) -> list[str]:
    """What the slots of the template say, in order."""
    values = [
        SLOTS[slot].text(subject) if slot in SLOTS else _grammatical(slot, subject, mention) for slot in template.slots
    ]
    if "a" in template.slots:
        at = template.slots.index("a")
        values[at] = _article(values[at + 1])
    return values


def _grammatical(slot: str, subject: Subject, mention: str) -> str:
    """A slot that depends on how the subject is called."""
    if slot in PLURALS:
        return _agreeing(slot, subject, mention)
    if slot == "a":
        return ""  # chosen when the next word is known
    pronoun, possessive = PRONOUNS[subject.gender]
    if slot == "his":
        return possessive
    assert slot in ("subject", "subject's"), slot
    if mention == PRONOUN:
        return pronoun if slot == "subject" else possessive
    return subject.mentions[mention == SHORT] + slot.removeprefix("subject")


def _article(following: str) -> str:
    spoken_consonant = following.lower().startswith(TAKES_A)
    return "an" if following[0] in "AEIOUaeiouÄÖÜÉ" and not spoken_consonant else "a"


def _agreeing(verb: str, subject: Subject, mention: str) -> str:
    """The verb in the number of its subject; "is" also follows whether the person is alive."""
    if verb == "is" and not subject.alive:
        verb = "was"
    return PLURALS[verb] if mention == PRONOUN and subject.gender == ANY else verb


def _phrase(slot: str, text: str, upos: str, mention: str) -> Phrase:
    """The tree of what fills a slot."""
    if slot in SLOTS:
        return SLOTS[slot].phrase(text)
    if slot in PLURALS or slot == "a":
        return _literal(text, upos)
    if slot == "his" or mention == PRONOUN:
        return _literal(text, "PRON")
    if slot == "subject":
        return _name(text)
    words, head = _name(text.removesuffix("'s"))
    return Phrase((*words[:-1], words[-1]._replace(space_after=False), Word("'s", "'s", "PART", head, "case")), head)
