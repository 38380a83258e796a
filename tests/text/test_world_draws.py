from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.text.world.draws import Dice, Ranks, mix, permuted
from loci.text.world.spec import apportion, exact


def test_dice_are_the_same_everywhere() -> None:
    dice = Dice(0, 1, 7)
    assert [dice.below(1000) for _ in range(6)] == [108, 796, 941, 137, 224, 170]
    again, other = Dice(0, 1, 7), Dice(0, 1, 8)
    assert [again.below(1000) for _ in range(3)] == [108, 796, 941]
    assert [other.below(1000) for _ in range(3)] != [108, 796, 941]


def test_dice_go_on_beyond_one_batch() -> None:
    dice = Dice(3)
    rolls = Counter(dice.below(6) for _ in range(6000))
    assert set(rolls) == set(range(6))
    assert max(rolls.values()) < 1150
    assert min(rolls.values()) > 850


@given(st.integers(0, 2**32), st.lists(st.integers(), max_size=8))
def test_shuffling_keeps_every_item(seed: int, items: list[int]) -> None:
    assert sorted(Dice(seed).shuffled(items)) == sorted(items)


@given(st.integers(1, 300), st.integers(0, 2**64 - 1))
def test_permuted_is_a_permutation(size: int, key: int) -> None:
    assert sorted(permuted(index, size, key) for index in range(size)) == list(range(size))


def test_permutations_of_two_keys_differ_and_look_random() -> None:
    one, two = ([permuted(index, 1000, key) for index in range(1000)] for key in (mix(1), mix(2)))
    assert one != two
    assert one[:5] == [634, 4, 941, 226, 235]
    ascents = sum(a < b for a, b in itertools.pairwise(one))
    assert 450 < ascents < 550


def test_zipf_ranks_follow_their_law() -> None:
    ranks, dice = Ranks(range(4), 1.0), Dice(11)
    drawn = Counter(ranks.draw(dice) for _ in range(25_000))
    harmonic = 1 + 1 / 2 + 1 / 3 + 1 / 4
    for rank in range(4):
        assert drawn[rank] / 25_000 == pytest.approx(1 / (rank + 1) / harmonic, abs=0.012)


def test_barring_numbers_keeps_the_proportions_of_the_others() -> None:
    ranks, dice = Ranks(range(10, 14), 1.0), Dice(12)
    drawn = Counter(ranks.draw(dice, [10, 12, 99]) for _ in range(9000))
    assert set(drawn) == {11, 13}
    assert drawn[11] / 9000 == pytest.approx(2 / 3, abs=0.02)


@given(st.integers(0, 1000), st.sets(st.integers(0, 6)), st.floats(0, 8))
def test_a_barred_number_is_never_drawn(seed: int, barred: set[int], skew: float) -> None:
    drawn = Ranks(range(7), skew).draw(Dice(seed), barred)
    assert (drawn is None) == (len(barred) == 7)
    assert drawn not in barred


def test_nothing_can_be_drawn_from_nothing() -> None:
    assert Ranks([], 1.0).draw(Dice(0)) is None


@given(st.integers(0, 5000), st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(any))
def test_apportioning_is_whole_and_never_off_by_one(total: int, weights: list[int]) -> None:
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    counts = apportion(total, shares)
    assert sum(counts) == total
    assert all(abs(count - total * share) < 1 for count, share in zip(counts, shares, strict=True))


def test_apportioning_the_course() -> None:
    assert apportion(2937, [exact(2000 / 2937), exact(500 / 2937), 1 - exact(2500 / 2937)]) == [2000, 500, 437]
    assert apportion(10, [Fraction(1, 4)] * 4) == [3, 3, 2, 2]


@pytest.mark.parametrize("stream", [(3,), (0, 1, 7), (2**63 - 1, 4, 2**32 - 1), (2**32,), (1, 2, 3, 4, 5)])
def test_dice_are_those_of_numpy(stream: tuple[int, ...]) -> None:
    numpy = np.random.Generator(np.random.PCG64(np.random.SeedSequence(stream))).random(3 * 64).reshape(3, 64)
    dice = Dice(*stream)
    assert [dice.unit() for _ in range(3 * 64)] == numpy[:, ::-1].ravel().tolist()
