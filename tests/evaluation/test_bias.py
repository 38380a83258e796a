import math

import numpy as np
import pytest
from scipy.stats import entropy, fisher_exact

from loci.errors import LociError
from loci.evaluation.bias import counterfactual, group_report, pair_up, popularity, stereotype, typical_answers
from loci.evaluation.rows import Row


def row(prediction, answer, group=None, **more):
    return Row("q", prediction, answers=(answer,), group=group, **more)


def rng():
    return np.random.default_rng(0)


def test_groups_hand_worked():
    rows = [row("Oslo", "Oslo", "n")] * 8 + [row("Rome", "Oslo", "n")] * 2
    rows += [row("Rome", "Rome", "s")] * 2 + [row("Oslo", "Rome", "s")] * 3 + [row("x", "Rome", "s", abstained=True)]
    rows += [row("x", "y")]
    report = group_report(rows, rng())
    north, south = report.groups
    assert (north.group, north.accuracy.value) == ("n", 0.8)
    assert north.answers == (("Oslo", 0.8), ("Rome", 0.2))
    assert (south.accuracy.successes, south.accuracy.n, south.abstention.successes) == (2, 6, 1)
    assert south.answers == (("Oslo", 0.6), ("Rome", 0.4))
    # Two groups: each against the rest is the same table, and Holm doubles the probability.
    p = fisher_exact(np.array([[8, 2], [2, 4]])).pvalue
    assert report.accuracy_differs.p_value == pytest.approx(p)
    assert north.p_value == pytest.approx(min(1, 2 * p))
    with pytest.raises(LociError, match="no row names a group"):
        group_report([row("x", "y")], rng())


def test_popularity_against_scipy():
    rows = [row("London", "London")] * 3 + [row("London", "Rome")] * 2 + [row("Bern", "Oslo")]
    rows += [row("x", "y", abstained=True), Row("q", "z")]
    found = popularity(rows, top=1)
    assert found.answers == ("London", "Rome", "Oslo", "Bern")
    assert found.true == pytest.approx((3 / 6, 2 / 6, 1 / 6, 0))
    assert found.given == pytest.approx((5 / 6, 0, 0, 1 / 6))
    assert found.variation == pytest.approx(0.5)
    assert (found.top_true, found.top_given) == (pytest.approx(0.5), pytest.approx(5 / 6))
    p, q = np.array([5, 0, 0, 1]) + 0.5, np.array([3, 2, 1, 0]) + 0.5
    assert found.divergence == pytest.approx(entropy(p, q, base=2))
    with pytest.raises(LociError):
        popularity([])


def test_an_accepted_variant_is_not_a_shift():
    found = popularity([Row("q", "Roma", answers=("Rome", "Roma"))])
    assert found.variation == 0
    assert found.divergence == 0


def test_typical_answers():
    rows = [row("", "a", "g"), row("", "a", "g"), row("", "b", "g"), row("", "c", "h"), row("", "d")]
    assert typical_answers(rows, top=1) == {"g": {"a"}, "h": {"c"}}


def test_a_model_that_answers_from_the_group_is_found_out():
    draw = rng()
    homes = {"n": ["Oslo", "Bergen", "Moss"], "s": ["Rome", "Milan", "Bari"]}

    def rows(from_group):
        made = []
        for i in range(200):
            group = "ns"[i % 2]
            truth = str(draw.choice(homes[group]))
            pool = homes[group] if from_group else [*homes["n"], *homes["s"]]
            made.append(row(str(draw.choice([p for p in pool if p != truth])), truth, group))
        return made

    guilty = stereotype(rows(True), rng())
    assert guilty.share.value == 1
    assert guilty.by_chance == pytest.approx(0.5, abs=0.05)
    assert guilty.p_value < 0.001
    innocent = [stereotype(rows(False), rng()).p_value for _ in range(5)]
    # The truth is never given, so a blind model leans a little to the other group.
    assert min(innocent) > 0.05


def test_stereotype_of_a_faultless_model():
    found = stereotype([row("a", "a", "g")], rng())
    assert math.isnan(found.by_chance)
    assert found.share.n == 0


def test_counterfactual_hand_worked():
    originals = [row("Oslo", "Oslo", "n"), row("Oslo", "Oslo", "n"), row("Oslo", "Oslo", "n"), row("x", "Oslo", "n")]
    renamed = [
        row("Oslo", "Oslo", "s"),
        row("Rome", "Oslo", "s"),
        row("Bern", "Oslo", "s"),
        row("x", "Oslo", "s", abstained=True),
    ]
    found = counterfactual(pair_up(originals, renamed), {"s": {"Rome"}})
    assert (found.changed.successes, found.changed.n) == (3, 4)
    assert (found.right_before.successes, found.right_after.successes) == (3, 1)
    assert (found.follows_name.successes, found.follows_name.n) == (1, 3)
    assert found.test.p_value == pytest.approx(0.5)


def test_pairs_are_checked():
    with pytest.raises(LociError, match="2 rows and 1 renamed"):
        pair_up([row("a", "a")] * 2, [row("a", "a")])
    with pytest.raises(LociError, match="different truths") as caught:
        pair_up([row("a", "a")] * 2, [row("a", "a"), row("a", "b")])
    assert caught.value.line == 2
