import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loci.attention_lab.parses import ROOT, tree_fault
from loci.attention_lab.trees import maximum_arborescence, maximum_spanning_trees
from loci.errors import LociError


def all_trees(n, root):
    for heads in itertools.product(range(-1, n), repeat=n):
        if heads[root] == ROOT and tree_fault(heads) is None:
            yield heads


def total(scores, heads):
    return sum(scores[head, word] for word, head in enumerate(heads) if head != ROOT)


def orient(edges, root, n):
    """The heads of an undirected tree once it is rooted at `root`."""
    heads, frontier = {root: ROOT}, [root]
    while frontier:
        at = frontier.pop()
        for other in (int(a + b - at) for a, b in edges if at in (a, b) and a + b - at not in heads):
            heads[other] = at
            frontier.append(other)
    assert len(heads) == n, "the edges are no tree"
    return [heads[word] for word in range(n)]


# Small integers make ties, where a wrong exchange would show; floats the general case.
matrices = st.integers(1, 5).flatmap(
    lambda n: st.lists(
        st.lists(st.one_of(st.integers(-2, 2).map(float), st.floats(-5, 5)), min_size=n, max_size=n),
        min_size=n,
        max_size=n,
    ).map(np.array)
)


@settings(max_examples=80)
@given(matrices, st.integers(0, 4))
def test_arborescence_is_the_best_of_all_trees(scores, root):
    root %= len(scores)
    heads = maximum_arborescence(scores, root)
    assert tree_fault(heads) is None
    assert heads[root] == ROOT
    best = max(total(scores, tree) for tree in all_trees(len(scores), root))
    assert total(scores, heads) == pytest.approx(best)


def test_nested_cycles_are_opened():
    scores = np.full((5, 5), -9.0)
    scores[1, 2] = scores[2, 1] = 10  # an inner cycle …
    scores[2, 3] = 9
    scores[3, 1] = scores[3, 2] = 8  # … inside a larger one
    scores[3, 4] = 1
    scores[0, 3] = 0
    heads = maximum_arborescence(scores, 0)
    best = max(total(scores, tree) for tree in all_trees(5, 0))
    assert total(scores, heads) == pytest.approx(best)


@settings(max_examples=60)
@given(matrices)
def test_spanning_tree_is_the_best_undirected_tree(scores):
    n = len(scores)
    both = np.maximum(scores, scores.T)
    edges = maximum_spanning_trees(scores[None])[0]
    assert len(edges) == n - 1
    heads = orient(edges, 0, n)
    assert tree_fault(heads) is None
    best = max(total(both, tree) for tree in all_trees(n, 0))
    assert total(both, heads) == pytest.approx(best)


@given(st.integers(1, 12), st.integers(0, 99))
def test_for_symmetric_scores_both_ways_agree(n, seed):
    scores = np.random.default_rng(seed).standard_normal((n, n))
    scores = scores + scores.T
    root = seed % n
    assert maximum_arborescence(scores, root) == orient(maximum_spanning_trees(scores[None])[0], root, n)


def test_words_out_of_reach_are_still_attached():
    scores = np.full((1, 3, 3), -np.inf)
    assert tree_fault(orient(maximum_spanning_trees(scores)[0], 0, 3)) is None


def test_many_trees_grow_as_each_would_alone():
    scores = np.random.default_rng(0).standard_normal((6, 7, 7))
    together = maximum_spanning_trees(scores)
    for alone, tree in zip(scores, together, strict=True):
        assert maximum_spanning_trees(alone[None])[0].tolist() == tree.tolist()


def test_bad_input_is_refused():
    with pytest.raises(LociError, match="square matrix"):
        maximum_spanning_trees(np.zeros((1, 2, 3)))
    with pytest.raises(LociError, match="no word 2"):
        maximum_arborescence(np.zeros((2, 2)), 2)
