import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.attention_lab.design import (
    EXERCISE_INPUTS,
    EXERCISE_SYMBOLS,
    exercise_head,
    identity_head,
    input_vectors,
    self_attention,
    symbol_vectors,
)
from loci.errors import LociError

seeds = st.integers(0, 999)


def exercise(seed, beta, d=7):
    vectors = symbol_vectors(np.random.default_rng(seed), 4, d, beta)
    return vectors, input_vectors(EXERCISE_INPUTS, EXERCISE_SYMBOLS, vectors)


@given(seeds, st.floats(0.1, 6))
def test_with_identities_position_two_copies_itself(seed, beta):
    vectors, inputs = exercise(seed, beta)
    weights, outputs = self_attention(inputs, identity_head(7))
    assert weights[1, 1] == pytest.approx(1 / (1 + 2 * math.exp(-(beta**2))))
    if beta > 4:
        assert outputs[1] == pytest.approx(vectors[0], abs=1e-4)


@given(seeds, st.floats(-20, 20), st.sampled_from("cd"), st.floats(3.5, 6))
def test_adding_a_symbol_to_the_second_input_never_copies_b(seed, delta, symbol, beta):
    vectors = symbol_vectors(np.random.default_rng(seed), 4, 7, beta)
    inputs = input_vectors(
        [EXERCISE_INPUTS[0], {"a": 1.0, symbol: delta}, EXERCISE_INPUTS[2]], EXERCISE_SYMBOLS, vectors
    )
    weights, outputs = self_attention(inputs, identity_head(7))
    assert weights[1].argmax() == 1
    share_of_b = outputs[1] @ vectors[1] / beta**2
    assert share_of_b < 0.01


@given(seeds, st.floats(3.5, 6), st.integers(4, 12))
def test_the_designed_matrices_give_both_outputs(seed, beta, d):
    vectors, inputs = exercise(seed, beta, d)
    _, b, c, _ = vectors
    weights, outputs = self_attention(inputs, exercise_head(vectors))
    assert weights[1, 0] == pytest.approx(1 / (1 + 2 * math.exp(-(beta**2))))
    assert outputs[1] == pytest.approx(b, abs=1e-3)
    assert outputs[0] == pytest.approx(b - c, abs=1e-3)
    assert weights[2] == pytest.approx(np.full(3, 1 / 3))


def test_without_strength_nothing_is_copied():
    vectors, inputs = exercise(0, 0.5)
    _, outputs = self_attention(inputs, exercise_head(vectors))
    assert np.linalg.norm(outputs[1] - vectors[1]) > 0.2 * np.linalg.norm(vectors[1])


def test_bad_input_is_refused():
    with pytest.raises(LociError, match="four symbols"):
        exercise_head(np.eye(3))
    with pytest.raises(LociError, match="length 0"):
        exercise_head(np.zeros((4, 4)))
    with pytest.raises(LociError, match="β must be"):
        symbol_vectors(np.random.default_rng(0), 2, 3, -1.0)
