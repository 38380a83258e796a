import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.metrics import log_loss as sklearn_log_loss

from loci.answering.confidence import Isotonic, Temperature, calibrator_from_dict
from loci.errors import LociError
from loci.evaluation.calibration import (
    auroc,
    auroc_right,
    brier,
    ece,
    ece_if_calibrated,
    fit_isotonic,
    fit_temperature,
    log_loss,
    reliability,
)
from loci.evaluation.metrics import ScoreArrays, has_probabilities, score_arrays, validation_slice
from loci.evaluation.rows import Row

# Coarse confidences make ties common, which is where such code goes wrong.
samples = st.lists(st.tuples(st.booleans(), st.integers(0, 20).map(lambda i: i / 20)), min_size=1, max_size=60)


def made(pairs):
    return ScoreArrays(np.array([r for r, _ in pairs], dtype=bool), np.array([p for _, p in pairs], dtype=float))


def simulated(n, slope=1.0, seed=0):
    """Answers right with probability σ(z) from a model that claims σ(slope·z)."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, n)
    return ScoreArrays(rng.random(n) < 1 / (1 + np.exp(-z)), 1 / (1 + np.exp(-slope * z)))


def test_columns_take_scorable_rows_and_withheld_answers_as_said():
    rows = [
        Row("a", "x", answers=("x",), probability=0.9, abstained=True),
        Row("b", "x", probability=0.1),
        Row("c", "x", probability=0.2, split="never-read"),
    ]
    found = score_arrays(rows)
    assert found.right.tolist() == [True, False]
    assert found.confidence.tolist() == [0.9, 0.2]
    with pytest.raises(LociError, match="no probability"):
        score_arrays([*rows, Row("d", "x", answers=("y",))])
    with pytest.raises(LociError, match="nothing can be scored"):
        score_arrays([Row("d", "x")])
    assert has_probabilities(rows)
    assert not has_probabilities([*rows, Row("d", "x", answers=("y",))])
    assert not has_probabilities([])


def test_hand_worked_bins_brier_and_error():
    found = made([(True, 0.9), (True, 0.9), (False, 0.9), (False, 0.3), (True, 0.3)])
    low, high = reliability(found, 2)
    assert (low.n, low.confidence, low.accuracy.value) == (2, pytest.approx(0.3), 0.5)
    assert (high.n, high.accuracy.value) == (3, pytest.approx(2 / 3))
    # (2·|0.3−0.5| + 3·|0.9−2/3|)/5 = (0.4 + 0.7)/5
    assert ece(found, 2) == pytest.approx(0.22)
    assert ece(found, 2) == pytest.approx(0.22)
    # (0.01 + 0.01 + 0.81 + 0.09 + 0.49)/5
    assert brier(found).value == pytest.approx(0.282)


@given(samples, st.randoms(use_true_random=False))
def test_reliability_covers_every_row_in_any_order(pairs, random):
    bins = reliability(made(pairs))
    assert sum(part.n for part in bins) == len(pairs)
    assert sum(part.accuracy.successes for part in bins) == sum(r for r, _ in pairs)
    shuffled = list(pairs)
    random.shuffle(shuffled)
    again = reliability(made(shuffled))
    assert [(b.low, b.high, b.accuracy) for b in again] == [(b.low, b.high, b.accuracy) for b in bins]
    assert all(b.low - 1e-12 <= b.confidence <= b.high + 1e-12 for b in bins)


def test_agrees_with_scikit_learn():
    found = simulated(2000, slope=2.0)
    share, claim = calibration_curve(found.right, found.confidence, n_bins=15, strategy="quantile")
    ours = reliability(found, 15)
    assert np.allclose([b.accuracy.value for b in ours], share, atol=0.01)
    assert np.allclose([b.confidence for b in ours], claim, atol=0.01)
    assert brier(found).value == pytest.approx(brier_score_loss(found.right, found.confidence))
    assert log_loss(found) == pytest.approx(sklearn_log_loss(found.right, found.confidence))
    assert auroc_right(found).value == pytest.approx(roc_auc_score(found.right, found.confidence))


@given(samples.filter(lambda pairs: len({r for r, _ in pairs}) == 2))
def test_auroc_with_ties_agrees_with_scikit_learn(pairs):
    found = made(pairs)
    estimate = auroc_right(found)
    assert estimate.value == pytest.approx(roc_auc_score(found.right, found.confidence))
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_auroc_interval_has_the_spread_of_fresh_samples():
    values = [auroc_right(simulated(300, seed=seed)).value for seed in range(200)]
    estimate = auroc_right(simulated(300))
    assert (estimate.high - estimate.low) / (2 * 1.96) == pytest.approx(np.std(values), rel=0.25)


def test_error_floor_of_chance():
    honest, boastful = simulated(1000, seed=3), simulated(1000, slope=3.0, seed=3)
    floor = ece_if_calibrated(honest, np.random.default_rng(0))
    assert floor.low <= ece(honest) <= floor.high
    assert ece(boastful) > ece_if_calibrated(boastful, np.random.default_rng(0)).high
    assert math.isnan(ece_if_calibrated(made([]), np.random.default_rng(0)).value)


def test_auroc_of_one_kind_only_is_undefined():
    assert math.isnan(auroc(np.array([0.1, 0.2]), np.array([True, True])).value)


def test_temperature_is_recovered_and_agrees_with_logistic_regression():
    found = simulated(20_000, slope=2.5)
    temperature = fit_temperature(found)
    assert temperature.value == pytest.approx(2.5, rel=0.06)
    odds = np.log(found.confidence / (1 - found.confidence))[:, None]
    theirs = LogisticRegression(fit_intercept=False, C=1e9, tol=1e-8).fit(odds, found.right)
    assert temperature.value == pytest.approx(1 / theirs.coef_[0, 0], rel=1e-3)
    after = ScoreArrays(found.right, temperature.apply(found.confidence))
    assert ece(after) < 0.25 * ece(found)
    assert auroc_right(after).value == pytest.approx(auroc_right(found).value)


def test_temperature_of_hopeless_rows_stays_finite():
    assert np.isfinite(fit_temperature(made([(False, 1.0), (False, 0.9)])).value)
    assert np.isfinite(fit_temperature(made([(True, 1.0)])).value)
    assert Temperature(1.0).apply(np.array([0.2, 0.5])).tolist() == pytest.approx([0.2, 0.5])


@given(samples, st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_isotonic_agrees_with_scikit_learn(pairs, asked):
    found = made(pairs)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(found.confidence, found.right)
    ours = fit_isotonic(found)
    assert ours.apply(np.array(asked)) == pytest.approx(theirs.predict(asked), abs=1e-6)


def test_calibrators_come_back_from_json_data():
    for calibrator in (Temperature(1.5), Isotonic((0.1, 0.9), (0.2, 0.3))):
        assert calibrator_from_dict(calibrator.as_dict()) == calibrator
    for bad in (
        None,
        {},
        {"kind": "isotonic", "claimed": [0.1]},
        {"kind": "temperature", "value": "x"},
        {"kind": "temperature", "value": -1},
        {"kind": "isotonic", "claimed": [0.2, 0.1], "found": [0, 1]},
    ):
        with pytest.raises(LociError):
            calibrator_from_dict(bad)


def test_fitting_on_nothing():
    for fit in (fit_temperature, fit_isotonic):
        with pytest.raises(LociError, match="no rows"):
            fit(made([]))


def test_validation_slice_keeps_a_person_on_one_side_in_every_run():
    rows = [Row(f"q{i}", "x", subject=f"Person {i % 300}") for i in range(600)]
    fit, rest = validation_slice(rows)
    assert len(fit) + len(rest) == 600
    assert not {row.subject for row in fit} & {row.subject for row in rest}
    assert 0.4 < len(fit) / 600 < 0.6
    assert {row.question for row in validation_slice(rows[::-1])[0]} == {row.question for row in fit}
    assert validation_slice(rows, 0.0)[0] == []
