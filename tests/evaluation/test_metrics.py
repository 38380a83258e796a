import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from loci.errors import LociError
from loci.evaluation.metrics import (
    Estimate,
    by_split,
    decimal,
    exact_match,
    most_common_answer,
    most_common_answer_baseline,
    repeated,
    wilson,
)
from loci.evaluation.rows import Row
from loci.text.questions import Question


def test_wilson_hand_worked():
    # z = 1.96, n = 500, p = 0.05: centre = (0.05 + 0.0038415)/(1.007683) = 0.053431, half = 0.019218
    rate = wilson(25, 500)
    assert rate.value == 0.05
    assert rate.low == pytest.approx(0.0341, abs=5e-5)
    assert rate.high == pytest.approx(0.0727, abs=1e-4)
    assert str(rate) == "5.0 % (3.4–7.3, n = 500)"


def test_wilson_of_nothing():
    rate = wilson(0, 0)
    assert math.isnan(rate.value)
    assert (rate.low, rate.high) == (0, 1)
    assert str(rate) == "– (n = 0)"


def test_estimates_are_written_with_a_true_minus():
    assert str(Estimate(-1.0, -1.0, 0.25, 7)) == "−1.000 (−1.000 to 0.250, n = 7)"
    assert str(Estimate(0.5, -math.inf, math.inf, 1)) == "0.500 (n = 1)"
    assert str(Estimate(math.nan, math.nan, math.nan, 3)) == "– (n = 3)"
    assert [decimal(value) for value in (-0.0001, -0.25, math.nan)] == ["0.000", "−0.250", "–"]


@given(st.integers(1, 2000), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_agrees_with_scipy(n, share, level):
    successes = round(share * n)
    theirs = binomtest(successes, n).proportion_ci(level, method="wilson")
    rate = wilson(successes, n, level)
    assert rate.low == pytest.approx(theirs.low, abs=1e-12)
    assert rate.high == pytest.approx(theirs.high, abs=1e-12)


def test_three_models_that_agree_are_worth_one_and_three_that_do_not_are_worth_three():
    rng = np.random.default_rng(0)
    one = (rng.random(500) < 0.8).tolist()
    alike, alone = repeated([one] * 3), wilson(sum(one), 500)
    assert (alike.successes, alike.n) == (3 * sum(one), 1500)
    assert (alike.low, alike.high) == pytest.approx((alone.low, alone.high), abs=1e-4)
    apart = [(rng.random(500) < 0.8).tolist() for _ in range(3)]
    whole = wilson(sum(map(sum, apart)), 1500)
    assert repeated(apart).high - repeated(apart).low == pytest.approx(whole.high - whole.low, rel=0.1)


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=5))
def test_repeating_questions_never_narrows_beyond_all_nor_widens_beyond_one(outcomes):
    rights, n = sum(map(sum, outcomes)), 4 * len(outcomes)
    found, all_apart, all_alike = repeated(outcomes), wilson(rights, n), wilson(rights, n, independent=4)
    assert found.value == pytest.approx(rights / n)
    assert all_alike.low - 1e-9 <= found.low <= all_apart.low + 1e-9
    assert all_apart.high - 1e-9 <= found.high <= all_alike.high + 1e-9


def test_the_interval_of_repeated_questions_covers():
    """Questions of different hardness, three models each: the mean over such questions lies within 95 of 100 times."""
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(400):
        hard = rng.beta(1.0, 0.5, 100)
        found = repeated((rng.random((3, 100)) < hard).tolist())
        inside += found.low <= 2 / 3 <= found.high
    assert 0.92 <= inside / 400 <= 0.98


def test_exact_match_counts_only_known_truth_and_given_answers():
    rows = [
        Row("q1", "Paris", answers=("Paris",)),
        Row("q2", "Rome", answers=("Roma", "Rome")),
        Row("q3", "paris", answers=("Paris",)),
        Row("q4", "Paris", answers=("Paris",), abstained=True),
        Row("q5", "Paris"),
    ]
    rate = exact_match(rows)
    assert (rate.successes, rate.n) == (2, 4)
    assert exact_match([]).n == 0


def test_an_answer_about_an_unseen_person_is_wrong():
    rows = [Row("q", "Paris", split="never-read"), Row("q", "Paris", split="never-read", answers=("Paris",))]
    rate = exact_match(rows)
    assert (rate.successes, rate.n) == (1, 2)


def test_by_split_orders_the_house_splits_first():
    rows = [Row("q", "a", split=split) for split in ("mine", None, "never-read", "taught", "mine")]
    assert {split: len(members) for split, members in by_split(rows).items()} == {
        "taught": 1,
        "never-read": 1,
        "mine": 2,
        "all": 1,
    }
    assert list(by_split(rows)) == ["taught", "never-read", "mine", "all"]


def test_most_common_answer_breaks_ties_by_name():
    assert most_common_answer(["b", "a", "a", "b", "c"]) == "a"
    with pytest.raises(LociError, match="no train answers"):
        most_common_answer([])


def test_baseline_rows():
    rows = most_common_answer_baseline(
        ["Oslo", "Bern", "Oslo", "Rome"], [Question("q1", ("Oslo",), None, 1), Question("q2", ("Rome",), None, 2)]
    )
    assert [row.prediction for row in rows] == ["Oslo", "Oslo"]
    assert rows[0].probability == 0.5
    assert exact_match(rows).value == 0.5


def test_course_baseline_is_london(course_data):
    def pairs(name):
        lines = (course_data / name).read_text(encoding="utf-8").splitlines()
        return [tuple(line.split("\t")) for line in lines if line.strip()]

    train = [answer for _, answer in pairs("birth_places_train.tsv")]
    rows = most_common_answer_baseline(
        train, [Question(text, (answer,), None, 1) for text, answer in pairs("birth_dev.tsv")]
    )
    assert rows[0].prediction == "London"
    assert str(exact_match(rows)).startswith("5.0 %")
    assert exact_match(rows).n == 500
