"""What a run's own probabilities are worth, fitted as the last step of its training.

A memory is asked about labels that it has memorized; no gold answer is used. A degree that is not remembered firmly
comes out as a mixture of degrees, which is lower than any of them deserves: the labeler's confidence in each label is
known, and the probabilities are brought back to that. A run that recites has no labels: it is asked train questions
that reading was not taught with. Knows no recipe by name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from loci.answering.answer import NEVER_READ, UNREADABLE, Answer
from loci.answering.answerer import make_answerer
from loci.answering.confidence import log_odds
from loci.data.degrees import GIVEN, VALUES
from loci.data.prompts import NOT_TOLD
from loci.pipeline.logistic import fit_logistic
from loci.text.match import is_accepted
from loci.text.questions import Questions
from loci.training.checkpoint import LoadedModel

ASKED = 1000
FEWEST = 100
LARGEST = 100.0
"""Beyond, there was nothing to fit; a run with such numbers is refused."""


def fit_recalled(loaded: LoadedModel, labels: Questions, seed: int) -> dict[str, float] | None:
    """Slope and intercept from the log-odds a run gives its answers to those the labeler gave; None for few labels,
    or where what is said has nothing to do with them."""
    doubted = [row for row in labels.answered if row.degree not in (None, GIVEN) and row.answers[0] != NOT_TOLD]
    if len(doubted) < FEWEST:
        return None
    chosen = np.random.default_rng([seed, len(doubted)]).permutation(len(doubted))[:ASKED]
    asked = dataclasses.replace(labels, rows=tuple(doubted[index] for index in sorted(chosen)))
    answers = make_answerer(loaded, threshold=0.0).answer(asked)
    worth = [
        VALUES[row.degree or 0] if answer.text == row.answers[0] else 0.0
        for row, answer in zip(asked.rows, answers, strict=True)
    ]
    return _fitted(answers, worth)


def fit_recited(loaded: LoadedModel, asked: Questions) -> dict[str, float] | None:
    """The same by whether the answers to these questions are right."""
    answers = make_answerer(loaded, threshold=0.0).answer(asked)
    # Whom it takes for strangers, or cannot read, it says nothing about: their probability is of another kind.
    kept = [(a, q) for a, q in zip(answers, asked, strict=True) if a.silence not in (NEVER_READ, UNREADABLE)]
    return _fitted([answer for answer, _ in kept], [float(is_accepted(a.text, q.answers)) for a, q in kept])


def _fitted(answers: Sequence[Answer], worth: Sequence[float]) -> dict[str, float] | None:
    if len(answers) < FEWEST:
        return None
    given = log_odds(np.array([answer.raw_probability for answer in answers]))
    slope, intercept = (round(weight, 4) for weight in fit_logistic(given[:, None], np.array(worth)).tolist())
    # Nothing is remembered, or all answers are equally sure: there is no order to keep.
    if not 0 < slope <= LARGEST or abs(intercept) > LARGEST:
        return None
    return {"slope": slope, "intercept": intercept}
