import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from loci.attention_lab.distribution import (
    attend,
    averaging_beta,
    averaging_weight,
    copying_beta,
    copying_weight,
    oblique_projector,
    orthonormal,
    projector,
    require_orthonormal,
    softmax,
)
from loci.errors import LociError

seeds = st.integers(0, 10_000)


@st.composite
def orthonormal_keys(draw, least=1):
    n = draw(st.integers(least, 10))
    d = draw(st.integers(n, 14))
    return orthonormal(np.random.default_rng(draw(seeds)), n, d)


@given(orthonormal_keys(), st.floats(0, 30), seeds)
def test_copying_weight_is_what_attention_does(keys, beta, seed):
    j = seed % len(keys)
    weights, _ = attend(beta * keys[j], keys, keys)
    assert weights[j] == pytest.approx(copying_weight(len(keys), beta))


@given(orthonormal_keys(least=2), st.floats(1e-5, 0.4), seeds)
def test_copying_beta_copies_and_no_smaller_beta_does(keys, epsilon, seed):
    n, j = len(keys), seed % len(keys)
    values = np.random.default_rng(seed).standard_normal((n, 5))
    beta = copying_beta(n, epsilon)
    weights, output = attend(beta * keys[j], keys, values)
    assert weights[j] >= 1 - epsilon - 1e-9
    assert np.linalg.norm(output - values[j]) <= epsilon * np.linalg.norm(values - values[j], axis=1).max() + 1e-9
    if beta > 0.01:
        assert attend((beta - 0.01) * keys[j], keys, values)[0][j] < 1 - epsilon


@given(orthonormal_keys(least=2), st.floats(0, 30))
def test_averaging_weight_is_what_attention_does(keys, beta):
    weights, _ = attend(beta * (keys[0] + keys[1]), keys, keys)
    expected = math.exp(beta) / (len(keys) - 2 + 2 * math.exp(beta))
    assert averaging_weight(len(keys), beta) == pytest.approx(expected)
    assert weights[:2] == pytest.approx([expected, expected])


@given(orthonormal_keys(least=2), st.floats(1e-5, 0.4))
def test_averaging_beta_leaves_epsilon_to_the_others(keys, epsilon):
    n = len(keys)
    beta = averaging_beta(n, epsilon)
    weights = softmax(keys @ (beta * (keys[0] + keys[1])))
    assert weights[2:].sum() <= epsilon + 1e-9
    if beta > 0.01:
        assert softmax(keys @ ((beta - 0.01) * (keys[0] + keys[1])))[2:].sum() > epsilon


def test_averaging_in_the_limit():
    keys, values = np.eye(5), np.arange(5.0)[:, None]
    _, output = attend(40 * (keys[1] + keys[4]), keys, values)
    assert output == pytest.approx([2.5])
    assert averaging_weight(2, 0.0) == 0.5


@st.composite
def two_subspaces(draw):
    m = draw(st.integers(1, 5))
    p = draw(st.integers(1, 5))
    d = draw(st.integers(m + p, 12))
    rows = orthonormal(np.random.default_rng(draw(seeds)), m + p, d)
    return rows[:m].T, rows[m:].T


@given(two_subspaces(), seeds)
def test_projector_takes_a_out_of_a_plus_b(bases, seed):
    a_basis, b_basis = bases
    rng = np.random.default_rng(seed)
    a, b = a_basis @ rng.standard_normal(a_basis.shape[1]), b_basis @ rng.standard_normal(b_basis.shape[1])
    matrix = projector(a_basis)
    assert matrix @ (a + b) == pytest.approx(a)
    assert matrix @ matrix == pytest.approx(matrix)


@given(two_subspaces(), seeds)
def test_the_transpose_alone_is_no_answer(bases, seed):
    # One report gives M = Aᵀ. It is no map of ℝ^d to itself: what comes out are the m coordinates of a.
    a_basis, b_basis = bases
    d, m = a_basis.shape
    coordinates = np.random.default_rng(seed).standard_normal(m)
    a, b = a_basis @ coordinates, b_basis @ np.ones(b_basis.shape[1])
    wrong = a_basis.T @ (a + b)
    assert wrong.shape == (m,) != a.shape == (d,)
    assert wrong == pytest.approx(coordinates)
    # Padded with zero rows into ℝ^d it still is not a, save by chance.
    padded = np.concatenate([wrong, np.zeros(d - m)])
    assert np.linalg.norm(padded - a) > 1e-6


def test_the_transpose_is_wrong_even_where_it_is_square():
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    a = np.array([1.0, 0.0])
    assert projector(turn) @ a == pytest.approx(a)
    assert turn.T @ a == pytest.approx([0, -1])


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 3), seeds)
def test_oblique_projector_needs_no_right_angles(m, p, spare, seed):
    rng = np.random.default_rng(seed)
    d = m + p + spare
    a_basis, b_basis = rng.standard_normal((d, m)), rng.standard_normal((d, p))
    assume(np.linalg.cond(np.hstack([a_basis, b_basis])) < 1e4)
    a, b = a_basis @ rng.standard_normal(m), b_basis @ rng.standard_normal(p)
    assert oblique_projector(a_basis, b_basis) @ (a + b) == pytest.approx(a, abs=1e-8)


def test_subspaces_that_meet_have_no_projector():
    with pytest.raises(LociError, match="share a direction"):
        oblique_projector(np.array([[1.0], [0.0]]), np.array([[2.0], [0.0]]))


def test_what_is_not_orthonormal_is_named():
    with pytest.raises(LociError, match=r"keys\[0\] · keys\[1\] is 0.5, not 0"):
        require_orthonormal(np.array([[1.0, 0.0], [0.5, math.sqrt(0.75)]]))
    with pytest.raises(LociError, match=r"basis\[1\] has squared length 4"):
        projector(np.array([[1.0, 0.0], [0.0, 2.0]]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: orthonormal(np.random.default_rng(0), 4, 3), "at most d"),
        (lambda: copying_weight(0, 1.0), "at least one value"),
        (lambda: copying_weight(3, -1.0), "β must be"),
        (lambda: averaging_weight(1, 1.0), "at least two"),
        (lambda: averaging_beta(1, 0.1), "at least two"),
        (lambda: averaging_beta(3, 1.5), "ε must lie"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(LociError, match=message):
        call()
