"""Candidates of each prompt's own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import STOP, log_probability, prompts, tiny

from loci.errors import LociError
from loci.generation import own_candidates
from loci.generation.own_candidates import score_own_candidates

OWN = [[[2, 3, 4], [2, 3], []], [[5]], [], [[6] * 7, [7, 2], [6] * 9], [[2, 3], [2, 4], [2, 3, 3]], [[5, 5, 2]]]


def by_definition(variant: str) -> list[list[float]]:
    model = tiny(variant)
    return [
        [log_probability(model, prompt, [*ids, STOP]) for ids in mine]
        for prompt, mine in zip(prompts(), OWN, strict=True)
    ]


@pytest.mark.parametrize("variant", ["vanilla", "rope", "folded", "naive", "synthesizer", "perceiver"])
def test_scores_are_exact(variant: str) -> None:
    scores = score_own_candidates(tiny(variant), prompts(), OWN, stop_id=STOP, least=0)
    for mine, truth in zip(scores, by_definition(variant), strict=True):
        np.testing.assert_allclose(mine, truth, atol=1e-8)


@pytest.mark.parametrize(("depth", "nodes", "characters"), [(1, 1, 1), (2, 3, 12), (3, 4, 100)])
def test_rounds_and_batches_make_no_difference(
    depth: int, nodes: int, characters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_candidates, "ROUND_DEPTH", depth)
    monkeypatch.setattr(own_candidates, "ROUND_NODES", nodes)
    monkeypatch.setattr(own_candidates, "READ_CHARACTERS", characters)
    scores = score_own_candidates(tiny("rope"), prompts(), OWN, stop_id=STOP, least=0)
    for mine, truth in zip(scores, by_definition("rope"), strict=True):
        np.testing.assert_allclose(mine, truth, atol=1e-8)


@given(
    st.lists(st.lists(st.lists(st.integers(2, 6), max_size=6), max_size=12), min_size=2, max_size=2),
    st.sampled_from([1e-3, 0.05, 0.3]),
)
@settings(max_examples=25, deadline=None)
def test_only_unlikely_candidates_are_left_unread(candidates: list[list[list[int]]], least: float) -> None:
    model, asked = tiny("rope"), prompts()[:2]
    scores = score_own_candidates(model, asked, candidates, stop_id=STOP, least=least)
    for prompt, mine, found in zip(asked, candidates, scores, strict=True):
        truths = [log_probability(model, prompt, [*ids, STOP]) for ids in mine]
        for truth, score in zip(truths, found, strict=True):
            hopeless = truth < math.log(least) and truth < max(truths) + math.log(least)
            assert score == pytest.approx(truth, abs=1e-8) or (score == -math.inf and hopeless)


def test_the_end_of_an_answer_is_no_candidate() -> None:
    with pytest.raises(LociError, match="ends an answer"):
        score_own_candidates(tiny(), prompts()[:1], [[[2, STOP]]], stop_id=STOP)


@pytest.mark.parametrize("variant", ["vanilla", "rope", "folded", "naive", "synthesizer"])
def test_what_several_prompts_begin_with_is_read_once(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny(variant)
    asked = [[2, 3, 4, STOP, 5, STOP], [2, 3, 4, STOP, 6, 2, 5, STOP], [5, 6, STOP, 2, STOP], [5, 6, STOP, 5, STOP]]
    candidates = [[[2, 3], [2], []], [[5]], [[6, 6, 6], [7]], [[2, 3]]]
    passes, hidden = [], model.hidden
    monkeypatch.setattr(model, "hidden", lambda ids, **how: passes.append(tuple(ids.shape)) or hidden(ids, **how))
    scores = score_own_candidates(model, asked, candidates, stop_id=STOP, least=0)
    if variant != "synthesizer":  # that one is read prompt by prompt
        assert passes[:2] == [(2, 4), (4, 4)]
    for prompt, mine, found in zip(asked, candidates, scores, strict=True):
        truths = [log_probability(tiny(variant), prompt, [*ids, STOP]) for ids in mine]
        np.testing.assert_allclose(found, truths, atol=1e-8)
