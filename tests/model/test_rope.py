from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from loci.errors import LociError
from loci.model import GPT, VARIANTS, GPTConfig
from loci.model.positions import Rope

CONFIG = GPTConfig(vocab_size=7, block_size=8, n_layer=2, n_head=2, n_embd=16, positions="rope")


def turn(x: torch.Tensor, place: int) -> torch.Tensor:
    return Rope(CONFIG).rotate(x[None, None, None], torch.tensor([[place]]))[0, 0, 0]


def test_adjacent_pairs_turn_by_the_published_angles() -> None:
    x = torch.tensor([1.0, 0.0] * 4, dtype=torch.float64)
    turned = turn(x, 3)
    for pair in range(4):
        angle = 3 * 10_000 ** (-2 * pair / 8)
        expected = torch.tensor([math.cos(angle), math.sin(angle)], dtype=torch.float64)
        torch.testing.assert_close(turned[2 * pair : 2 * pair + 2], expected, rtol=0, atol=1e-14)


@given(st.integers(0, 5000), st.integers(0, 5000), st.integers(0, 100_000), st.integers(0, 2**31))
def test_products_depend_on_the_distance_only(a: int, b: int, shift: int, seed: int) -> None:
    q, k = torch.randn(2, 8, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    near, far = turn(q, a) @ turn(k, b), turn(q, a + shift) @ turn(k, b + shift)
    assert math.isclose(float(near), float(far), abs_tol=1e-8)
    assert math.isclose(float(turn(q, a).norm()), float(q.norm()), rel_tol=1e-12)


def test_neighbours_far_away_are_told_apart_in_single_precision() -> None:
    """Angles come from double precision: in single, place 1e6 would be off by a thousandth of a radian and more."""
    x = torch.tensor([1.0, 0.0] * 4)
    exact = turn(x.double(), 1_000_003)
    torch.testing.assert_close(turn(x, 1_000_003).double(), exact, rtol=0, atol=1e-6)


def test_a_rotary_model_reads_beyond_its_trained_length_also_with_a_cache() -> None:
    model = GPT(CONFIG, generator=torch.Generator().manual_seed(0)).double().eval()
    assert model.limit is None
    ids = torch.randint(0, 7, (2, 50), generator=torch.Generator().manual_seed(1))
    full = model(ids).logits
    cache = model.make_cache(2, 50)
    parts = [model(ids[:, :20], cache=cache).logits] + [
        model(ids[:, t : t + 1], cache=cache).logits for t in range(20, 50)
    ]
    torch.testing.assert_close(torch.cat(parts, 1), full, rtol=0, atol=1e-12)


def test_a_model_with_learned_positions_refuses_beyond_its_block() -> None:
    model = GPT(CONFIG.replace(positions="learned"))
    with pytest.raises(LociError, match="9 characters do not fit the model, which takes 8"):
        model(torch.zeros(1, 9, dtype=torch.long))


@pytest.mark.parametrize(("variant", "limit"), [("vanilla", 8), ("synthesizer", 7), ("perceiver", 8), ("none", None)])
def test_the_limit_is_the_shortest_of_the_parts(variant: str, limit: int | None) -> None:
    config = CONFIG.replace(positions="learned", bottleneck_dim=4)
    assert GPT(VARIANTS[variant].apply(config)).limit == limit


def test_tables_made_while_generating_serve_training() -> None:
    model = GPT(CONFIG)
    ids = torch.zeros(1, 4, dtype=torch.long)
    with torch.inference_mode():
        model(ids)
    model(ids).logits.sum().backward()
    assert model.tok_emb.weight.grad is not None


def test_a_model_turned_to_another_precision_gets_tables_of_it() -> None:
    model = GPT(CONFIG).eval()
    ids = torch.arange(7)[None]
    single = model(ids).logits
    double = model.double()(ids).logits
    assert double.dtype == torch.float64
    torch.testing.assert_close(single.double(), double, rtol=0, atol=1e-5)


def test_turning_does_not_depend_on_how_the_numbers_lie():
    rope = Rope(GPTConfig(vocab_size=9, n_head=2, n_embd=8))
    places = torch.arange(5)[None]
    x = torch.randn(3, 2, 5, 4, generator=torch.Generator().manual_seed(0))
    expected = rope.rotate(x, places)
    odd_offset = torch.cat((torch.zeros(1), x.flatten()))[1:].view_as(x)
    odd_stride = torch.cat((x, torch.zeros(3, 2, 5, 1)), dim=-1)[..., :4]
    every_other = torch.stack((x, x), dim=-1)[..., 0]
    for same in (odd_offset, odd_stride, every_other):
        assert torch.equal(rope.rotate(same, places), expected)
    assert rope.rotate(x.bfloat16(), places).dtype == torch.bfloat16
    torch.testing.assert_close(rope.rotate(x.bfloat16(), places).float(), expected, atol=0.05, rtol=0.05)
