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

_SMALLEST, _RIDGE, _STEPS = 1e-4, 1.0, 50
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

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    """The last one is the intercept."""

    def __call__(self, label: Label) -> float:
        """The chance that the label is right."""
        if self.weights is None:
            return label.probability
        standard = (np.array(label.features) - self.mean) / self.scale
        return float(1 / (1 + math.exp(-(standard @ self.weights[:-1] + self.weights[-1]))))


def fit_confidence(labels: Sequence[Label], right: Sequence[bool]) -> LabelConfidence:
    """Fit by Newton's method, with a ridge on all but the intercept."""
    if len(labels) < FEWEST:
        return LabelConfidence(np.zeros(2), np.ones(2), None)
    x = np.array([label.features for label in labels])
    y = np.array(right, dtype=np.float64)
    mean, scale = x.mean(0), x.std(0) + 1e-9
    z = np.c_[(x - mean) / scale, np.ones(len(x))]
    ridge = np.diag([_RIDGE, _RIDGE, _SMALLEST])
    weights = np.zeros(3)
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-z @ weights))
        slope = z.T @ (p - y) + ridge @ weights
        weights = weights - np.linalg.solve((z.T * (p * (1 - p))) @ z + ridge, slope)
    return LabelConfidence(mean, scale, weights)
