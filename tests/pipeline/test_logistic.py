"""The small logistic regression."""

import numpy as np
import pytest

from loci.pipeline.logistic import fit_logistic


@pytest.mark.parametrize("dimensions", [1, 60])
def test_classes_that_can_be_told_apart_are(dimensions):
    """A plain Newton step goes too far there, and the next ones further."""
    rng = np.random.default_rng(0)
    features = np.concatenate([rng.normal(-8, 0.5, (300, dimensions)), rng.normal(-30, 9, (300, dimensions))])
    known = np.arange(600) < 300
    weights = fit_logistic(features, known.astype(np.float64))
    assert np.all(np.isfinite(weights))
    assert np.mean((features @ weights[:-1] + weights[-1] > 0) == known) > 0.97
