import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loci.attention_lab.distribution import entropy, softmax
from loci.attention_lab.scaling import (
    entropy_at_start,
    frozen_width,
    product_variance,
    sample_scores,
    temperature,
    typical_entropy,
)
from loci.errors import LociError


@settings(max_examples=8)
@given(st.integers(1, 256), st.integers(0, 99))
def test_variance_of_a_product_is_its_width_and_the_temperature_makes_it_one(width, seed):
    rng = np.random.default_rng(seed)
    scores = np.einsum("sd,sd->s", *rng.standard_normal((2, 20_000, width)))
    # The fourth moment of a product of two normals is 9: the estimate's own error is at most √(8/20,000) of the width.
    assert scores.var() == pytest.approx(product_variance(width), rel=0.12)
    assert (temperature(width) * scores).var() == pytest.approx(1, rel=0.12)


def test_variance_holds_for_components_that_are_not_normal():
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], size=(2, 20_000, 16))
    assert np.einsum("sd,sd->s", *signs).var() == pytest.approx(16, rel=0.05)


@settings(max_examples=8)
@given(st.floats(0, 2.0), st.integers(0, 99))
def test_typical_entropy_is_what_many_keys_have(variance, seed):
    scores = math.sqrt(variance) * np.random.default_rng(seed).standard_normal((20, 20_000))
    assert entropy(softmax(scores)).mean() == pytest.approx(typical_entropy(variance, 20_000), abs=0.1)


def test_unscaled_attention_freezes_beyond_two_ln_n():
    n = 128
    assert frozen_width(n) == pytest.approx(9.704, abs=1e-3)
    narrow, wide = entropy_at_start(np.random.default_rng(0), [2, 64], n)
    assert wide.scaled == pytest.approx(math.log(n) - 0.5, abs=0.1)  # as at any width
    assert wide.unscaled < 0.15 * math.log(n)
    assert narrow.unscaled > 3 * wide.unscaled
    assert wide.unscaled + 5 * wide.unscaled_error < wide.scaled - 5 * wide.scaled_error


def test_sampled_scores_share_their_query():
    scores = sample_scores(np.random.default_rng(0), width=8, n=5, draws=3)
    assert scores.shape == (3, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: product_variance(0), "at least one component"),
        (lambda: frozen_width(1), "at least two keys"),
        (lambda: typical_entropy(-1.0, 3), "at least 0"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(LociError, match=message):
        call()
