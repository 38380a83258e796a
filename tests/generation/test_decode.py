from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from tiny_models import STOP, VOCAB_SIZE, log_probability, log_softmax_after, prompts, tiny

from loci.errors import LociError
from loci.generation import Generated, Sampler, Window, generate
from loci.model import GPT

MODES = {
    "greedy": None,
    "sampled": Sampler(),
    "filtered": Sampler(temperature=0.8, top_k=6, top_p=0.95, min_p=0.01, repetition_penalty=1.3),
}
VARIED = ["vanilla", "rope", "synthesizer", "perceiver"]  # all points of the axes: tests/contracts


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(5)


def assert_same(one: Sequence[Generated], other: Sequence[Generated]) -> None:
    assert [(g.ids, g.stopped) for g in one] == [(g.ids, g.stopped) for g in other]
    assert [g.log_probability for g in one] == pytest.approx([g.log_probability for g in other], abs=1e-8)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("variant", VARIED)
def test_cached_is_uncached_in_every_mode(variant: str, mode: str) -> None:
    model = tiny(variant)
    runs = [
        generate(
            model,
            prompts(),
            max_new=8,
            stop_id=STOP,
            sampler=MODES[mode],
            use_cache=use_cache,
            batch_size=batch_size,
            generator=seeded(),
        )
        for use_cache, batch_size in ((True, 256), (False, 256), (True, 2))
    ]
    for other in runs[1:]:
        assert_same(runs[0], other)


@pytest.mark.parametrize("variant", ["vanilla", "rope"])
def test_greedy_is_the_published_loop(variant: str) -> None:
    model = tiny(variant)
    for prompt, generated in zip(prompts(), generate(model, prompts(), max_new=12, stop_id=STOP), strict=True):
        ids = list(prompt)
        for _ in range(12):
            index = int(log_softmax_after(model, ids[-24:] if variant == "vanilla" else ids).argmax())
            ids.append(index)
            if index == STOP:
                break
        assert list(generated.ids) == [i for i in ids[len(prompt) :] if i != STOP]
        assert generated.stopped == (ids[-1] == STOP)


def test_the_log_probability_is_the_models_own_whatever_the_sampler() -> None:
    model = tiny()
    for sampler in MODES.values():
        results = generate(model, prompts(), max_new=8, stop_id=STOP, sampler=sampler, generator=seeded())
        for prompt, generated in zip(prompts(), results, strict=True):
            said = [*generated.ids, STOP] if generated.stopped else list(generated.ids)
            assert generated.log_probability == pytest.approx(log_probability(model, prompt, said), abs=1e-8)


def test_rows_stop_one_by_one() -> None:
    model = tiny(seed=1)
    many = [row for seed in range(20) for row in prompts(seed=seed)]
    results = generate(model, many, max_new=14, stop_id=STOP, sampler=Sampler(), generator=seeded())
    lengths = {len(g.ids) for g in results if g.stopped}
    assert len(lengths) > 5
    assert any(not g.stopped and len(g.ids) == 14 for g in results)
    assert all(STOP not in g.ids for g in results)
    free = generate(model, many, max_new=14, sampler=Sampler(), generator=seeded())
    assert all(len(g.ids) == 14 and not g.stopped for g in free)
    for stopping, running in zip(results, free, strict=True):  # up to its end a row is what it would have been
        assert running.ids[: len(stopping.ids)] == stopping.ids


def test_each_prompt_has_chance_of_its_own() -> None:
    model = tiny(spread=3.0)
    same = generate(model, [[3, 4]] * 30, max_new=6, sampler=Sampler(), generator=seeded())
    assert len({g.ids for g in same}) > 10
    again = generate(model, [[3, 4]] * 30, max_new=6, sampler=Sampler(), generator=seeded())
    assert same == again


def test_samples_follow_the_models_distribution() -> None:
    model = tiny(spread=3.0)
    n = 4000
    results = generate(model, [[3, 4]] * n, max_new=1, sampler=Sampler(), generator=seeded(), batch_size=n)
    shares = torch.bincount(torch.tensor([g.ids[0] for g in results]), minlength=VOCAB_SIZE) / n
    expected = log_softmax_after(model, [3, 4]).exp()
    assert float((shares - expected).abs().max()) < 4 * 0.5 / n**0.5


def published(model: GPT, prompt: list[int], steps: int, block: int) -> tuple[int, ...]:
    ids = list(prompt)
    for _ in range(steps):
        ids.append(int(log_softmax_after(model, ids[-block:]).argmax()))
    return tuple(ids[len(prompt) :])


@pytest.mark.parametrize("use_cache", [True, False])
def test_beyond_the_block_the_context_slides_as_published(use_cache: bool) -> None:
    model = tiny(block_size=8)
    rows = prompts((3, 8, 12, 6))
    results = generate(model, rows, max_new=15, use_cache=use_cache)
    assert [g.ids for g in results] == [published(model, row, 15, 8) for row in rows]


@pytest.mark.parametrize("keep", [1, 4, 8])
@pytest.mark.parametrize("variant", ["vanilla", "rope", "synthesizer"])
def test_a_window_is_cut_to_what_it_keeps(variant: str, keep: int) -> None:
    model = tiny(variant)
    rows = prompts((3, 8, 12))[:3]
    results = generate(model, rows, max_new=15, window=Window(8, keep))
    assert_same(results, generate(model, rows, max_new=15, window=Window(8, keep), use_cache=False))
    for row, generated in zip(rows, results, strict=True):
        seen, said = row[-8:], []
        for _ in range(15):
            index = int(log_softmax_after(model, seen).argmax())
            said.append(index)
            seen = [*seen, index]
            seen = seen[-keep:] if len(seen) > 8 else seen
        assert list(generated.ids) == said


def test_rope_goes_on_beyond_the_trained_length() -> None:
    model = tiny("rope", block_size=8)
    [cached] = generate(model, [[3, 4, 5]], max_new=40)
    assert cached.ids == published(model, [3, 4, 5], 40, 1000)


def test_training_mode_and_gradients_are_left_as_they_were() -> None:
    model = tiny().train()
    first = generate(model, prompts(), max_new=5)
    assert model.training
    assert model.trunk.training
    assert torch.is_grad_enabled()
    assert generate(model.eval(), prompts(), max_new=5) == first  # no dropout either way


def test_prompts_may_be_arrays_and_none_is_fine() -> None:
    model = tiny()
    as_lists = generate(model, prompts(), max_new=3)
    assert generate(model, [torch.tensor(row) for row in prompts()], max_new=3) == as_lists
    assert generate(model, [torch.tensor(row).numpy() for row in prompts()], max_new=3) == as_lists
    assert generate(model, [], max_new=3) == []


@pytest.mark.parametrize(
    ("rows", "options", "word"),
    [
        ([[]], {}, "at least one character"),
        ([[VOCAB_SIZE]], {}, "outside the vocabulary"),
        ([[-1]], {}, "outside the vocabulary"),
        ([[2]], {"max_new": 0}, "max_new"),
        ([[2]], {"sampler": Sampler()}, "generator"),
        ([[2]], {"window": Window(25, 25)}, "window of 25"),
    ],
)
def test_bad_input_is_named(rows: list[list[int]], options: dict[str, object], word: str) -> None:
    with pytest.raises(LociError, match=word):
        generate(tiny(), rows, **{"max_new": 3, **options})  # type: ignore[arg-type]


def test_impossible_windows_are_refused() -> None:
    with pytest.raises(LociError, match="cannot keep"):
        Window(4, 5)
