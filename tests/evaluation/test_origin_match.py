import dataclasses
import math

import numpy as np
import pytest

from loci.evaluation.bias import origin_match
from loci.evaluation.rows import Row

HOME = {"a": {"x", "y"}, "b": {"z"}}


def rows(*pairs):
    return [Row(f"q{i}", said, group=group) for i, (group, said) in enumerate(pairs)]


def test_shares_by_hand():
    found = origin_match(rows(("a", "x"), ("a", "z"), ("b", "z"), ("b", "w")), HOME, np.random.default_rng(0))
    assert (found.share.successes, found.share.n) == (2, 4)
    # Of the six ways to deal two a and two b out, x fits in 3 and z (twice) in 3 each: 9 of 24 places.
    assert found.by_chance == pytest.approx(9 / 24, abs=0.02)


def test_what_is_withheld_or_without_a_group_does_not_count():
    some = rows(("a", "x"), ("b", "z"))
    more = [*some, dataclasses.replace(some[0], abstained=True), dataclasses.replace(some[0], group=None)]
    assert origin_match(more, HOME, np.random.default_rng(0)).share.n == 2
    none = origin_match(more[2:], HOME, np.random.default_rng(0))
    assert (none.share.n, none.p_value) == (0, 1.0)
    assert math.isnan(none.by_chance)


def test_a_name_follower_is_caught_and_a_blind_one_is_not(monkeypatch):
    rng = np.random.default_rng(1)
    groups = [str(g) for g in rng.choice(["a", "b"], 60)]
    follower = rows(*((g, "x" if g == "a" else "z") for g in groups))
    assert origin_match(follower, HOME, rng).p_value < 0.001
    monkeypatch.setattr("loci.evaluation.bias.ROUNDS", 200)
    p = [origin_match(rows(*((g, str(rng.choice(["x", "z"]))) for g in groups)), HOME, rng).p_value for _ in range(60)]
    assert 0.3 < np.mean(p) < 0.7
    assert np.mean(np.array(p) < 0.05) < 0.2


def test_a_group_without_a_home_fits_nothing():
    assert origin_match(rows(("c", "x")), HOME, np.random.default_rng(0)).share.successes == 0
