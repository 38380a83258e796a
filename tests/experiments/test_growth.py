"""The experiment on growth."""

import json
from itertools import chain, repeat

import pytest

from loci.errors import LociError
from loci.experiments.growth import run as growth
from loci.experiments.growth.memorizing import grow
from loci.experiments.growth.result import entropy, power_law
from loci.experiments.trials import Hooks, Stopped


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


def test_stopped_it_goes_on_and_ends_with_the_same_figures(tmp_path):
    whole = grow(12, 16, 8, 0, 4, tmp_path / "whole.safetensors", Hooks())
    state = tmp_path / "cut.safetensors"
    for steps in (1, 3, 2):
        answers = chain(repeat(False, steps), repeat(True))
        with pytest.raises(Stopped):
            grow(12, 16, 8, 0, 4, state, Hooks(should_stop=answers.__next__))
    assert grow(12, 16, 8, 0, 4, state, Hooks()) == whole
    state.write_bytes(b"nothing")
    with pytest.raises(LociError, match="holds no state of this training"):
        grow(12, 16, 8, 0, 4, state, Hooks())
