"""The short recipe's budget: true epochs of questions, and what it takes in all on the course's files."""

from __future__ import annotations

from pathlib import Path

import pytest

from loci.recipes import DataShape, make_recipe
from loci.recipes.course import QUESTION_EPOCHS, course_short
from loci.training.schedule import factor
from loci.training.sources import TrainingData, make_stream


@pytest.mark.parametrize(("lines", "batch_size"), [(2937, 73), (700, 17), (100, 16)])
def test_batches_go_by_what_is_memorized(lines: int, batch_size: int) -> None:
    recipe = make_recipe("course-short", DataShape(lines, 100))
    assert [stage.batch_size for stage in recipe.stages] == [batch_size] * 2


def test_pretraining_decays_and_questions_have_a_smaller_rate() -> None:
    pretrain, finetune = course_short(DataShape(2937, 2000)).stages
    rates = [factor(pretrain, progress=progress, tokens=0) for progress in (0.54, 0.775, 1.0)]
    assert rates == pytest.approx([1.0, 0.525, 0.05])
    for name in ("lr", "matrix_lr"):
        assert getattr(finetune, name) == pytest.approx(0.3 * getattr(pretrain, name))


def test_questions_are_seen_for_true_epochs_and_characters_stay_in_the_budget(course_data: Path) -> None:
    data = TrainingData.read(course_data)
    assert data.questions is not None
    recipe = course_short(DataShape.of(data.corpus, data.questions))
    pretrain, finetune = recipe.stages
    stream = make_stream(finetune, 1, recipe, data, 160)
    steps = stream.steps_for(finetune.epochs or 0)
    questions = characters = 0
    for step in range(steps):
        batch = stream.batch(step)
        questions += sum(data.vocab.decode(row) == "Where was" for row in batch.x[:, :9].tolist())
        characters += batch.n_characters
    assert questions == pytest.approx(QUESTION_EPOCHS * 2000, abs=2 * finetune.batch_size)  # whole batches are drawn
    assert 1 <= QUESTION_EPOCHS <= 2
    assert 9e6 <= (pretrain.characters or 0) + characters <= 11e6
