import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.attention_lab.distribution import (
    attend,
    entropy,
    perplexity,
    sharp_margin,
    softmax,
    top_weight_bound,
)
from loci.errors import LociError

scores_lists = st.lists(st.floats(-30, 30), min_size=1, max_size=12).map(np.array)
betas = st.floats(0, 20)


@given(scores_lists, betas)
def test_weights_are_a_categorical_distribution(scores, beta):
    weights = softmax(scores, beta)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1)
    assert -1e-12 <= entropy(weights) <= math.log(len(scores)) + 1e-9
    assert 1 - 1e-9 <= perplexity(weights) <= len(scores) * (1 + 1e-9)


def test_softmax_survives_scores_that_overflow_an_exponential():
    assert softmax(np.array([1e6, 0.0])) == pytest.approx([1, 0])
    assert softmax(np.array([-1e6, -1e6])) == pytest.approx([0.5, 0.5])


def test_entropy_by_hand():
    assert entropy(np.array([1.0, 0.0])) == 0
    assert entropy(np.array([0.5, 0.5])) == pytest.approx(math.log(2))
    assert entropy(np.array([0.5, 0.25, 0.25])) == pytest.approx(1.5 * math.log(2))
    assert perplexity(np.full(7, 1 / 7)) == pytest.approx(7)


@given(scores_lists, betas, betas)
def test_sharpening_never_raises_the_entropy(scores, first, second):
    low, high = sorted((first, second))
    assert entropy(softmax(scores, high)) <= entropy(softmax(scores, low)) + 1e-9


@given(st.integers(1, 50), st.floats(1e-6, 0.999), st.lists(st.floats(0, 10), min_size=50, max_size=50))
def test_sharp_margin_makes_attention_sharp_whatever_the_others_do(n, epsilon, behind):
    margin = sharp_margin(n, epsilon)
    scores = np.array([0.0] + [-margin - gap for gap in behind[: n - 1]])
    weights = softmax(scores)
    assert weights[0] >= 1 - epsilon - 1e-9
    assert weights[0] >= top_weight_bound(margin, n) - 1e-12


@given(st.integers(2, 50), st.floats(1e-6, 0.49))
def test_sharp_margin_is_the_least(n, epsilon):
    margin = sharp_margin(n, epsilon)
    level = np.array([margin] + [0.0] * (n - 1))
    assert softmax(level)[0] == pytest.approx(max(1 - epsilon, 1 / n), rel=1e-9)
    assert top_weight_bound(margin, n) == pytest.approx(float(softmax(level)[0]))
    if margin > 0.01:
        assert softmax(level - np.eye(n)[0] * 0.01)[0] < 1 - epsilon


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 99))
def test_the_output_lies_among_the_values(n, d, seed):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((n, 3))
    weights, output = attend(rng.standard_normal(d), rng.standard_normal((n, d)), values)
    assert output == pytest.approx(weights @ values)
    assert (output <= values.max(axis=0) + 1e-12).all()
    assert (output >= values.min(axis=0) - 1e-12).all()


@pytest.mark.parametrize("beta", [-0.1, math.inf, math.nan])
def test_beta_is_refused(beta):
    with pytest.raises(LociError, match="β must be"):
        softmax(np.zeros(2), beta)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, -1.0, math.nan])
def test_epsilon_is_refused(epsilon):
    with pytest.raises(LociError, match="ε must lie"):
        sharp_margin(3, epsilon)


def test_no_values_are_refused():
    for call in (lambda: sharp_margin(0, 0.1), lambda: top_weight_bound(1.0, 0)):
        with pytest.raises(LociError, match="at least one value"):
            call()
