import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.attention_lab.distribution import softmax
from loci.attention_lab.folding import (
    FoldingCost,
    break_even,
    effective_rank,
    energy_rank,
    fold,
    truncate,
    truncation_error,
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


@given(sizes, sizes, seeds)
def test_truncation_is_as_near_as_its_rank_allows(a, b, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((a, b))
    spectrum = np.linalg.svd(matrix, compute_uv=False)
    for rank in range(min(a, b) + 1):
        nearest = truncate(matrix, rank)
        assert np.linalg.matrix_rank(nearest) <= rank
        rest = spectrum[rank:]
        assert np.linalg.norm(matrix - nearest, 2) == pytest.approx(rest.max(initial=0), abs=1e-9)
        assert np.linalg.norm(matrix - nearest) == pytest.approx(np.sqrt((rest**2).sum()), abs=1e-9)
        if rank:  # no random matrix of that rank is nearer
            other = rng.standard_normal((a, rank)) @ rng.standard_normal((rank, b))
            assert np.linalg.norm(matrix - other) >= np.linalg.norm(matrix - nearest)


def test_ranks_by_hand():
    assert effective_rank(np.ones(5)) == pytest.approx(5)
    assert effective_rank(np.array([3.0, 0.0])) == pytest.approx(1)
    assert effective_rank(np.zeros(3)) == 0
    assert energy_rank(np.array([3.0, 1.0, 0.0])) == 1  # 9 of 10
    assert energy_rank(np.array([3.0, 1.0, 0.0]), 0.95) == 2
    assert energy_rank(np.array([3.0, 1.0, 0.0]), 1.0) == 2
    assert energy_rank(np.zeros(2)) == 0


@given(st.integers(1, 6), st.integers(2, 6), seeds)
def test_truncation_error_is_the_distance_of_the_truncated_fold(i, j, seed):
    rng = np.random.default_rng(seed)
    query, key = rng.standard_normal((i, j)), rng.standard_normal((i, j))
    folded = fold(query, key)
    lost = np.linalg.norm(folded - truncate(folded, 1)) / np.linalg.norm(folded)
    assert truncation_error(query, key, 1) == pytest.approx(lost, abs=1e-9)
    assert truncation_error(query, key, min(i, j)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fold(np.ones((2, 3)), np.ones((3, 3))), "one I×J shape"),
        (lambda: FoldingCost(0, 1, 1), "at least 1"),
        (lambda: break_even(0), "at least 1"),
        (lambda: truncate(np.eye(2), 3), "rank 0 to 2, not 3"),
        (lambda: energy_rank(np.ones(2), 0.0), "share must be"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(LociError, match=message):
        call()
