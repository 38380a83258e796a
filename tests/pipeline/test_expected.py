import itertools

import pytest

from loci.pipeline.expected import STEPS, expected_seconds


def test_a_few_steps_of_every_stage_tell_how_long_it_takes(tiny_recipe, tiny_data):
    """With a clock that moves by one second each time it is read, the timed steps of a stage take one together."""
    ticks = itertools.count()
    recipe = tiny_recipe.with_stages(lambda stage: stage.with_budget(steps=30))
    found = expected_seconds(recipe, tiny_data, clock=lambda: float(next(ticks)))
    assert found == pytest.approx(len(recipe.stages) * 30 / STEPS)


def test_budgets_in_characters_scale_and_minutes_are_taken_as_they_are(tiny_recipe, tiny_data):
    def expected(**budget: float) -> float:
        ticks = itertools.count()
        recipe = tiny_recipe.with_stages(lambda stage: stage.with_budget(**budget))
        return expected_seconds(recipe, tiny_data, clock=lambda: float(next(ticks)))

    assert expected(characters=2e6) == pytest.approx(2 * expected(characters=1e6))
    assert expected(minutes=3) == 180 * len(tiny_recipe.stages)
