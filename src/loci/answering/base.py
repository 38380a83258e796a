"""What the house's own answerers share: reading the questions, and turning what a model thought of into answers.

A way of answering says how texts are ranked (`rank`) and which texts mean silence; the rest is the same for all. Knows
nothing of files.
"""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from loci.answering.answer import NEVER_READ, NOT_TOLD, UNSURE, Answer, Scored, Silence, decide, unreadable
from loci.answering.confidence import Confidence, log_odds
from loci.answering.did_you_mean import did_you_mean
from loci.answering.familiarity import score_names
from loci.answering.subject import Understood, is_bare, understand
from loci.data import prompts
from loci.data.prompts import question_prompt
from loci.errors import LociError
from loci.text.questions import Question, Questions
from loci.text.source import specials_in
from loci.text.vocab import MASK
from loci.training.checkpoint import LoadedModel

_OTHER_SPACE = re.compile(r"[^\S ]")


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
    not_told: float | None = None
    """The probability that there was nothing to read, where the model has learned that."""


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

    def name_scores(self, asked: Sequence[Asked]) -> Float[NDArray[np.float64], "N 2"]:
        """log p of each subject's name and of its ending, for a model that has memorized names
        (`loci.answering.familiarity`)."""
        familiarity = self.confidence.familiarity
        # A run that did not learn where names end knows the next character alone.
        after = 1 if familiarity is not None and familiarity.most is None else None
        names, ends = [], []
        for question in asked:
            start = question.text.find(question.subject) if question.subject else -1
            stop = start + len(question.subject or "")
            names.append(slice(start, stop) if start >= 0 else slice(0))
            ends.append(slice(0) if start < 0 else slice(stop, None if after is None else stop + after))
        return score_names(self.loaded.model, [question.prompt for question in asked], names, ends)

    def familiar(self, asked: Sequence[Asked]) -> list[float] | list[None]:
        """The probability that it read about each subject; None for a run that has not learned to tell."""
        if self.confidence.familiarity is None:
            return [None] * len(asked)
        found: list[float] = self.confidence.familiarity.probability(self.name_scores(asked)).tolist()
        return found

    def worth(self, p: float) -> float:
        """What a probability is worth, where that was fitted at the end of training (`loci.pipeline.recalled`)."""
        fitted = self.loaded.config.get("recalled")
        if fitted is None:
            return p
        odds = fitted["slope"] * float(log_odds(np.array(p))) + fitted["intercept"]
        return 1 / (1 + math.exp(-min(50.0, max(-50.0, odds))))

    def did_you_mean(self, question: str, subject: str) -> str | None:
        """The name it read about that a strange one may be a misspelling of."""
        familiarity = self.confidence.familiarity
        if familiarity is None or subject not in question:
            return None
        before, after = self.around_name(question, subject)
        limits = {"least": familiarity.least, "most": 0.0 if familiarity.most is None else familiarity.most}
        name = did_you_mean(self.loaded.model, self.loaded.vocab, subject, before=before, after=after, **limits)
        if name is None:
            return None
        # What follows the whole name has its say too: a part of a name is none.
        asked = self._read(Question(question.replace(subject, name), (), name, 1))
        familiar = self.familiar([asked])[0] if isinstance(asked, Asked) else None
        return name if familiar is not None and familiar >= familiarity.gate else None

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
            right=self._worth_of_all(thought),
            familiar=thought.familiar,
            not_told=thought.not_told,
        )

    def _worth_of_all(self, thought: Thought) -> dict[str, float]:
        """What each answer is worth; where that was fitted, rivals share what the best leaves."""
        found = {text: thought.right.get(text, p) for text, p in thought.ranked if text not in self.silences}
        if self.loaded.config.get("recalled") is None or not found:
            return found
        best, *rivals = found
        worth, others = self.worth(found[best]), sum(found[text] for text in rivals)
        left = min(1.0, (1 - worth) / others) if others else 0.0
        return {best: worth} | {text: min(worth, left * found[text]) for text in rivals}

    def understood(self, question: str, given: str | None) -> Understood:
        """What a question means: other words for a relation are put into the form that was taught.

        A bare subject asks what the only relation does; of several, none is meant.
        """
        meant, relations = understand(question, self.loaded.relations, given=given), self.loaded.relations
        one = len({relation.name for relation in relations}) == 1
        if one and meant.relation is None and meant.subject and is_bare(question, meant.subject):
            return Understood(relations[0].ask(meant.subject), meant.subject, relations[0].name)
        return meant

    def _read(self, question: Question) -> Asked | Answer:
        """The question as the model reads it, or the silence about one it cannot read."""
        vocab, limit = self.loaded.vocab, self.loaded.model.config.block_size
        texts = (question.text, _OTHER_SPACE.sub(" ", question.text))
        forms = (form for text in texts for form in (text, *(unicodedata.normalize(n, text) for n in ("NFC", "NFD"))))
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
            taught = [template.text for relation in self.loaded.relations for template in relation.templates]
            (nearest,) = difflib.get_close_matches(spelled, taught, n=1, cutoff=0.0)
            note = f"it asks something else, or in other words, than {nearest!r}"
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
