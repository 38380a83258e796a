"""Every way of decoding gives the same text with a cache and without, at every point of the axes."""

from __future__ import annotations

import math

import pytest
import torch
from contract import LENGTH, TINY, VOCAB, build, valid_points

from loci.generation import Sampler, beam_search, generate, score_candidates
from loci.model import GPT, VARIANTS

PROMPTS = [[1, 2, 3], [4], [1, 2, 5, 6, 7], [9, 9], [4]]
STOP = 0
SAMPLERS = (None, Sampler(temperature=1.5, top_k=7, top_p=0.95), Sampler(temperature=0.8, min_p=0.1))


def test_the_prompts_and_what_follows_fit_the_block() -> None:
    assert max(map(len, PROMPTS)) + 6 <= LENGTH
    assert max(map(max, PROMPTS)) < VOCAB


@pytest.mark.parametrize("point", valid_points(), ids=" × ".join)
def test_sampled_texts_are_the_same_with_and_without_a_cache(point: tuple[str, str, str]) -> None:
    attention, positions, trunk = point
    same_text(build(TINY.replace(attention=attention, positions=positions, trunk=trunk)), SAMPLERS[1])


@pytest.mark.parametrize("sampler", SAMPLERS, ids=["greedy", "top-k, top-p", "min-p"])
@pytest.mark.parametrize("variant", list(VARIANTS))
def test_every_sampler_gives_the_same_text_with_and_without_a_cache(variant: str, sampler: Sampler | None) -> None:
    same_text(build(VARIANTS[variant].apply(TINY)), sampler)


def same_text(model: GPT, sampler: Sampler | None) -> None:
    cached, plain = (
        generate(
            model,
            PROMPTS,
            max_new=6,
            stop_id=STOP,
            sampler=sampler,
            generator=torch.Generator().manual_seed(4),
            use_cache=use_cache,
        )
        for use_cache in (True, False)
    )
    assert [row.ids for row in cached] == [row.ids for row in plain]
    for a, b in zip(cached, plain, strict=True):
        assert math.isclose(a.log_probability, b.log_probability, abs_tol=1e-8)


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_beams_and_scores_are_the_same_with_and_without_a_cache(variant: str) -> None:
    model = build(VARIANTS[variant].apply(TINY))
    answers = [(5, 6), (5, 7, 8), (9,), (2, 2, 2, 2)]
    beams = [
        beam_search(model, PROMPTS, width=3, max_new=5, stop_id=STOP, use_cache=use_cache)
        for use_cache in (True, False)
    ]
    assert [[row.ids for row in rows] for rows in beams[0]] == [[row.ids for row in rows] for rows in beams[1]]
    scores = score_candidates(model, PROMPTS, answers, stop_id=STOP)
    for prompt, row in zip(PROMPTS, scores, strict=True):
        for answer, score in zip(answers, row, strict=True):
            ids = torch.tensor([[*prompt, *answer]])
            log_p = model(ids).logits[0].detach().log_softmax(-1)
            targets = torch.tensor([*answer, STOP])
            expected = log_p[len(prompt) - 1 :].gather(1, targets[:, None]).sum()
            assert math.isclose(float(score), float(expected), abs_tol=1e-6)
