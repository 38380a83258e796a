"""Recipes with labelling steps."""

import dataclasses

import pytest

from loci.errors import LociError
from loci.pipeline import carry_out
from loci.pipeline.labelers import LABELERS
from loci.text.questions import Questions
from loci.training.checkpoint import load_model
from loci.training.plain_data import to_dict
from loci.training.plan import LabelStep, MixtureComponent, Recipe, Stage, recipe_from_dict
from loci.training.reports import CheckpointPolicy
from loci.training.run import PSEUDO_LABELS


class Toy:
    """Writes the given answers and one more, and counts how often it is asked."""

    def __init__(self):
        self.asked = 0

    def __call__(self, loaded, data, progress, *, answer="Rome"):
        self.asked += 1
        assert not loaded.model.training
        pairs = [(row.text, row.answer) for row in data.questions]
        return Questions.from_pairs([*pairs, ("Where was Abcd born?", answer)])


@pytest.fixture
def labeler():
    yield LABELERS.add("toy", Toy())
    LABELERS.remove("toy")


@pytest.fixture
def recipe(tiny_recipe):
    read = Stage("read", (MixtureComponent("reading", source="reading-examples"),), steps=3, batch_size=4)
    memorize = Stage("memorize", (MixtureComponent("question-answer", source="pseudo-labels"),), steps=4, batch_size=4)
    return Recipe("labelled", {**tiny_recipe.model, "block_size": 96}, (read, LabelStep("label", "toy"), memorize))


def test_a_labeler_is_asked_once_and_what_it_wrote_stays_with_the_run(recipe, labeler, tiny_data, tmp_path):
    assert carry_out(recipe, tiny_data, tmp_path / "run").finished
    assert labeler.asked == 1
    kept = Questions.read(tmp_path / "run" / PSEUDO_LABELS)
    assert [(row.text, row.answer) for row in kept][-1] == ("Where was Abcd born?", "Rome")


def test_a_run_stopped_while_memorizing_goes_on_without_labelling_again(recipe, labeler, tiny_data, tmp_path):
    seen = []

    def stop() -> bool:
        seen.append(1)
        return len(seen) == 5

    policy = CheckpointPolicy(every_steps=1)
    assert not carry_out(recipe, tiny_data, tmp_path / "run", should_stop=stop, checkpoints=policy).finished
    assert carry_out(recipe, tiny_data, tmp_path / "run", resume=None).finished
    assert labeler.asked == 1
    carry_out(recipe, tiny_data, tmp_path / "whole")
    first, second = (load_model(tmp_path / name).model.state_dict() for name in ("run", "whole"))
    assert all(first[name].equal(second[name]) for name in first)


def test_lost_pseudo_labels_are_not_written_again_by_another_model(recipe, labeler, tiny_data, tmp_path):
    seen = iter(range(9))
    carry_out(recipe, tiny_data, tmp_path / "run", should_stop=lambda: next(seen) == 4)
    (tmp_path / "run" / PSEUDO_LABELS).unlink()
    with pytest.raises(LociError, match=r"pseudo_labels\.tsv.*is missing"):
        carry_out(recipe, tiny_data, tmp_path / "run", resume=True)


def test_labelling_twice_keeps_both_files(recipe, labeler, tiny_data, tmp_path):
    *before, memorize = recipe.steps
    again = (LabelStep("again", "toy", {"answer": "Oslo"}), dataclasses.replace(memorize, name="more"))
    carry_out(dataclasses.replace(recipe, steps=(*before, memorize, *again)), tiny_data, tmp_path / "run")
    kept = [Questions.read(tmp_path / "run" / name)[-1].answer for name in (PSEUDO_LABELS, "pseudo_labels-2.tsv")]
    assert kept == ["Rome", "Oslo"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (LabelStep("label", "toys"), "did you mean 'toy'"),
        (LabelStep("label", "toy", {"colour": 1}), "labeler 'toy'.*colour"),
    ],
)
def test_a_labeler_that_cannot_work_is_refused_before_any_training(recipe, labeler, tiny_data, tmp_path, change, said):
    recipe = dataclasses.replace(recipe, steps=(recipe.steps[0], change, recipe.steps[2]))
    with pytest.raises(LociError, match=said):
        carry_out(recipe, tiny_data, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_stage_cannot_learn_from_pseudo_labels_nobody_wrote(recipe):
    with pytest.raises(LociError, match="no step before it writes any"):
        dataclasses.replace(recipe, steps=recipe.stages)


def test_questions_whose_answers_stand_nowhere_cannot_teach_reading(recipe, labeler, tiny_data, tmp_path):
    elsewhere = Questions.from_pairs([("Where was Nobody born?", "Rome")])
    with pytest.raises(LociError, match="birthplace: no line tells the answer to any of its 1 train questions"):
        carry_out(recipe, dataclasses.replace(tiny_data, questions=elsewhere), tmp_path / "run")


def test_how_a_model_is_asked_is_part_of_its_recipe(recipe, labeler, tiny_data, tmp_path):
    reciting = dataclasses.replace(recipe, answerer="recite")
    assert recipe_from_dict(to_dict(reciting)) == reciting
    carry_out(reciting, tiny_data, tmp_path / "run")
    assert load_model(tmp_path / "run").answerer == "recite"


def test_another_training_in_the_folder_is_refused(recipe, labeler, tiny_data, tmp_path):
    carry_out(recipe, tiny_data, tmp_path / "run")
    assert carry_out(recipe, tiny_data, tmp_path / "run", resume=None).finished
    with pytest.raises(LociError, match=r"another training \(steps of the recipe differ"):
        carry_out(recipe.override(["read.steps=5"]), tiny_data, tmp_path / "run", resume=None)
    in_parts = recipe.override(["read.accumulate=2"])  # the same batches: rounding alone differs
    assert carry_out(in_parts, tiny_data, tmp_path / "run", resume=None).finished
