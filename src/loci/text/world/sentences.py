"""Sentence templates: what each says, when it fits, and how its slots are filled for a person.

Knows nothing of lines or corpora. A template carries its own dependency parse, so that text and tree have one source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import chain

from loci.text.world.parse import (
    Phrase,
    Place,
    Token,
    Word,
    assemble,
    head_first,
    is_tree,
    noun_phrase,
    proper_name,
    word,
)
from loci.text.world.population import FACTS, Date, Person
from loci.text.world.tables import ANY, FEMALE, MALE, rows

# What a wording may need: to come first in a line, a living or a dead person, an occupation one studies for or learns.
NEEDS = {"opening", "alive", "dead", "field", "trade"}
# How a sentence calls the person it is about.
FULL, SURNAME, PRONOUN = "full", "surname", "pronoun"

PRONOUNS = {FEMALE: ("she", "her"), MALE: ("he", "his"), ANY: ("they", "their")}
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
# Vowels that are spoken with a consonant first.
TAKES_A = ("uni", "utr", "eu", "one")

PIECE = re.compile(r"\{[^}]+\}|\w+|[^\w\s]")
PLURALS = {"was": "were", "is": "are", "works": "work", "lives": "live", "has": "have"}


@dataclass(frozen=True)
class Template:
    """One wording: the facts it states, what it needs, and per place a word or slot with its part of the tree."""

    id: str
    facts: frozenset[str]
    needs: frozenset[str]
    pieces: tuple[str, ...]
    uposes: tuple[str, ...]
    places: tuple[Place, ...]

    def __post_init__(self) -> None:
        assert self.facts, self.id
        assert self.facts <= set(FACTS), self.id
        assert self.needs <= NEEDS, self.id
        assert len(self.pieces) == len(self.uposes) == len(self.places), self.id
        assert is_tree([place.head for place in self.places]), self.id

    @property
    def has_pronoun(self) -> bool:
        """Whether the wording cannot do without a pronoun."""
        return "{his}" in self.pieces


@cache
def templates() -> tuple[Template, ...]:
    """Every wording, in table order."""
    return tuple(_template(*row) for row in rows("sentences"))


def _template(id: str, facts: str, needs: str, text: str, upos: str, head: str, deprel: str) -> Template:
    found = list(PIECE.finditer(text))
    spaces = [text[piece.end() : piece.end() + 1] == " " for piece in found]
    places = tuple(map(Place, map(int, head.split()), deprel.split(), spaces))
    return Template(
        id,
        frozenset(facts.split()),
        frozenset(needs.split()) - {"-"},
        tuple(piece.group() for piece in found),
        tuple(upos.split()),
        places,
    )


def tokens_of(template: Template, person: Person, mention: str, *, ends_line: bool) -> list[Token]:
    """The template filled for `person`, called by `mention`. A line's last full stop stands alone, as in the course."""
    phrases = [
        _fill(piece, upos, person, mention) for piece, upos in zip(template.pieces, template.uposes, strict=True)
    ]
    for at in range(len(phrases) - 2, -1, -1):
        if template.pieces[at] == "{a}":
            phrases[at] = word(_article(phrases[at + 1].words[0].form), "DET")
    tokens = assemble(template.places, phrases)
    first = tokens[0]
    tokens[0] = first._replace(form=first.form[0].upper() + first.form[1:])
    if ends_line:
        tokens[-2] = tokens[-2]._replace(space_after=True)
    return tokens


def _article(following: str) -> str:
    spoken_consonant = following.lower().startswith(TAKES_A)
    return "an" if following[0] in "AEIOUaeiouÄÖÜÉ" and not spoken_consonant else "a"


def _fill(piece: str, upos: str, person: Person, mention: str) -> Phrase:
    if piece[0] != "{":
        return _literal(piece, upos)
    slot = piece[1:-1]
    if slot in PLURALS:
        return _literal(_agreeing(slot, person, mention), upos)
    match slot:
        case "subject":
            return _mention(person, mention)
        case "subject's":
            return _possessive(person, mention)
        case "his":
            return _literal(PRONOUNS[person.gender][1], "PRON")
        case "a":
            return _literal("a", "DET")  # chosen when the next word is known
        case "job":
            return _noun(person.occupation.name, person.occupation.upos)
        case "field":
            assert person.occupation.field is not None
            return _literal(person.occupation.field, upos)
        case "workplace":
            return _workplace(person.occupation.workplace)
        case "birth":
            return _place(person.birth_place.name)
        case "birth.country":
            return _place(person.birth_place.country)
        case "birth.date":
            return _date(person.birth_date)
        case "birth.year":
            return _literal(str(person.birth_date.year), "NUM")
        case "study":
            return _place(person.study_place.name)
        case "work":
            return _place(person.work_place.name)
        case "move":
            return _place(person.move_place.name)
        case "move.year":
            return _literal(str(person.move_year), "NUM")
    assert person.death_place is not None, slot
    assert person.death_date is not None, slot
    match slot:
        case "death":
            return _place(person.death_place.name)
        case "death.date":
            return _date(person.death_date)
        case "death.year":
            return _literal(str(person.death_date.year), "NUM")
        case "age":
            return _literal(str(person.age), "NUM")
    raise AssertionError(f"no slot {slot}")


_literal = cache(word)
_noun = cache(noun_phrase)
_place = cache(proper_name)


@cache
def _workplace(text: str) -> Phrase:
    return noun_phrase(text, ["DET", *["NOUN"] * text.count(" ")])


def _date(date: Date) -> Phrase:
    return head_first([str(date.day), MONTHS[date.month - 1], str(date.year)], ["NUM", "PROPN", "NUM"], "nmod:unmarked")


def _agreeing(verb: str, person: Person, mention: str) -> str:
    """The verb in the number of its subject; "is" also follows whether the person is alive."""
    if verb == "is" and not person.alive:
        verb = "was"
    return PLURALS[verb] if mention == PRONOUN and person.gender == ANY else verb


def _mention(person: Person, mention: str) -> Phrase:
    if mention == PRONOUN:
        return _literal(PRONOUNS[person.gender][0], "PRON")
    parts = [person.family] if mention == SURNAME else [person.given, person.middle or "", person.family]
    forms = list(chain.from_iterable(part.split() for part in parts))
    return head_first(forms, ["PROPN"] * len(forms), "flat")


def _possessive(person: Person, mention: str) -> Phrase:
    if mention == PRONOUN:
        return _literal(PRONOUNS[person.gender][1], "PRON")
    words = _mention(person, mention).words
    glued = words[-1]._replace(space_after=False)
    return Phrase((*words[:-1], glued, Word("'s", "'s", "PART", 0, "case")), 0)
