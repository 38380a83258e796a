"""Whom a question means: the subject it names, or the last one spoken of when it says "he", "she" or "they".

A subject is found through a template, or else as a subject of the corpus that stands in the question. Knows nothing of
models and nothing of what is asked about a subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loci.errors import LociError
from loci.text.corpus import Corpus
from loci.text.template import Template

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
class Resolver:
    """Finds subjects: the templates are tried in order, then the corpus."""

    templates: tuple[Template, ...]
    corpus: Corpus | None = None

    def subject_of(self, text: str) -> str | None:
        """The subject that a question, or any other text, names."""
        for template in self.templates:
            subject = template.subject_of(text)
            if subject is not None and subject.lower() not in PRONOUNS:
                return subject
        return longest_subject(text, self.corpus) if self.corpus is not None else None

    def resolve(self, question: str, history: Sequence[str] = ()) -> Reference:
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
        subject = self.subject_of(question)
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
        """The last subject named in earlier questions and answers, one a line or question, tab, answer."""
        for line in reversed(list(history)):
            for part in line.split("\t"):
                if (subject := self.subject_of(_LABEL.sub("", part).strip())) is not None:
                    return subject
        return None


def longest_subject(text: str, corpus: Corpus) -> str | None:
    """The longest subject of the corpus that stands in `text` as whole words."""
    starts = [match.start() for match in re.finditer(r"(?<!\w)\w|[^\w\s]", text)]
    ends = [match.end() for match in re.finditer(r"\w(?!\w)|[^\w\s]", text)]
    spans = sorted(((start, end) for start in starts for end in ends if start < end), key=lambda s: s[0] - s[1])
    return next((text[start:end] for start, end in spans if text[start:end] in corpus.by_subject), None)


def _singular(question: str) -> str:
    """ "Where were they born?" asks of one person what "Where was … born?" asks."""
    return _PLURAL.sub(lambda verb: _SINGULAR[verb.group().lower()], question)


def _possessive(text: str, place: re.Match[str]) -> bool:
    # "her" before another word is "her mother"; at the end of a sentence it is "about her".
    if place.group(3) is None:
        return place.group(2) is not None
    return re.match(r" \w", text[place.end() :]) is not None
