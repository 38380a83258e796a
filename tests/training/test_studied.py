"""Stages that learn from questions the model wrote itself."""

import dataclasses

import pytest

from loci.errors import LociError
from loci.text.questions import Questions
from loci.training.checkpoint import load_model
from loci.training.loop import CheckpointPolicy, train
from loci.training.plan import MixtureComponent, Recipe, Stage, recipe_from_dict, to_dict
from loci.training.run import STUDIED


class Author:
    """Writes the given answers and one more, and counts how often it is asked."""

    def __init__(self):
        self.asked = 0

    def __call__(self, model, data):
        self.asked += 1
        pairs = [(row.text, row.answer) for row in data.questions]
        return Questions.from_pairs([*pairs, ("Where was Abcd born?", "Rome")])


@pytest.fixture
def recipe(tiny_recipe):
    read = Stage("read", (MixtureComponent("reading", source="passages"),), steps=3, batch_size=4)
    study = Stage("study", (MixtureComponent("question-answer", source="studied"),), steps=4, batch_size=4)
    return Recipe("studious", {**tiny_recipe.model, "block_size": 96}, (read, study))


def test_the_author_is_asked_once_and_what_it_wrote_stays_with_the_run(recipe, tiny_data, tmp_path):
    author = Author()
    assert train(recipe, tiny_data, tmp_path / "run", author=author).finished
    assert author.asked == 1
    kept = Questions.read(tmp_path / "run" / STUDIED)
    assert [(row.text, row.answer) for row in kept][-1] == ("Where was Abcd born?", "Rome")


def test_a_run_stopped_while_studying_goes_on_without_reading_again(recipe, tiny_data, tmp_path):
    author, seen = Author(), []

    def stop() -> bool:
        seen.append(1)
        return len(seen) == 5

    saving = CheckpointPolicy(every_steps=1)
    assert not train(recipe, tiny_data, tmp_path / "run", author=author, should_stop=stop, saving=saving).finished
    assert train(recipe, tiny_data, tmp_path / "run", author=author, resume=True).finished
    assert author.asked == 1
    train(recipe, tiny_data, tmp_path / "whole", author=author)
    first, second = (load_model(tmp_path / name).model.state_dict() for name in ("run", "whole"))
    assert all(first[name].equal(second[name]) for name in first)


def test_without_an_author_the_recipe_is_refused_before_any_training(recipe, tiny_data, tmp_path):
    with pytest.raises(LociError, match="nobody is there to write them"):
        train(recipe, tiny_data, tmp_path / "run")


def test_questions_whose_answers_stand_nowhere_cannot_teach_reading(recipe, tiny_data, tmp_path):
    elsewhere = Questions.from_pairs([("Where was Nobody born?", "Rome")])
    with pytest.raises(LociError, match="nothing to learn reading from"):
        train(recipe, dataclasses.replace(tiny_data, questions=elsewhere), tmp_path / "run", author=Author())


def test_how_a_model_is_asked_is_part_of_its_recipe(recipe, tiny_data, tmp_path):
    reciting = dataclasses.replace(recipe, answering="recite")
    assert recipe_from_dict(to_dict(reciting)) == reciting
    train(reciting, tiny_data, tmp_path / "run", author=Author())
    assert load_model(tmp_path / "run").recites


def test_the_unasked_are_those_no_train_question_names(tiny_data):
    some = dataclasses.replace(tiny_data, questions=tiny_data.questions[:10])
    asked = set(some.questions.subjects)
    assert some.unasked == [line for line in some.corpus if line.subject not in asked]
    assert some.records("unasked", 64) == some.unasked
    assert tiny_data.unasked == list(tiny_data.corpus)
