import json
from typing import Any

import numpy as np
import pytest

from loci.answering.confidence import FILE, NEVER, Isotonic, Temperature, read_calibration, write_calibration
from loci.errors import LociError
from loci.evaluation.calibration import AS_IT_IS, fit_calibration
from loci.evaluation.rows import Row

ABOUT: dict[str, Any] = {"questions": "slice.tsv", "questions_hash": "q", "model": "m"}


def rows_of(confidence, right):
    return [
        Row(f"q{i}", "Oslo" if hit else "Rome", answers=("Oslo",), probability=float(p))
        for i, (p, hit) in enumerate(zip(confidence, right, strict=True))
    ]


def boaster(n=400, seed=0):
    """Claims the square root of its chance."""
    rng = np.random.default_rng(seed)
    chance = rng.uniform(0.05, 0.95, n)
    return rows_of(chance**0.25, rng.random(n) < chance)


def test_a_boaster_is_humbled_on_people_it_was_not_fitted_on():
    fitted = fit_calibration(boaster(), **ABOUT)
    assert fitted.brier_after < fitted.brier_before - 0.02
    assert isinstance(fitted.calibrator, Isotonic)
    others = boaster(seed=1)
    before = np.mean([(row.probability - bool(row.correct)) ** 2 for row in others])
    after = np.mean(
        (np.array(fitted.apply([row.probability for row in others])) - [bool(r.correct) for r in others]) ** 2
    )
    assert after < before - 0.02
    assert (fitted.n, fitted.right) == (400, sum(bool(row.correct) for row in boaster()))


def test_few_rows_get_no_isotonic_fit_and_the_threshold_is_the_one_that_pays():
    rows = rows_of([0.9, 0.8, 0.7, 0.6, 0.3], [True, True, False, True, False])
    fitted = fit_calibration(rows, **ABOUT)
    assert fitted.isotonic is None
    # A temperature would embolden, but not to the good of rows it was not fitted on: it is not used.
    assert fitted.temperature.value < 1
    assert fitted.calibrator == AS_IT_IS
    assert fitted.brier_after == fitted.brier_before
    # +1 −1 at level 0.5: 0.9 and 0.8 earn 2, all four 2 as well; the more cautious one is kept.
    assert fitted.threshold == pytest.approx(fitted.apply([0.8])[0])
    assert fit_calibration(rows, **ABOUT, level=0.9).threshold == pytest.approx(fitted.apply([0.8])[0])
    worthless = rows_of([0.9, 0.8, 0.7], [False, False, True])
    assert fit_calibration(worthless, **ABOUT, level=0.9).threshold == NEVER


@pytest.mark.parametrize("right", [[True, True], [False, False]])
def test_all_right_or_all_wrong_teaches_nothing(right):
    with pytest.raises(LociError, match="nothing can be told"):
        fit_calibration(rows_of([0.2, 0.8], right), **ABOUT)


def test_a_level_of_one_is_no_level():
    with pytest.raises(LociError, match="confidence target"):
        fit_calibration(boaster(), **ABOUT, level=1.0)


@pytest.mark.parametrize("rows", [boaster(), rows_of([0.9, 0.8, 0.7], [False, False, True])])
def test_it_reads_back_the_same(rows, tmp_path):
    assert read_calibration(tmp_path) is None
    fitted = fit_calibration(rows, **ABOUT, level=0.9)
    write_calibration(tmp_path, fitted)
    assert read_calibration(tmp_path) == fitted
    assert [file.name for file in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw.pop("threshold"),
        lambda raw: raw.update(format=99),
        lambda raw: raw.update(calibrator={"kind": "temperature", "value": -1}),
        lambda raw: raw.update(temperature=Isotonic((0.1,), (0.2,)).as_dict()),
        lambda raw: raw.update(n="many"),
    ],
)
def test_a_spoilt_file_is_named_with_what_to_do(spoil, tmp_path):
    raw = fit_calibration(boaster(), **ABOUT).as_dict()
    spoil(raw)
    (tmp_path / FILE).write_text(json.dumps(raw))
    with pytest.raises(LociError, match="--calibrate") as raised:
        read_calibration(tmp_path)
    assert raised.value.path == tmp_path / FILE


def test_a_temperature_alone_keeps_one_half():
    assert Temperature(3.0).apply(np.array([0.5]))[0] == pytest.approx(0.5)
