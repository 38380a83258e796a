import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.attention_lab.distribution import softmax
from loci.attention_lab.scaling import (
    FoldingCost,
    break_even,
    effective_rank,
    fold,
)
from loci.errors import LociError

sizes = st.integers(1, 9)
seeds = st.integers(0, 999)


@given(sizes, sizes, st.integers(1, 6), seeds)
def test_folded_scores_and_weights_are_the_same(i, j, n, seed):
    rng = np.random.default_rng(seed)
    query, key, x = rng.standard_normal((i, j)), rng.standard_normal((i, j)), rng.standard_normal((n, j))
    factored = (x @ query.T) @ (x @ key.T).T / math.sqrt(i)
    folded = x @ fold(query, key) @ x.T
    assert folded == pytest.approx(factored)
    assert softmax(folded) == pytest.approx(softmax(factored))
    assert np.linalg.matrix_rank(fold(query, key)) <= min(i, j)


@given(st.integers(1, 512), st.integers(1, 512), st.integers(1, 16))
def test_break_even_is_half_the_model_width(model_width, head_width, heads):
    cost = FoldingCost(model_width, head_width, heads)
    assert (cost.factored < cost.folded) == (head_width < break_even(model_width))
    assert (cost.factored == cost.folded) == (head_width == break_even(model_width))


def test_cost_at_the_published_size():
    cost = FoldingCost(model_width=256, head_width=32, heads=8)
    assert (cost.folded, cost.factored, cost.rank_cap) == (524_288, 131_072, 32)


def test_effective_rank_by_hand():
    assert effective_rank(np.ones(5)) == pytest.approx(5)
    assert effective_rank(np.array([3.0, 0.0])) == pytest.approx(1)
    assert effective_rank(np.zeros(3)) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fold(np.ones((2, 3)), np.ones((3, 3))), "one I×J shape"),
        (lambda: FoldingCost(0, 1, 1), "at least 1"),
        (lambda: break_even(0), "at least 1"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(LociError, match=message):
        call()
