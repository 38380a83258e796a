"""What the house's own answerers share: reading the questions, and turning what a model thought of into answers.

A way of answering says how texts are ranked (`rank`) and which texts mean silence; the rest is the same for all. Knows
nothing of files.
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from loci.answering.answer import NEVER_READ, NOT_TOLD, UNSURE, Answer, Scored, Silence, decide, unreadable
from loci.answering.confidence import Confidence
from loci.answering.did_you_mean import did_you_mean
from loci.answering.familiarity import score_names
from loci.answering.subject import Understood, understand
from loci.data import prompts
from loci.data.prompts import question_prompt
from loci.errors import LociError
from loci.text.questions import Question, Questions
from loci.text.source import specials_in
from loci.text.vocab import MASK
from loci.training.checkpoint import LoadedModel


@dataclass(frozen=True)
class Asked:
    """A question the model can read."""

    text: str
    subject: str | None
    relation: str | None
    prompt: list[int]
    """The question and the mask that calls for the answer."""


@dataclass(frozen=True)
class Thought:
    """What a model thought of: texts with their probabilities, likeliest first, and what it recited before."""

    ranked: Sequence[Scored]
    recited: str | None = None
    right: Mapping[str, float] = field(default_factory=dict)
    """The chance that each text, once remembered, is right, where the model has learned that too."""
    familiar: float | None = None
    """The probability that it read about the subject, where the model has learned that."""
    not_told: float = 0.0
    """The probability that there was nothing to read."""


class ModelAnswerer(ABC):
    """Asks a model for ranked texts and decides on them."""

    silences: ClassVar[Mapping[str, Silence]] = {
        "": NEVER_READ,
        prompts.UNKNOWN: NEVER_READ,
        prompts.NOT_TOLD: NOT_TOLD,
        prompts.I_DONT_KNOW: UNSURE,
    }
    """Texts that mean silence, each with its reason."""
    needs_subject: ClassVar[bool] = False
    one_form: ClassVar[bool] = False
    """Whether it answers only in the form it was taught in: a question of no known wording is left unanswered."""

    def __init__(self, loaded: LoadedModel, confidence: Confidence):
        self.loaded = loaded
        self.confidence = confidence

    @abstractmethod
    def rank(self, asked: Sequence[Asked], candidates: Sequence[str] | None) -> list[Thought]:
        """What the model thinks of for each question; always as many texts, however many are wanted."""

    def name_scores(self, asked: Sequence[Asked]) -> NDArray[np.float64]:
        """log p of each subject's name, for a model that has memorized names (`loci.answering.familiarity`)."""
        places = [question.text.find(question.subject) if question.subject else -1 for question in asked]
        # With what follows the name in the question: a name may go on.
        names = [
            slice(place, place + len(question.subject or "") + 1) if place >= 0 else slice(0)
            for place, question in zip(places, asked, strict=True)
        ]
        return score_names(self.loaded.model, [question.prompt for question in asked], names)

    def familiar(self, asked: Sequence[Asked]) -> list[float] | list[None]:
        """The probability that it read about each subject; None for a run that has not learned to tell."""
        if self.confidence.familiarity is None:
            return [None] * len(asked)
        found: list[float] = self.confidence.familiarity.probability(self.name_scores(asked)).tolist()
        return found

    def did_you_mean(self, question: str, subject: str) -> str | None:
        """The name it read about that a strange one may be a misspelling of."""
        if self.confidence.familiarity is None or subject not in question:
            return None
        before, after = self.around_name(question, subject)
        model, vocab, least = self.loaded.model, self.loaded.vocab, self.confidence.familiarity.least
        return did_you_mean(model, vocab, subject, before=before, after=after, least=least)

    def around_name(self, question: str, subject: str) -> tuple[str, str]:
        """What stands before and after a name where its likelihood is looked at."""
        before, _, after = question.partition(subject)
        return before, after or MASK

    def readable(self, questions: Questions) -> list[Asked]:
        """The questions that the model can read, as it reads them."""
        return [asked for asked in map(self._read, questions) if isinstance(asked, Asked)]

    def answer(self, questions: Questions, *, n: int = 1, candidates: Sequence[str] | None = None) -> list[Answer]:
        """An answer to every question, in their order."""
        if n < 1:
            raise LociError(f"at least one answer is asked for, not {n}")
        read = [self._read(question) for question in questions]
        # Questions in other words may come to the same: the model is asked once.
        readable = {(asked.text, asked.subject): asked for asked in read if isinstance(asked, Asked)}
        chosen = None if candidates is None else list(dict.fromkeys(candidates))
        thoughts = dict(zip(readable, self.rank([*readable.values()], chosen) if readable else (), strict=True))
        return [
            asked if isinstance(asked, Answer) else self._decide(asked, thoughts[asked.text, asked.subject], n)
            for asked in read
        ]

    def _decide(self, asked: Asked, thought: Thought, n: int) -> Answer:
        return decide(
            asked.text,
            thought.ranked,
            self.confidence,
            silences=self.silences,
            n=n,
            subject=asked.subject,
            relation=asked.relation,
            recited=thought.recited,
            right=thought.right,
            familiar=thought.familiar,
            not_told=thought.not_told,
        )

    def understood(self, question: str, given: str | None) -> Understood:
        """What a question means: other words for a relation are put into the form that was taught."""
        return understand(question, self.loaded.relations, given=given)

    def _read(self, question: Question) -> Asked | Answer:
        """The question as the model reads it, or the silence about one it cannot read."""
        vocab, limit = self.loaded.vocab, self.loaded.model.config.block_size
        forms = (question.text, *(unicodedata.normalize(form, question.text) for form in ("NFC", "NFD")))
        spelled = next((form for form in forms if not vocab.missing(form)), question.text)
        meant = self.understood(spelled, question.subject)
        relation = meant.relation or question.relation or None
        if special := specials_in(spelled):
            note = f"the question holds {', '.join(special)}, which has a meaning of its own"
        elif missing := vocab.missing(meant.question):
            note = f"the model does not know {', '.join(map(repr, missing))}"
        elif len(prompt := question_prompt(vocab, meant.question).tolist()) >= limit:
            note = f"the question takes {len(prompt)} of the model's {limit} characters and leaves none for an answer"
        elif meant.subject is None and self.needs_subject:
            note = "no subject was found in the question, and this model recites by the subject's name"
        elif self.one_form and meant.relation is None and self.loaded.config.get("relations"):
            note = f"it asks something else, or in other words, than {self.loaded.relations[0].templates[0].text!r}"
        else:
            return Asked(meant.question, meant.subject, relation, prompt)
        return unreadable(question.text, note, subject=meant.subject, relation=relation)


def candidate_ids(loaded: LoadedModel, candidates: Sequence[str]) -> list[list[int]]:
    """The ids of given answers. One that the model cannot write is a `LociError`."""
    remedy = "leave it out: the model cannot say it"
    for text in candidates:
        if len(text) > (limit := loaded.model.config.block_size):
            raise LociError(f"the candidate {text[:40]!r}… has {len(text):,} characters of {limit}", remedy=remedy)
    try:
        return [loaded.vocab.encode(text).tolist() for text in candidates]
    except LociError as error:
        raise LociError(f"the candidate {error.message}", remedy=remedy) from None
