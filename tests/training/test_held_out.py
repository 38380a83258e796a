import dataclasses

import pytest

from loci.pipeline import carry_out
from loci.training import held_out
from loci.training.checkpoint import BEST, load_model
from loci.training.run import describe, find_runs, read_metrics
from loci.training.sources import make_stream


def _held_out(recipe, share=0.25):
    return recipe.with_stages(lambda stage: dataclasses.replace(stage, held_out=share))


def test_what_is_held_out_is_not_learned_from(tiny_recipe, tiny_data):
    recipe = _held_out(tiny_recipe)
    stage = recipe.stages[0]
    taught = make_stream(stage, 0, recipe, tiny_data, 32).sources[0].records
    left = make_stream(stage, 0, recipe, tiny_data, 32, held_out=True).sources[0].records
    assert [*taught, *left] == tiny_data.lines
    assert len(left) == pytest.approx(len(tiny_data.lines) / 4, abs=1)


@pytest.fixture(scope="module")
def measured(tiny_recipe, tiny_data, tmp_path_factory):
    """A run whose loss on a few held-out examples is measured twenty times."""
    run = tmp_path_factory.mktemp("held-out") / "run"
    with pytest.MonkeyPatch.context() as during:
        during.setattr(held_out, "EXAMPLES", 8)
        carry_out(_held_out(tiny_recipe), tiny_data, run)
    return run


def test_its_loss_is_measured_and_the_best_weights_are_kept(tiny_recipe, measured):
    last = [row for row in read_metrics(measured) if row["stage"] == tiny_recipe.stages[-1].name]
    found = {row["total_steps"]: row["held_out"] for row in last if "held_out" in row}
    assert last[-1]["total_steps"] in found
    best = load_model(measured / BEST)
    assert best.config["total_steps"] == min(found, key=lambda step: found[step])
    (row,) = map(describe, find_runs(measured.parent))
    assert row["held_out_loss"] <= min(found.values())


def test_nothing_is_measured_where_nothing_is_held_out(tiny_run):
    assert not any("held_out" in row for row in read_metrics(tiny_run))
    assert not (tiny_run / BEST).exists()


def test_measuring_does_not_change_what_is_learned(tiny_recipe, tiny_data, measured, tmp_path, monkeypatch):
    monkeypatch.setattr(held_out, "TIMES", 1)
    carry_out(_held_out(tiny_recipe), tiny_data, tmp_path / "once")
    often, once = ([row["loss"] for row in read_metrics(run)] for run in (measured, tmp_path / "once"))
    assert often == once


def test_the_end_is_a_point_of_measurement():
    assert held_out.due(0.99, 1.3)
    assert held_out.due(0.04, 0.06)
    assert not held_out.due(0.06, 0.07)
