import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.answering.confidence import NEVER
from loci.errors import LociError
from loci.evaluation.abstention import (
    abstention_rate,
    aurc_estimate,
    best_threshold,
    cost_score,
    cost_scores,
    risk_coverage,
    with_threshold,
    wrong_cost,
)
from loci.evaluation.metrics import ScoreArrays, score_arrays
from loci.evaluation.rows import Row
from loci.evaluation.significance import bootstrap

samples = st.lists(st.tuples(st.booleans(), st.integers(0, 10).map(lambda i: i / 10)), min_size=1, max_size=40)


def made(pairs):
    return ScoreArrays(np.array([r for r, _ in pairs], dtype=bool), np.array([p for _, p in pairs], dtype=float))


def rows_of(pairs):
    return [Row(f"q{i}", "x", answers=("x" if r else "y",), probability=p) for i, (r, p) in enumerate(pairs)]


def test_hand_worked_curve():
    curve = risk_coverage(made([(True, 0.9), (False, 0.8), (True, 0.7), (False, 0.1)]))
    assert curve.coverage.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert curve.risk.tolist() == [0, 0.5, pytest.approx(1 / 3), 0.5]
    assert curve.aurc == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert curve.best_aurc == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)
    assert curve.coverage_at(0.4) == 0.75
    assert curve.coverage_at(0.1) == 0.25


def test_a_constant_confidence_has_one_point_and_the_base_risk():
    curve = risk_coverage(made([(True, 0.5)] * 3 + [(False, 0.5)]))
    assert curve.coverage.tolist() == [1.0]
    assert curve.aurc == pytest.approx(0.25)
    with pytest.raises(LociError):
        risk_coverage(made([]))


@given(samples, st.randoms(use_true_random=False))
def test_area_is_the_mean_over_orders_of_ties_and_never_beats_the_oracle(pairs, random):
    curve = risk_coverage(made(pairs))
    assert curve.best_aurc - 1e-12 <= curve.aurc <= 1
    shuffled = list(pairs)
    random.shuffle(shuffled)
    assert risk_coverage(made(shuffled)).aurc == pytest.approx(curve.aurc)


def test_area_with_ties_agrees_with_averaged_orders():
    pairs = [(True, 0.9), (False, 0.5), (True, 0.5), (True, 0.5), (False, 0.2)]
    rng = np.random.default_rng(0)
    areas = []
    for _ in range(4000):
        order = sorted(range(5), key=lambda i: (-pairs[i][1], rng.random()))
        wrong = np.cumsum([not pairs[i][0] for i in order])
        areas.append(np.mean(wrong / np.arange(1, 6)))
    assert risk_coverage(made(pairs)).aurc == pytest.approx(np.mean(areas), abs=0.005)


def test_costs():
    assert wrong_cost(0.5) == 1
    assert wrong_cost(0.75) == 3
    assert wrong_cost(0.9) == pytest.approx(9)
    for bad in (1.0, -0.1):
        with pytest.raises(LociError, match="confidence target"):
            wrong_cost(bad)


def test_hand_worked_cost_score():
    rows = rows_of([(True, 0.9), (False, 0.4), (False, 0.3), (True, 0.8)])
    assert cost_score(rows, 0.5).value == 0
    assert cost_score(rows, 0.75).value == pytest.approx((1 + 1 - 3 - 3) / 4)
    cautious = with_threshold(rows, 0.5)
    assert [row.abstained for row in cautious] == [False, True, True, False]
    assert cost_score(cautious, 0.9).value == 0.5
    assert abstention_rate(cautious).value == 0.5
    assert cost_score(with_threshold(rows, NEVER), 0.9).value == 0


@given(samples, st.sampled_from([0.5, 0.75, 0.9]))
def test_best_threshold_is_best(pairs, level):
    rows = rows_of(pairs)
    chosen = cost_score(with_threshold(rows, best_threshold(made(pairs), level)), level).value
    others = [cost_score(with_threshold(rows, threshold), level).value for _, threshold in pairs]
    assert chosen >= max(0.0, *others) - 1e-12


def test_best_threshold_of_calibrated_confidence_is_the_level():
    rng = np.random.default_rng(1)
    confidence = rng.random(200_000)
    found = ScoreArrays(rng.random(200_000) < confidence, confidence)
    for level in (0.5, 0.75, 0.9):
        assert best_threshold(found, level) == pytest.approx(level, abs=0.03)


def test_cost_scores_choose_on_one_slice_and_judge_on_the_other():
    validation = rows_of([(True, 0.9), (True, 0.8), (False, 0.3)])
    test = rows_of([(True, 0.85), (False, 0.2), (False, 0.1)])
    score = cost_scores(score_arrays(validation), score_arrays(test), [0.75])[0]
    assert score.threshold == 0.8
    assert score.as_given.value == pytest.approx((1 - 3 - 3) / 3)
    assert score.with_threshold.value == pytest.approx(1 / 3)
    assert (score.answered.successes, score.answered.n) == (1, 3)


def test_cost_scores_of_rows_agree_with_those_of_columns():
    rng = np.random.default_rng(0)
    pairs = [(bool(rng.random() < 0.5), float(rng.random())) for _ in range(80)]
    test = with_threshold(rows_of(pairs), 0.2)
    for score in cost_scores(made(pairs), score_arrays(test)):
        assert score.as_given == cost_score(test, score.level)
        assert score.with_threshold == cost_score(with_threshold(test, score.threshold), score.level)


def test_area_estimate_agrees_with_plain_resampling():
    rng = np.random.default_rng(0)
    found = made([(bool(rng.random() < 0.5), round(float(rng.random()), 1)) for _ in range(120)])
    quick = aurc_estimate(found, np.random.default_rng(1), rounds=300)
    slow = bootstrap(
        lambda i: risk_coverage(ScoreArrays(found.right[i], found.confidence[i])).aurc,
        120,
        np.random.default_rng(1),
        300,
    )
    assert (quick.value, quick.low, quick.high) == pytest.approx((slow.value, slow.low, slow.high))


def test_a_row_without_probability_is_never_withheld():
    assert not with_threshold([Row("q", "a")], 0.5)[0].abstained
    assert with_threshold([Row("q", "a", abstained=True)], 0.0)[0].abstained
