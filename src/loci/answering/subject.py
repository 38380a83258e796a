"""Whom a question means, and what it asks: by a template, exactly or nearly, or else by the capitals of a name.

"he", "she" or "they" means the last subject spoken of. No corpus and no list of names is looked at. Knows nothing of
models.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loci.errors import LociError
from loci.text.relations import Relation
from loci.text.subjects import PARTICLES
from loci.text.template import Template

#: What can stand in a template's place for a subject.
PRONOUNS = frozenset({"he", "she", "they", "it"})
_ANYWHERE = re.compile(r"\b(?:(he|she|they|him|them)|(his|their)|(her))\b", re.IGNORECASE)
_PLURAL = re.compile(r"\b(were|are|do|have)(?= they\b)", re.IGNORECASE)
_SINGULAR = {"were": "was", "are": "is", "do": "does", "have": "has"}
_AROUND = re.compile(r"^[\"“(]+|[\"”,;:!?)]+$|['’]s[\"”,;:!?)]*$")
_INSIDE_NAMES = PARTICLES - {"and", "at", "for", "in", "on", "to", "upon"}  # these join a name to the question
_OPENING = re.compile(
    "an?|and|are|at|by|can|could|did|do|does|for|from|had|has|have|how|in|is|name|of|on|please|say|tell|the|to|was|"
    "were|what|when|where|which|who|whom|whose|why|with|would",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^\s*(?:q|a|question|answer)\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Reference:
    """A question in which the subject stands by name, if one is known at all."""

    question: str
    subject: str | None
    pronoun: str | None = None
    """What the question said instead of the name."""


@dataclass(frozen=True)
class Understood:
    """A question, whom it is about, and what it asks, as far as that can be told from its text."""

    question: str
    """In the words of the template that it nearly fits, if there is one: without typing errors."""
    subject: str | None
    relation: str | None


def understand(question: str, relations: Sequence[Relation], *, given: str | None = None) -> Understood:
    """What a question means: by the first template it fits, else the first it nearly fits, else its capitals.

    Only where nothing is found, the `given` subject is taken: a question means the same, whatever file it stands in.
    """
    forms = [(template, relation.name) for relation in relations for template in relation.templates]
    for fit in (Template.subject_of, _nearly):
        for template, name in forms:
            subject = fit(template, question)
            if subject is not None and subject.lower() not in PRONOUNS:
                return Understood(template.ask(subject), subject, name)
    given = None if given is None or given.lower() in PRONOUNS else given
    return Understood(question, _capitalised(question) or given, None)


def _nearly(template: Template, question: str) -> str | None:
    """The subject of a question in lower case, without its question mark or with a typing error in a word."""
    words = question.strip(" ?!.").split()
    before, after = template.prefix.split(), template.suffix.strip(" ?!.").split()
    end = len(words) - len(after)
    if not (before or after) or end <= len(before):
        return None
    around = [*words[: len(before)], *words[end:]]
    same = all(map(_same_word, around, [*before, *after]))
    return " ".join(words[len(before) : end]) if same else None


def _same_word(word: str, meant: str) -> bool:
    """Whether a word is meant: in any case, and if it is long enough with one letter more, less, other or swapped."""
    word, meant = word.casefold(), meant.casefold()
    if word == meant or len(meant) < 4 or abs(len(word) - len(meant)) > 1:
        return word == meant
    start = next((i for i, (a, b) in enumerate(zip(word, meant, strict=False)) if a != b), min(len(word), len(meant)))
    word, meant = word[start:], meant[start:]
    swapped = word[:2] == meant[:2][::-1] and word[2:] == meant[2:]
    return swapped or word[1:] == meant[1:] or word[1:] == meant or word == meant[1:]


def _capitalised(question: str) -> str | None:
    """The longest run of capitalised words with the small words between them ("Ludwig van Beethoven").

    The word that opens a question has its capital from that and is no name.
    """
    words = [_AROUND.sub("", word) for word in question.strip(" ?!.").split()]
    if words and _OPENING.fullmatch(words[0]):
        words = words[1:]
    names = [""]
    for _, run in itertools.groupby(words, key=lambda word: word[:1].isupper() or word in _INSIDE_NAMES):
        found = list(run)
        capitals = [place for place, word in enumerate(found) if word[:1].isupper()]
        if capitals:
            names.append(" ".join(found[capitals[0] : capitals[-1] + 1]))
    return max(names, key=len) or None


@dataclass(frozen=True)
class Resolver:
    """Puts names where pronouns stand."""

    relations: tuple[Relation, ...]

    def resolve(self, question: str, history: Sequence[str] = (), *, given: str | None = None) -> Reference:
        """The question with a pronoun replaced by the last subject of `history`, earliest line first.

        A pronoun in a template's own place that nobody was named for is a `LociError`. Anywhere else it may mean
        anything, and the question stays as it is.
        """
        for text in dict.fromkeys((question, _singular(question))):
            for template in (template for relation in self.relations for template in relation.templates):
                slot = template.subject_of(text)
                if slot is not None and slot.lower() in PRONOUNS:
                    subject = self.last_subject(history)
                    if subject is None:
                        raise LociError(
                            f"{question!r}: nobody was named before whom {slot!r} could mean",
                            remedy="name the subject, or give the earlier questions first",
                        )
                    return Reference(template.ask(subject), subject, slot)
        subject = understand(question, self.relations, given=given).subject
        if subject is None and (found := _ANYWHERE.search(question)) is not None:
            subject = self.last_subject(history)
            if subject is not None:
                text = _singular(question)
                place = _ANYWHERE.search(text)
                assert place is not None
                name = f"{subject}'s" if _possessive(text, place) else subject
                return Reference(text[: place.start()] + name + text[place.end() :], subject, found.group())
        return Reference(question, subject)

    def last_subject(self, history: Iterable[str]) -> str | None:
        """The last subject named in earlier questions and answers, one a line or question, tab, answer.

        A question of a known form comes before anything told by its capitals, which an answer has too.
        """
        said = [_LABEL.sub("", part).strip() for line in history for part in line.split("\t")]
        found = [understand(text, self.relations) for text in said]
        named = [one for one in found if one.relation is not None] or [one for one in found if one.subject is not None]
        return named[-1].subject if named else None


def _singular(question: str) -> str:
    """ "Where were they born?" asks of one person what "Where was … born?" asks."""
    return _PLURAL.sub(lambda verb: _SINGULAR[verb.group().lower()], question)


def _possessive(text: str, place: re.Match[str]) -> bool:
    # "her" before another word is "her mother"; at the end of a sentence it is "about her".
    if place.group(3) is None:
        return place.group(2) is not None
    return re.match(r" \w", text[place.end() :]) is not None
