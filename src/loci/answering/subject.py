"""Whom a question means: the subject it names, or the last one spoken of when it says "he", "she" or "they".

A subject is found through a template, or else by its capitals; no corpus and no list of names is looked at. Knows
nothing of models and nothing of what is asked about a subject.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loci.errors import LociError
from loci.text.template import Template

#: What can stand in a template's place for a subject.
PRONOUNS = frozenset({"he", "she", "they", "it"})
_ANYWHERE = re.compile(r"\b(?:(he|she|they|him|them)|(his|their)|(her))\b", re.IGNORECASE)
_PLURAL = re.compile(r"\b(were|are|do|have)(?= they\b)", re.IGNORECASE)
_SINGULAR = {"were": "was", "are": "is", "do": "does", "have": "has"}
_AROUND = re.compile(r"^[\"“(]+|[\"”,;:!?)]+$|['’]s[\"”,;:!?)]*$")
_PARTICLE = re.compile("af|al|av|bin|da|de|del|den|der|di|dos|du|e|el|ibn|la|le|of|st|ten|ter|the|van|von|y|zu")
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


def find_subject(question: str, templates: Sequence[Template], *, given: str | None = None) -> str | None:
    """The subject of a question: as `given`, by one of the templates, or else its longest run of capitalised words."""
    if given is not None and given.lower() not in PRONOUNS:
        return given
    return _by_template(question, templates) or _capitalised(question)


def _by_template(text: str, templates: Sequence[Template]) -> str | None:
    for template in templates:
        subject = template.subject_of(text)
        if subject is not None and subject.lower() not in PRONOUNS:
            return subject
    return None


def _capitalised(question: str) -> str | None:
    """The longest run of capitalised words with the small words between them ("Ludwig van Beethoven").

    The word that opens a question has its capital from that and is no name.
    """
    words = [_AROUND.sub("", word) for word in question.strip(" ?!.").split()]
    if words and _OPENING.fullmatch(words[0]):
        words = words[1:]
    names = [""]
    for _, run in itertools.groupby(words, key=lambda word: word[:1].isupper() or bool(_PARTICLE.fullmatch(word))):
        found = list(run)
        capitals = [place for place, word in enumerate(found) if word[:1].isupper()]
        if capitals:
            names.append(" ".join(found[capitals[0] : capitals[-1] + 1]))
    return max(names, key=len) or None


@dataclass(frozen=True)
class Resolver:
    """Finds subjects, and puts names where pronouns stand; the templates are tried in order."""

    templates: tuple[Template, ...]

    def subject_of(self, text: str) -> str | None:
        """The subject that a question, or any other text, names."""
        return find_subject(text, self.templates)

    def resolve(self, question: str, history: Sequence[str] = (), *, given: str | None = None) -> Reference:
        """The question with a pronoun replaced by the last subject of `history`, earliest line first.

        A pronoun in a template's own place that nobody was named for is a `LociError`. Anywhere else it may mean
        anything, and the question stays as it is.
        """
        for text in dict.fromkeys((question, _singular(question))):
            for template in self.templates:
                slot = template.subject_of(text)
                if slot is not None and slot.lower() in PRONOUNS:
                    subject = self.last_subject(history)
                    if subject is None:
                        raise LociError(
                            f"{question!r}: nobody was named before whom {slot!r} could mean",
                            remedy="name the subject, or give the earlier questions first",
                        )
                    return Reference(template.ask(subject), subject, slot)
        subject = find_subject(question, self.templates, given=given)
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
        for subject_of in (self._by_template, self.subject_of):
            if subjects := [subject for text in said if (subject := subject_of(text)) is not None]:
                return subjects[-1]
        return None

    def _by_template(self, text: str) -> str | None:
        return _by_template(text, self.templates)


def _singular(question: str) -> str:
    """ "Where were they born?" asks of one person what "Where was … born?" asks."""
    return _PLURAL.sub(lambda verb: _SINGULAR[verb.group().lower()], question)


def _possessive(text: str, place: re.Match[str]) -> bool:
    # "her" before another word is "her mother"; at the end of a sentence it is "about her".
    if place.group(3) is None:
        return place.group(2) is not None
    return re.match(r" \w", text[place.end() :]) is not None
