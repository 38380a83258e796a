from dataclasses import replace

import numpy as np
import pytest

from loci.answering.confidence import RunCalibration, Temperature
from loci.evaluation.abstention import with_threshold
from loci.evaluation.metrics import score_arrays
from loci.evaluation.rows import Row
from loci.evaluation.selective import selective_prediction


def make_rows(n, seed=0):
    """A boaster: of the log-odds it claims, half is true."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(0, 3, n)
    right = rng.random(n) < 1 / (1 + np.exp(-odds / 2))
    return [
        Row(f"q{i}", "a" if right[i] else "b", answers=("a",), subject=f"s{i}", probability=float(p))
        for i, p in enumerate(1 / (1 + np.exp(-odds)))
    ]


def own(value=2.0, threshold=0.6):
    fit = Temperature(value)
    return RunCalibration(fit, fit, None, 0.5, threshold, "beef", "slice.tsv", "feed", 50, 25, 0.2, 0.1)


def test_a_kept_calibration_is_judged_on_questions_it_was_not_fitted_on():
    rows = make_rows(4000)
    fitted_on = {row.question for row in rows[:1000]}
    found = selective_prediction(rows, np.random.default_rng(0), calibration=own(), fitted_on=fitted_on).own
    assert found.before.rows == found.after.rows == 3000
    assert found.after.brier.value < found.before.brier.value - 0.01
    assert found.after.ece < 0.03 < found.before.ece
    assert sum(part.n for part in found.after.bins) == 3000
    claimed = Temperature(2.0).apply(np.array([row.probability for row in rows[1000:]]))
    fitted = [replace(row, probability=float(p)) for row, p in zip(rows[1000:], claimed, strict=True)]
    held = with_threshold(fitted, 0.6)
    points = [0 if row.abstained else 1 if row.correct else -1 for row in held]
    assert found.cost.with_threshold.value == pytest.approx(np.mean(points))
    assert found.cost.answered.successes == sum(not row.abstained for row in held)


def test_questions_it_was_fitted_on_cannot_judge_it():
    rows = make_rows(60)
    nobody = [Row("u", "a", split="never-read", subject="u", probability=0.3)]
    found = selective_prediction(
        [*rows, *nobody], np.random.default_rng(0), calibration=own(), fitted_on={r.question for r in rows}
    )
    assert found.own is None
    assert selective_prediction(rows, np.random.default_rng(0)).own is None


def test_repairs_tell_how_many_rows_judged_them():
    rows = make_rows(400)
    found = selective_prediction(rows, np.random.default_rng(0))
    assert found.before.rows == found.temperature.rows == found.isotonic.rows
    assert 150 < found.before.rows < 250
    assert sum(part.n for part in found.temperature.bins) == found.temperature.rows
    assert found.rows == len(score_arrays(rows)) == 400
