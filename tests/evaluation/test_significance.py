import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, fisher_exact

from loci.errors import LociError
from loci.evaluation.metrics import exact_match
from loci.evaluation.rows import Row
from loci.evaluation.significance import (
    bootstrap,
    holm,
    mcnemar,
    paired,
    paired_bootstrap,
    repeated_difference,
    shares_differ,
)


def run(rights):
    return [Row(f"q{i}", "x", answers=("x" if right else "y",)) for i, right in enumerate(rights)]


def test_mcnemar_hand_worked():
    # 1 against 5 of six differing questions: p = 2·(C(6,0)+C(6,1))/2⁶ = 14/64
    first = run([1, 1, 1] + [1] + [0] * 5 + [0])
    second = run([1, 1, 1] + [0] + [1] * 5 + [0])
    result = mcnemar(paired(first, second))
    assert (result.both, result.only_first, result.only_second, result.neither) == (3, 1, 5, 1)
    assert result.p_value == pytest.approx(14 / 64)
    assert result.difference == pytest.approx(0.4)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=50))
def test_mcnemar_is_symmetric_and_says_the_difference(pairs):
    first, second = run([a for a, _ in pairs]), run([b for _, b in pairs])
    one, other = mcnemar(paired(first, second)), mcnemar(paired(second, first))
    assert one.p_value == other.p_value <= 1
    assert one.difference == pytest.approx(exact_match(second).value - exact_match(first).value)


def test_pairs_follow_the_question_not_the_order():
    first = run([1, 0, 1])
    second = run([1, 1, 1])[::-1]
    assert all(a.question == b.question for a, b in paired(first, second))
    twice = [Row("q", "1", answers=("1",)), Row("q", "2", answers=("1",))]
    assert [(a.prediction, b.prediction) for a, b in paired(twice, twice)] == [("1", "1"), ("2", "2")]
    assert len(paired(first, run([1, 1]))) == 2
    with pytest.raises(LociError, match="no question in common"):
        paired(first, [Row("other", "x", answers=("x",))])


def test_paired_bootstrap_agrees_with_resampling_questions():
    rng = np.random.default_rng(0)
    a, b = rng.random(400) < 0.3, rng.random(400) < 0.4
    result = mcnemar(paired(run(a), run(b)))
    quick = paired_bootstrap(result, np.random.default_rng(1))
    slow = bootstrap(lambda i: float(b[i].mean() - a[i].mean()), 400, np.random.default_rng(2), rounds=2000)
    assert quick.value == pytest.approx(slow.value)
    assert quick.low == pytest.approx(slow.low, abs=0.01)
    assert quick.high == pytest.approx(slow.high, abs=0.01)


def test_models_that_repeat_each_other_are_no_further_evidence():
    rng = np.random.default_rng(0)
    pairs = paired(run(rng.random(400) < 0.5), run(rng.random(400) < 0.56))
    once, p_once = repeated_difference([pairs], np.random.default_rng(1))
    thrice, p_thrice = repeated_difference([pairs] * 3, np.random.default_rng(1))
    assert (once.value, once.n) == (thrice.value, thrice.n)
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high), abs=0.01)
    assert p_thrice == pytest.approx(p_once, abs=0.02)


def test_several_models_that_differ_alike_are():
    rng = np.random.default_rng(0)
    models = [paired(run(rng.random(200) < 0.5), run(rng.random(200) < 0.6)) for _ in range(3)]
    gain, p_value = repeated_difference(models, np.random.default_rng(1))
    assert 0 < gain.low < gain.value < gain.high
    assert p_value < 0.05
    same, p_same = repeated_difference([paired(run([1, 0]), run([1, 0]))] * 2, np.random.default_rng(1))
    assert (same.low, same.value, same.high, p_same) == (0, 0, 0, 1)


def test_bootstrap_interval_of_a_mean():
    values = np.random.default_rng(0).normal(5, 2, 400)
    found = bootstrap(lambda i: float(values[i].mean()), 400, np.random.default_rng(1))
    assert (found.high - found.low) / (2 * 1.96) == pytest.approx(2 / 20, rel=0.15)


def test_shares_differ_uses_the_fitting_test():
    rng = np.random.default_rng(0)
    two = shares_differ([8, 2], [10, 10], rng)
    assert two.method == "Fisher"
    assert two.p_value == pytest.approx(fisher_exact(np.array([[8, 2], [2, 8]])).pvalue)
    many = shares_differ([30, 40, 50], [100, 100, 100], rng)
    assert many.method == "chi-square"
    table = [[30, 70], [40, 60], [50, 50]]
    assert many.p_value == pytest.approx(chi2_contingency(table, correction=False).pvalue)
    assert shares_differ([5], [10], rng).p_value == 1
    assert shares_differ([0, 0, 0], [10, 10, 0], rng).p_value == 1


def test_permutation_agrees_with_the_exact_test_of_small_tables():
    # With two groups doubled into three (one empty of hits) no closed form is at hand: compare with enumeration.
    hits, sizes = np.array([3, 1, 0]), np.array([4, 4, 4])
    found = shares_differ(hits.tolist(), sizes.tolist(), np.random.default_rng(0))
    assert found.method == "permutation"
    from itertools import combinations

    seen = ((hits - sizes * 4 / 12) ** 2 / sizes).sum()
    spreads = [
        ((np.bincount(np.array(chosen) // 4, minlength=3) - sizes * 4 / 12) ** 2 / sizes).sum()
        for chosen in combinations(range(12), 4)
    ]
    exact = np.mean(np.array(spreads) >= seen - 1e-9)
    assert found.p_value == pytest.approx(exact, abs=0.01)


def test_holm_hand_worked():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_never_lowers_and_keeps_the_order(p_values):
    adjusted = holm(p_values)
    assert all(a >= p - 1e-12 for a, p in zip(adjusted, p_values, strict=True))
    assert all(
        adjusted[i] <= adjusted[j] + 1e-12
        for i in range(len(p_values))
        for j in range(len(p_values))
        if p_values[i] < p_values[j]
    )
