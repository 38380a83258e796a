from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import STOP, VOCAB_SIZE, log_probability, prompts, tiny

from loci.errors import LociError
from loci.generation import score_candidates, tree
from loci.generation.tree import fits_tree, groups
from loci.model import VARIANTS

ANSWERS = [[2, 3, 4], [2, 3], [5], [6, 6, 6, 6], [7, 2], [], [2, 3], [5, 5, 2]]
PROMPTS = tuple(map(tuple, prompts()))
TREE_VARIANTS = {"vanilla", "rope", "none", "folded", "naive"}


@cache
def by_definition(variant: str, rows: tuple[tuple[int, ...], ...]) -> np.ndarray:
    model = tiny(variant)
    return np.array([[log_probability(model, list(row), [*answer, STOP]) for answer in ANSWERS] for row in rows])


@pytest.mark.parametrize("variant", ["vanilla", "rope", "folded", "naive", "synthesizer", "perceiver"])
def test_scores_are_exact(variant: str) -> None:
    model = tiny(variant)
    truth = by_definition(variant, PROMPTS)
    np.testing.assert_allclose(score_candidates(model, PROMPTS, ANSWERS, stop_id=STOP), truth, atol=1e-8)
    uncached = score_candidates(model, PROMPTS, ANSWERS, stop_id=STOP, use_cache=False)
    np.testing.assert_allclose(uncached, truth, atol=1e-8)


def test_which_models_are_read_as_a_tree() -> None:
    fitting = {name for name in VARIANTS if fits_tree(tiny(name), [], [])}
    assert fitting == TREE_VARIANTS


@pytest.mark.parametrize("nodes", [2, 3, 5, 96])
def test_the_cut_into_groups_makes_no_difference(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "GROUP_NODES", nodes)
    monkeypatch.setattr(tree, "PASS_CHARACTERS", 2 * nodes)
    scores = score_candidates(tiny(), PROMPTS, ANSWERS, stop_id=STOP)
    np.testing.assert_allclose(scores, by_definition("vanilla", PROMPTS), atol=1e-8)


@given(st.lists(st.lists(st.integers(2, 6), max_size=6).map(tuple), min_size=1, max_size=20), st.integers(1, 12))
@settings(max_examples=60)
def test_groups_hold_every_candidate_once_with_its_path(sequences: list[tuple[int, ...]], size: int) -> None:
    members = []
    for group in groups(sequences, size):
        members += group.members
        assert len(group.ids) <= max(size, *(len(sequences[index]) for index in group.members))
        for index, end in zip(group.members, group.ends.tolist(), strict=True):
            path, node = [], end
            while node >= 0:
                path.append(int(group.ids[node]))
                node = int(group.parents[node])
            assert tuple(path[::-1]) == sequences[index]
            if end >= 0:
                assert group.depths[end] == len(sequences[index]) - 1
                assert int(group.sees[end].sum()) == len(sequences[index])
    assert sorted(members) == list(range(len(sequences)))


def test_prompts_that_leave_no_room_are_walked() -> None:
    model = tiny(block_size=10)
    rows = prompts((9, 2))
    scores = score_candidates(model, rows, ANSWERS, stop_id=STOP)
    assert scores[1, 0] == pytest.approx(log_probability(model, rows[1], [2, 3, 4, STOP]))
    assert scores[0, 2] == pytest.approx(log_probability(model, rows[0], [5, STOP]))
    assert np.isfinite(scores).all()


def test_answers_of_two_ids_and_longer_ones_sum_to_one() -> None:
    model, prompt = tiny(spread=5.0), list(PROMPTS[0])
    others = [i for i in range(VOCAB_SIZE) if i != STOP]
    pairs = [[i, j] for i in others for j in others]
    [scores] = score_candidates(model, [prompt], [[], *([i] for i in others), *pairs], stop_id=STOP)
    longer = [log_probability(model, prompt, pair) for pair in pairs]  # those that end here, too
    assert np.exp(scores[: -len(pairs)]).sum() + np.exp(longer).sum() == pytest.approx(1)
    assert (scores[-len(pairs) :] < longer).all()


def test_no_prompts_and_bad_input() -> None:
    assert score_candidates(tiny(), [], [[2]], stop_id=STOP).shape == (0, 1)
    with pytest.raises(LociError, match="no candidates"):
        score_candidates(tiny(), [[2]], [], stop_id=STOP)
    for wrong in (VOCAB_SIZE, -1, STOP):
        with pytest.raises(LociError, match="vocabulary"):
            score_candidates(tiny(), [[2]], [[2, wrong]], stop_id=STOP)
