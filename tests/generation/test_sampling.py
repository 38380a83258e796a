from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from loci.errors import LociError
from loci.generation.sampling import (
    Sampler,
    draw,
    keep_min_p,
    keep_top_k,
    keep_top_p,
    penalise_repetition,
)

logits_lists = st.lists(st.floats(-20, 20, width=32), min_size=1, max_size=30)
shares = st.floats(0.001, 1.0)


def support(logits: torch.Tensor) -> set[int]:
    return {i for i, value in enumerate(logits.tolist()) if value > -math.inf}


@given(logits_lists, st.integers(1, 40), st.integers(1, 40))
def test_top_k_supports_are_nested_and_hold_the_largest(values: list[float], a: int, b: int) -> None:
    logits = torch.tensor(values)
    small, large = (support(keep_top_k(logits, k)) for k in sorted((a, b)))
    assert small <= large
    assert len(small) >= min(a, b, len(values))
    threshold = sorted(values, reverse=True)[min(min(a, b), len(values)) - 1]
    assert small == {i for i, value in enumerate(values) if value >= threshold}


@given(logits_lists, shares, shares)
def test_top_p_is_the_smallest_set_that_reaches_p(values: list[float], a: float, b: float) -> None:
    logits = torch.tensor(values)
    probabilities = logits.double().softmax(-1)
    p, larger = sorted((a, b))
    kept = support(keep_top_p(logits, p))
    assert kept <= support(keep_top_p(logits, larger))
    held = [float(probabilities[i]) for i in kept]
    assert sum(held) >= p - 1e-9
    assert sum(held) - min(held) < p + 1e-9 or len(held) == 1
    assert all(float(probabilities[i]) <= min(held) + 1e-12 for i in range(len(values)) if i not in kept)


@given(logits_lists, shares, shares)
def test_min_p_is_relative_to_the_likeliest(values: list[float], a: float, b: float) -> None:
    logits = torch.tensor(values).double()
    probabilities = logits.softmax(-1)
    p, larger = sorted((a, b))
    kept = support(keep_min_p(logits, p))
    assert support(keep_min_p(logits, larger)) <= kept
    for i, probability in enumerate(probabilities.tolist()):
        ratio = probability / float(probabilities.max())
        if abs(ratio - p) > 1e-9:
            assert (i in kept) == (ratio >= p)


@given(
    logits_lists,
    st.floats(0.01, 5),
    st.none() | st.integers(1, 10),
    st.none() | shares,
    st.none() | shares,
    st.floats(0.5, 2),
)
def test_any_combination_is_a_distribution_over_a_part_of_the_ids(
    values: list[float],
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    min_p: float | None,
    penalty: float,
) -> None:
    logits = torch.tensor(values)
    sampler = Sampler(temperature, top_k, top_p, min_p, penalty)
    seen = torch.zeros(len(values), dtype=torch.bool)
    probabilities = sampler.probabilities(logits, seen)
    assert float(probabilities.sum()) == pytest.approx(1, abs=1e-5)
    assert float(probabilities[logits.argmax()]) > 0  # nothing was seen, so the likeliest id always stays
    uniform = torch.linspace(0, 1 - 2**-53, 7, dtype=torch.float64)
    drawn = draw(probabilities.expand(7, -1), uniform)
    assert bool((probabilities[drawn] > 0).all())


@given(logits_lists)
def test_temperature_towards_zero_is_argmax(values: list[float]) -> None:
    logits = torch.tensor(values)
    best = logits.max()
    cold = Sampler(temperature=1e-30).probabilities(logits)
    assert bool((logits[cold > 0] == best).all())
    assert int(Sampler(temperature=0).choose(logits, None)) == int(logits.argmax())
    assert support(Sampler(temperature=0).filter(logits)) == {int(logits.argmax())}


def test_temperature_divides_the_logits() -> None:
    logits = torch.tensor([1.0, 2.0, 4.0])
    torch.testing.assert_close(Sampler(temperature=2.0).probabilities(logits), (logits / 2).softmax(-1))
    torch.testing.assert_close(Sampler().probabilities(logits), logits.softmax(-1))


def test_filters_apply_in_the_documented_order() -> None:
    # p = .5 .3 .15 .05: top-k 2 leaves .625 .375, of which top-p 0.6 leaves one; the other way round two.
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    assert support(Sampler(top_k=2, top_p=0.6).filter(logits)) == {0}
    assert support(Sampler(top_p=0.6).filter(logits)) == {0, 1}
    # Temperature comes before the filters: warmed up, the nucleus is larger.
    assert support(Sampler(temperature=4.0, top_p=0.6).filter(logits)) == {0, 1, 2}


def test_repetition_penalty_lowers_what_was_seen_whatever_its_sign() -> None:
    logits = torch.tensor([2.0, -2.0, 1.0])
    seen = torch.tensor([True, True, False])
    assert penalise_repetition(logits, seen, 2.0).tolist() == [1.0, -4.0, 1.0]
    greedy = Sampler(temperature=0, repetition_penalty=3.0)
    assert int(greedy.choose(logits, None, seen)) == 2
    assert int(greedy.choose(logits, None, torch.zeros(3, dtype=torch.bool))) == 0


def test_ids_as_likely_as_the_kth_stay() -> None:
    assert support(keep_top_k(torch.tensor([1.0, 0.0, 1.0, 1.0]), 2)) == {0, 2, 3}


def test_draw_is_the_inverse_of_the_cumulated_distribution() -> None:
    probabilities = torch.tensor([0.0, 0.25, 0.0, 0.75, 0.0])
    uniform = torch.tensor([0.0, 0.2499, 0.25, 0.9999, 1 - 2**-53], dtype=torch.float64)
    assert draw(probabilities.expand(5, -1), uniform).tolist() == [1, 1, 3, 3, 3]


def test_draws_follow_the_distribution(generator: torch.Generator) -> None:
    probabilities = torch.tensor([0.1, 0.2, 0.3, 0.4])
    n = 40_000
    drawn = draw(probabilities.expand(n, -1), torch.rand(n, dtype=torch.float64, generator=generator))
    shares = torch.bincount(drawn, minlength=4) / n
    # Four standard errors of a share at p = 1/2.
    assert float((shares - probabilities).abs().max()) < 4 * 0.5 / math.sqrt(n)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"temperature": -1.0}, "temperature"),
        ({"temperature": math.nan}, "temperature"),
        ({"temperature": math.inf}, "temperature"),
        ({"top_k": 0}, "top-k"),
        ({"top_p": 0.0}, "top-p"),
        ({"top_p": 1.5}, "top-p"),
        ({"min_p": -0.1}, "min-p"),
        ({"min_p": math.nan}, "min-p"),
        ({"repetition_penalty": 0.0}, "repetition penalty"),
    ],
)
def test_impossible_samplers_are_refused(fields: dict[str, float], word: str) -> None:
    with pytest.raises(LociError, match=word):
        Sampler(**fields)  # type: ignore[arg-type]
