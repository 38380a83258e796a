"""The experiment on growth."""

import json

import pytest

from loci.experiments.growth import run as growth
from loci.experiments.growth.result import entropy, power_law


def test_a_power_law_goes_through_its_points():
    law = power_law([(250, 3 * 250**1.2), (1000, 3 * 1000**1.2), (4000, 3 * 4000**1.2)])
    assert law is not None
    assert (law.factor, law.exponent) == pytest.approx((3, 1.2))
    assert power_law([(250, 1.0), (250, 2.0)]) is None


def test_entropy_of_equal_answers():
    assert entropy(["a", "b", "c", "d"]) == pytest.approx(2)
    assert entropy(["a", "a"]) == 0


def test_a_quick_run_writes_numbers_and_a_page_and_repeats_nothing(tmp_path, monkeypatch):
    report = growth.run(tmp_path / "growth", growth.Options(quick=True))
    assert (tmp_path / "growth" / "report.html").is_file()
    numbers = json.loads((tmp_path / "growth" / "results.json").read_text(encoding="utf-8"))
    assert [one["people"] for one in numbers["grown"]] == [12, 24]
    assert all(one["characters"] > 0 and one["flops"] > 0 and one["curve"] for one in numbers["grown"])

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(growth, "grow", refuse)
    again = growth.run(tmp_path / "growth", growth.Options(quick=True))
    assert again.numbers == report.numbers
