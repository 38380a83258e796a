import itertools
from dataclasses import replace

import pytest

from loci.pipeline.expected import LINES, STEPS, expected_seconds
from loci.pipeline.labelers import LABELERS
from loci.training.plan import LabelStep


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


def test_labelling_counts_by_its_share_of_the_lines(tiny_recipe, tiny_data):
    """A labeler that takes one second for what lines it is given."""
    ticks, given = itertools.count(), []
    LABELERS.add("counting", lambda loaded, data, progress: given.append(len(data.lines)))
    try:
        labelled = replace(tiny_recipe, steps=(*tiny_recipe.steps, LabelStep("label", "counting")))
        many = replace(tiny_data, corpus=replace(tiny_data.corpus, lines=tiny_data.corpus.lines * 50))
        minutes = labelled.with_stages(lambda stage: stage.with_budget(minutes=1))
        found = expected_seconds(minutes, many, clock=lambda: float(next(ticks)))
    finally:
        LABELERS.remove("counting")
    assert LINES <= given[0] < 2 * LINES + 1
    assert found == pytest.approx(60 * len(minutes.stages) + len(many.lines) / given[0])
