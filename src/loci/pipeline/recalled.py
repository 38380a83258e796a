"""What a memory's own probabilities are worth, fitted on the labels it has memorized; no gold answer is used.

A degree that is not remembered firmly comes out as a mixture of degrees, which is lower than any of them deserves. The
labeler's confidence in each label is known, so a run can be asked about its own labels and its probabilities brought
back to that. Knows no recipe by name.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from loci.answering.answerer import make_answerer
from loci.answering.confidence import log_odds
from loci.data.degrees import GIVEN, VALUES
from loci.data.prompts import NOT_TOLD
from loci.pipeline.logistic import fit_logistic
from loci.text.questions import Questions
from loci.training.checkpoint import LoadedModel

ASKED = 1000
FEWEST = 100


def fit_recalled(loaded: LoadedModel, labels: Questions, seed: int) -> dict[str, float] | None:
    """Slope and intercept from the log-odds a run gives its answers to those the labeler gave; None for few labels,
    or where what is said has nothing to do with them."""
    doubted = [row for row in labels.answered if row.degree not in (None, GIVEN) and row.answers[0] != NOT_TOLD]
    if len(doubted) < FEWEST:
        return None
    chosen = np.random.default_rng([seed, len(doubted)]).permutation(len(doubted))[:ASKED]
    asked = dataclasses.replace(labels, rows=tuple(doubted[index] for index in sorted(chosen)))
    answers = make_answerer(loaded, threshold=0.0).answer(asked)
    given = log_odds(np.array([answer.raw_probability for answer in answers]))
    worth = [
        VALUES[row.degree or 0] if answer.text == row.answers[0] else 0.0
        for row, answer in zip(asked.rows, answers, strict=True)
    ]
    slope, intercept = (round(weight, 4) for weight in fit_logistic(given[:, None], np.array(worth)).tolist())
    if slope <= 0:  # nothing is remembered, or all labels are equally sure: there is no order to keep
        return None
    return {"slope": slope, "intercept": intercept}
