"""Whether a model read about a subject, by how likely it finds the subject's name.

A model that has memorized the names finds each of them about as likely as any other, and one wrong letter costs
several nats: its own spelling test, without a list of names. What likelihood is enough is fitted as the last step of
training (`loci.pipeline.familiarity`). Knows nothing of answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loci.generation.likelihood import log_probabilities
from loci.model import GPT


@dataclass(frozen=True)
class Familiarity:
    """From log p of a name to the probability of having read about its subject, and how much of it an answer needs."""

    gate: float
    """Below this probability nothing is said, whatever the answer."""
    slope: float
    intercept: float

    @property
    def least(self) -> float:
        """log p of a name from which on it passes the gate."""
        return float((np.log(self.gate) - np.log1p(-self.gate) - self.intercept) / self.slope)

    def probability(self, name_scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability that the model read about each subject: a logistic function of log p of its name."""
        odds = np.clip(self.slope * name_scores + self.intercept, -50, 50)
        return np.asarray(1 / (1 + np.exp(-odds)), dtype=np.float64)


def score_names(model: GPT, sequences: Sequence[Sequence[int]], names: Sequence[slice]) -> NDArray[np.float64]:
    """log p of each name where it stands in its sequence; a sequence's first id has no say."""
    logs = log_probabilities(model, sequences)
    return np.array([sum(row[name]) for row, name in zip(logs, names, strict=True)], dtype=np.float64)
