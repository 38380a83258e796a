import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loci.attention_lab.distribution import orthonormal, softmax
from loci.attention_lab.perturbation import (
    KeyNoise,
    compare_heads,
    head_queries,
    mixed_output,
    output_variance,
    share_cdf,
    share_variance,
    split_targets,
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


def test_share_variance_has_its_limits_and_grows_between():
    assert share_variance(0.0) == pytest.approx(0, abs=1e-30)
    assert share_variance(0.02) == pytest.approx(0.02**2 / 16, rel=1e-3)
    assert share_variance(1e4) == pytest.approx(0.25, abs=1e-3)
    rising = [share_variance(scale) for scale in (0.1, 1.0, 3.0, 10.0, 100.0)]
    assert rising == sorted(rising)


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


def test_targets_are_split_evenly():
    assert split_targets((5, 6, 7), 2) == [(5, 6), (7,)]
    assert split_targets((5, 6, 7), 3) == [(5,), (6,), (7,)]


@given(st.floats(0.1, 20), st.integers(2, 9), st.sampled_from([1, 2]))
def test_without_uncertainty_the_output_does_not_vary(beta, n, heads):
    assert output_variance(np.eye(n), beta, heads, stretch=0.0) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("heads", [1, 2])
def test_output_variance_is_that_of_attention(heads):
    rng = np.random.default_rng(heads)
    values = rng.standard_normal((5, 3))
    groups = split_targets((0, 1), heads)
    keys = KeyNoise(0.0, 0.5).sample(rng, np.eye(5), 40_000)
    outputs = mixed_output(keys, values, head_queries(np.eye(5), groups, 3.0), groups)
    assert output_variance(values, 3.0, heads) == pytest.approx(outputs.var(axis=0).sum(), rel=0.03)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: KeyNoise(-0.1), "variance is at least 0; isotropic"),
        (lambda: KeyNoise(0.1, math.nan), "stretch"),
        (lambda: KeyNoise(0.1, 0.5, (7,)).sample(np.random.default_rng(0), np.eye(3), 2), "no key 7"),
        (lambda: swing_scale(-1.0, 0.1), "β must be"),
        (lambda: share_cdf(np.array([0.5]), 0.0), "no distribution"),
        (lambda: share_variance(-1.0), "at least 0"),
        (lambda: output_variance(np.eye(3), 1.0, 3), "one head or two, not 3"),
        (lambda: two_head_failure(0.0, 3), "β > 0"),
        (lambda: split_targets((1, 2), 3), "1 to 2 heads"),
        (lambda: head_queries(np.array([[1.0, 0.0], [0.6, 0.8]]), [(0, 1)], 1.0), r"means\[0\] · means\[1\]"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(LociError, match=message):
        call()
