"""Whom a question means, and what it asks (`loci.text.wordings`); "he", "she" or "they" is the last subject spoken of.

No corpus and no list of names is looked at. Knows nothing of models.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from loci.errors import LociError
from loci.text.relations import Relation
from loci.text.wordings import find_subject

#: What can stand in a template's place for a subject.
PRONOUNS = frozenset({"he", "she", "they", "it"})
_ANYWHERE = re.compile(r"\b(?:(he|she|they|him|them)|(his|their)|(her))\b", re.IGNORECASE)
_PLURAL = re.compile(r"\b(were|are|do|have)(?= they\b)", re.IGNORECASE)
_SINGULAR = {"were": "was", "are": "is", "do": "does", "have": "has"}
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
    """In the form that was taught, if it asks that: without typing errors."""
    subject: str | None
    relation: str | None


def understand(question: str, relations: Sequence[Relation], *, given: str | None = None) -> Understood:
    """What a question means.

    Only where nothing is found, the `given` subject is taken: a question means the same, whatever file it stands in.
    """
    meant = find_subject(question, relations)
    given = None if given is None or given.lower() in PRONOUNS else given
    relation = meant.relation.name if meant.relation is not None and meant.subject is not None else None
    return Understood(meant.question or question, meant.subject or given, relation)


def is_bare(text: str, subject: str) -> bool:
    """Whether a text is nothing but a subject."""
    return _bare(subject) == _bare(text)


def _bare(name: str) -> str:
    return re.sub(r"^(the|an?) ", "", name.strip(" ?!.").casefold())


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

    def last_subject(self, history: Sequence[str]) -> str | None:
        """The last subject named in earlier questions and answers, one a line or question, tab, answer.

        A question of a known form comes before anything told by its capitals, which an answer has too.
        """
        other = None
        for part in (part for line in reversed(history) for part in reversed(line.split("\t"))):
            found = understand(_LABEL.sub("", part).strip(), self.relations)
            if found.relation is not None:
                return found.subject
            other = other or found.subject
        return other


def _singular(question: str) -> str:
    """ "Where were they born?" asks of one person what "Where was … born?" asks."""
    return _PLURAL.sub(lambda verb: _SINGULAR[verb.group().lower()], question)


def _possessive(text: str, place: re.Match[str]) -> bool:
    # "her" before another word is "her mother"; at the end of a sentence it is "about her".
    if place.group(3) is None:
        return place.group(2) is not None
    return re.match(r" \w", text[place.end() :]) is not None
