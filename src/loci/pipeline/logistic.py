"""A small logistic regression, for the few numbers that a run fits about itself. Knows nothing of models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_RIDGE, _SMALLEST, _STEPS = 1.0, 1e-4, 50


def fit_logistic(features: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of the features and, last, the intercept: damped Newton steps, with a ridge on all but the intercept.

    Features are standardized inside, so the ridge is the same for all of them; the weights are for features as given.
    """
    mean, scale = features.mean(0), features.std(0) + 1e-9
    z = np.c_[(features - mean) / scale, np.ones(len(features))]
    ridge = np.diag([*[_RIDGE] * features.shape[1], _SMALLEST])

    def loss(weights: NDArray[np.float64]) -> float:
        odds = z @ weights
        return float(np.sum(np.logaddexp(0, odds) - right * odds) + weights @ ridge @ weights / 2)

    weights = np.zeros(z.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(z @ weights, -50, 50)))
        slope = z.T @ (p - right) + ridge @ weights
        step = np.linalg.solve((z.T * (p * (1 - p))) @ z + ridge, slope)
        # Where the classes can be told apart, a whole step goes too far.
        size = next((t for t in 0.5 ** np.arange(20) if loss(weights - t * step) <= loss(weights)), 0.0)
        weights = weights - size * step
    raw = weights[:-1] / scale
    return np.append(raw, weights[-1] - raw @ mean)
