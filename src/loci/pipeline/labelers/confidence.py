"""The chance that a label is right, fitted on train questions that reading was not taught with.

A logistic regression of two numbers: the reader's log-odds, and the log of the answer prior. Few labels are wrong, so a
ridge keeps the fit humble. Knows nothing of models.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loci.pipeline.logistic import fit_logistic

_SMALLEST = 1e-4
FEWEST = 20
"""With fewer questions to fit on, the reader's own probability is the confidence."""


@dataclass(frozen=True)
class Label:
    """What a reader made of a subject's lines: its best answer, how likely by reading and by the answer prior."""

    answer: str
    probability: float
    prior: float
    not_told: float
    """The probability of the empty answer."""

    @property
    def weight(self) -> float:
        """What rivals are compared by."""
        return self.probability * self.prior

    @property
    def features(self) -> tuple[float, float]:
        """What the confidence is fitted on."""
        p = min(max(self.probability, _SMALLEST), 1 - _SMALLEST)
        return math.log(p / (1 - p)), math.log(max(self.prior, _SMALLEST))


@dataclass(frozen=True)
class LabelConfidence:
    """From a label to the chance that it is right; without weights the reader's probability."""

    weights: NDArray[np.float64] | None
    """The last one is the intercept."""

    def __call__(self, label: Label) -> float:
        """The chance that the label is right."""
        if self.weights is None:
            return label.probability
        return float(1 / (1 + math.exp(-(np.array(label.features) @ self.weights[:-1] + self.weights[-1]))))


def fit_confidence(labels: Sequence[Label], right: Sequence[bool]) -> LabelConfidence:
    """Fit on labels of which it is known whether they are right."""
    if len(labels) < FEWEST:
        return LabelConfidence(None)
    x = np.array([label.features for label in labels])
    return LabelConfidence(fit_logistic(x, np.array(right, dtype=np.float64)))
