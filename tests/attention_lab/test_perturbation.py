import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loci.attention_lab.constructions import orthonormal
from loci.attention_lab.distribution import softmax
from loci.attention_lab.perturbation import (
    KeyNoise,
    compare_heads,
    head_queries,
    mixed_output,
    share_cdf,
    share_density,
    share_variance,
    split_targets,
    swing,
    swing_scale,
    two_head_failure,
)
from loci.errors import LociError

few = settings(max_examples=25)


def shares(rng, noise, beta, n=4, d=8, draws=4000):
    """The share of v_a among a and b, from whole vectors."""
    means = orthonormal(rng, n, d)
    keys = noise.sample(rng, means, draws)
    weights = softmax(keys @ (beta * (means[0] + means[1])))
    return weights[:, 0] / (weights[:, 0] + weights[:, 1])


@few
@given(st.integers(2, 6), st.floats(0.2, 20), st.floats(1e-6, 0.3), st.floats(0.0, 0.8), st.integers(0, 999))
def test_closed_form_is_the_simulated_distribution(n, beta, isotropic, stretch, seed):
    rng = np.random.default_rng(seed)
    scale = swing_scale(beta, isotropic, stretch)
    sample = shares(rng, KeyNoise(isotropic, stretch), beta, n=n, d=n + 2)
    grid = np.linspace(0.01, 0.99, 33)
    below = (sample[:, None] <= grid).mean(axis=0)
    assert below == pytest.approx(share_cdf(grid, scale), abs=0.035)
    assert sample.mean() == pytest.approx(0.5, abs=0.04)
    assert sample.var() == pytest.approx(share_variance(scale), abs=0.02)


def test_isotropic_noise_is_safe_when_small_and_not_when_large():
    rng = np.random.default_rng(0)
    beta = 10.0
    assert shares(rng, KeyNoise(1e-6), beta).std() < 0.01
    assert shares(rng, KeyNoise(0.1), beta).std() > 0.3


def test_a_stretched_key_makes_one_head_swing_between_the_two_values():
    sample = shares(np.random.default_rng(1), KeyNoise(1e-6, 0.5), beta=20.0)
    assert ((sample < 0.1) | (sample > 0.9)).mean() > 0.8
    assert sample.var() > 0.2


@given(st.floats(-3, 5), st.floats(0.1, 30))
def test_swing_is_the_exercise_formula_and_what_attention_does(gamma, beta):
    share = float(swing(np.array(gamma), beta))
    assert share == pytest.approx(1 / (1 + math.exp(beta * (1 - gamma))))
    assert 1 - share == pytest.approx(1 / (1 + math.exp(beta * (gamma - 1))), abs=1e-12)
    keys = np.eye(2)
    keys[0] *= gamma
    assert softmax(keys @ np.full(2, beta))[0] == pytest.approx(share)


def test_share_variance_has_its_limits_and_grows_between():
    assert share_variance(0.0) == 0
    assert share_variance(0.02) == pytest.approx(0.02**2 / 16, rel=1e-3)
    assert share_variance(1e4) == pytest.approx(0.25, abs=1e-3)
    rising = [share_variance(scale) for scale in (0.1, 1.0, 3.0, 10.0, 100.0)]
    assert rising == sorted(rising)


@few
@given(st.floats(0.3, 8))
def test_density_is_the_slope_of_the_distribution_function(scale):
    grid = np.linspace(0.02, 0.98, 97)
    step = 1e-6
    slope = (share_cdf(grid + step, scale) - share_cdf(grid - step, scale)) / (2 * step)
    assert share_density(grid, scale) == pytest.approx(slope, rel=1e-3, abs=1e-6)
    middle, beside = share_density(np.array([0.5, 0.45]), scale)
    if abs(scale**2 - 2) > 0.3:
        assert (beside > middle) == (scale**2 > 2)  # two humps, or one


def test_two_heads_keep_the_average_while_gamma_is_positive():
    beta, n, d = 60.0, 4, 6
    means = orthonormal(np.random.default_rng(2), n, d)
    values = np.random.default_rng(3).standard_normal((n, 5))
    wanted = (values[0] + values[1]) / 2
    groups = [(0,), (1,)]
    queries = head_queries(means, groups, beta)
    for gamma in (0.3, 1.0, 2.5):
        keys = means.copy()
        keys[0] *= gamma
        assert mixed_output(keys[None], values, queries, groups)[0] == pytest.approx(wanted, abs=1e-5)
        one = mixed_output(keys[None], values, queries.sum(axis=0, keepdims=True), [(0, 1)])[0]
        off = np.linalg.norm(one - wanted) / np.linalg.norm(values[0] - values[1])
        assert off < 1e-5 if gamma == 1 else off > 0.49
    keys = means.copy()
    keys[0] *= -0.3
    assert np.linalg.norm(mixed_output(keys[None], values, queries, groups)[0] - wanted) > 0.1


@few
@given(st.floats(5, 60), st.integers(2, 30), st.floats(0.05, 1.0), st.integers(0, 99))
def test_two_head_failure_is_what_simulation_finds(beta, n, stretch, seed):
    gamma = 1 + math.sqrt(stretch) * np.random.default_rng(seed).standard_normal(20_000)
    scores = np.zeros((20_000, n))
    scores[:, 0] = beta * gamma
    failed = (softmax(scores)[:, 0] < 0.9).mean()
    assert failed == pytest.approx(two_head_failure(beta, n, stretch, epsilon=0.1), abs=0.02)


def test_two_head_failure_in_the_limit():
    assert two_head_failure(1e6, 10) == pytest.approx(0.0786, abs=1e-4)


def test_more_heads_swing_less_under_the_same_noise():
    rng = np.random.default_rng(4)
    means, values = orthonormal(rng, 6, 8), np.eye(6)
    noise = KeyNoise(1e-4, 0.5, stretched=(0, 1, 2, 3))
    rows = compare_heads(rng, means, values, targets=(0, 1, 2, 3), noise=noise, beta=20.0)
    assert [row.heads for row in rows] == [1, 2, 3, 4]
    errors = [row.error for row in rows]
    assert errors == sorted(errors, reverse=True)
    assert rows[-1].near > 0.6 > 0.1 > rows[0].near
    assert rows[-1].variance < rows[0].variance / 4


def test_targets_are_dealt_evenly():
    assert split_targets((5, 6, 7), 2) == [(5, 6), (7,)]
    assert split_targets((5, 6, 7), 3) == [(5,), (6,), (7,)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: KeyNoise(-0.1), "variance is at least 0; isotropic"),
        (lambda: KeyNoise(0.1, math.nan), "stretch"),
        (lambda: KeyNoise(0.1, 0.5, (7,)).sample(np.random.default_rng(0), np.eye(3), 2), "no key 7"),
        (lambda: swing_scale(-1.0, 0.1), "β must be"),
        (lambda: swing(np.zeros(1), -1.0), "β must be"),
        (lambda: share_cdf(np.array([0.5]), 0.0), "no distribution"),
        (lambda: share_density(np.array([0.5]), 0.0), "no distribution"),
        (lambda: share_variance(-1.0), "at least 0"),
        (lambda: two_head_failure(0.0, 3), "β > 0"),
        (lambda: split_targets((1, 2), 3), "1 to 2 heads"),
        (lambda: head_queries(np.array([[1.0, 0.0], [0.6, 0.8]]), [(0, 1)], 1.0), r"means\[0\] · means\[1\]"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(LociError, match=message):
        call()
