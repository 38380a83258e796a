from __future__ import annotations

import itertools
import math

import pytest
import torch
from tiny_models import STOP, VOCAB_SIZE, prompts, tiny

from loci.errors import LociError
from loci.generation import beam_search, generate
from loci.model import GPT

VARIED = ["vanilla", "rope", "synthesizer", "perceiver"]  # all points of the axes: tests/contracts


def exhaustive(model: GPT, prompt: list[int], max_new: int) -> dict[tuple[int, ...], float]:
    """Every text that ends with the stop id (which is kept in the key) or at max_new, with its log-probability."""
    texts: dict[tuple[int, ...], float] = {}
    frontier: dict[tuple[int, ...], float] = {(): 0.0}
    for _ in range(max_new):
        grown: dict[tuple[int, ...], float] = {}
        with torch.no_grad():
            logits = model.eval()(torch.tensor([[*prompt, *text] for text in frontier])).logits[:, -1]
        for (text, total), log_p in zip(frontier.items(), logits.log_softmax(-1).tolist(), strict=True):
            texts[(*text, STOP)] = total + log_p[STOP]
            grown |= {(*text, index): total + value for index, value in enumerate(log_p) if index != STOP}
        frontier = grown
    return texts | frontier


def test_a_wide_beam_is_exhaustive_search() -> None:
    model, max_new = tiny(spread=5.0), 3
    width = VOCAB_SIZE**max_new
    for prompt, found in zip(
        prompts((3, 5)),
        beam_search(model, prompts((3, 5)), width=width, max_new=max_new, stop_id=STOP),
        strict=True,
    ):
        truth = exhaustive(model, prompt, max_new)
        assert math.fsum(math.exp(value) for value in truth.values()) == pytest.approx(1)
        ranked = sorted(truth.items(), key=lambda item: -item[1])
        assert [(*g.ids, STOP) if g.stopped else g.ids for g in found] == [text for text, _ in ranked]
        assert [g.log_probability for g in found] == pytest.approx([value for _, value in ranked])


@pytest.mark.parametrize("seed", range(6))
def test_wider_beams_end_at_the_best_text(seed: int) -> None:
    model = tiny(seed=seed, spread=5.0)
    prompt = [3, 4, 5]
    best = max(exhaustive(model, prompt, 3).values())
    scores = [
        beam_search(model, [prompt], width=width, max_new=3, stop_id=STOP)[0][0].log_probability
        for width in (1, 2, 4, 30)
    ]
    assert max(scores) <= best + 1e-9
    assert scores[-1] == pytest.approx(best)


def test_width_one_is_greedy() -> None:
    for seed in range(3):
        model = tiny(seed=seed)
        greedy = generate(model, prompts(), max_new=8, stop_id=STOP)
        beams = beam_search(model, prompts(), width=1, max_new=8, stop_id=STOP)
        assert [(b.ids, b.stopped) for [b] in beams] == [(g.ids, g.stopped) for g in greedy]


@pytest.mark.parametrize("variant", VARIED)
def test_cached_is_uncached(variant: str) -> None:
    model = tiny(variant)
    runs = [
        beam_search(
            model,
            prompts(),
            width=3,
            max_new=6,
            stop_id=STOP,
            use_cache=use_cache,
            batch_size=batch_size,
        )
        for use_cache, batch_size in ((True, 256), (False, 256), (True, 6))
    ]
    for other in runs[1:]:
        for one, two in itertools.zip_longest(runs[0], other):
            assert [(g.ids, g.stopped) for g in one] == [(g.ids, g.stopped) for g in two]
            assert [g.log_probability for g in one] == pytest.approx([g.log_probability for g in two], abs=1e-8)


def test_without_a_stop_id_all_run_to_the_end() -> None:
    [found] = beam_search(tiny(), [[3]], width=4, max_new=5, stop_id=None)
    assert [len(g.ids) for g in found] == [5] * 4
    assert [g.log_probability for g in found] == sorted((g.log_probability for g in found), reverse=True)


@pytest.mark.parametrize("options", [{"width": 0}, {"max_new": 0}])
def test_bad_input_is_named(options: dict[str, int]) -> None:
    with pytest.raises(LociError, match="at least 1"):
        beam_search(tiny(), [[2]], **{"width": 2, "max_new": 3, "stop_id": STOP, **options})
