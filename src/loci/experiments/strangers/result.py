"""What a run says about everybody, about strangers and in other wordings, computed from its answers.

Pure functions of answers. Knows nothing of trainings or pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loci.answering.answer import NEVER_READ, Answer
from loci.evaluation.calibration import auroc, ece
from loci.evaluation.metrics import Estimate, Rate, ScoreArrays, wilson
from loci.text.match import is_accepted
from loci.text.questions import Questions


@dataclass(frozen=True)
class People:
    """Answers about people whose answers are known."""

    right: Rate
    """The best answer, also where the run is silent."""
    answered: Rate
    answered_rightly: Rate
    answered_wrongly: Rate
    right_if_answered: Rate
    silences: Mapping[str, int]
    """Each reason for silence, and how often it was given."""


@dataclass(frozen=True)
class Stranger:
    """Answers about one kind of names that nobody wrote about."""

    answered: Rate
    auroc: Estimate
    """How often a right answer's subject is more familiar than a stranger."""


@dataclass(frozen=True)
class StrangersResult:
    """All figures of one run."""

    run: str
    parameters: int
    characters: int
    people: Mapping[str, People]
    right_or_wrong: Estimate
    """AUROC of the probability of held-out people's answers, right against wrong."""
    ece: float
    strangers: Mapping[str, Stranger]
    wordings: Mapping[str, People]
    """Held-out people in each wording; in those of another question every answer given is wrong."""
    quick: bool = False


def people(answers: Sequence[Answer], questions: Questions) -> People:
    """Rates of one group."""
    right = _right(answers, questions)
    known = np.array([answer.known for answer in answers], dtype=bool)
    both = int((known & right).sum())
    return People(
        right=wilson(int(right.sum()), len(right)),
        answered=wilson(int(known.sum()), len(known)),
        answered_rightly=wilson(both, len(known)),
        answered_wrongly=wilson(int((known & ~right).sum()), len(known)),
        right_if_answered=wilson(both, int(known.sum())),
        silences=dict(Counter(answer.silence for answer in answers if answer.silence is not None)),
    )


def stranger(
    familiar: Sequence[float], answered: Sequence[bool], told: Sequence[Answer], questions: Questions
) -> Stranger:
    """Strangers of one kind, how familiar they are and whether they got an answer, against people it is right about."""
    own = [
        1 - answer.reason_probabilities.get(NEVER_READ, 0.0)
        for answer, right in zip(told, _right(told, questions), strict=True)
        if right
    ]
    scores = np.array([*own, *familiar])
    return Stranger(wilson(sum(answered), len(answered)), auroc(scores, np.arange(len(scores)) < len(own)))


def doubt(answers: Sequence[Answer], questions: Questions) -> tuple[Estimate, float]:
    """AUROC right/wrong and ECE of the probabilities of all best answers."""
    scores = ScoreArrays(_right(answers, questions), np.array([answer.probability for answer in answers]))
    return auroc(scores.confidence, scores.right), ece(scores)


def _right(answers: Sequence[Answer], questions: Questions) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([is_accepted(a.text, q.answers) for a, q in zip(answers, questions, strict=True)], dtype=bool)
