"""Small versions of the recall recipes on embedded worlds. Bars are stated in each test, far above guessing.

Budgets are in steps, so that a slow machine takes longer and learns the same.
"""

import dataclasses

import pytest

from loci.answering.answerer import make_answerer
from loci.evaluation.asking import ask_rows
from loci.evaluation.metrics import exact_match, most_common_answer_baseline
from loci.pipeline import carry_out
from loci.recipes import DataShape, make_recipe
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.world import WorldSpec, write_world
from loci.training.checkpoint import load_model
from loci.training.sources import TrainingData

SMALL = ("model.n_layer=3", "model.n_embd=64", "model.n_head=2", "read.batch_size=16", "read.steps=900")
WORLD = WorldSpec(people=150, train_share=0.6, dev_share=0.4, multiword_places=True)
BAR = 0.6


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recall") / "world"
    write_world(WORLD, folder)
    return folder


def learned(name, world, questions, run, *changes):
    data = TrainingData(Corpus.read(world), Questions.read(world / questions))
    recipe = make_recipe(name, DataShape.of(data.corpus, data.questions))
    carry_out(recipe.override((*SMALL, *changes)), data, run)
    return load_model(run), data


def test_self_study_answers_about_people_it_was_never_asked_about(world, tmp_path):
    changes = ("read.steps=1200", "memorize.batch_size=32", "memorize.steps=400")
    model, data = learned("self-training", world, "birth_places_train.tsv", tmp_path / "run", *changes)
    asked = Questions.read(world / "birth_dev.tsv")
    assert not set(asked.subjects) & set(data.questions.subjects)
    right = exact_match(ask_rows(model, asked))
    assert right.value >= BAR
    taught = [question.answer for question in data.questions]
    assert right.low > exact_match(most_common_answer_baseline(taught, asked)).high


def test_recite_recites_and_reads(world, tmp_path):
    changes = ("memorize.batch_size=24", "memorize.steps=450")
    model, _ = learned("recite", world, "birth_places_train.tsv", tmp_path / "run", *changes)
    asked = Questions.read(world / "birth_dev.tsv")
    right = exact_match(ask_rows(model, asked))
    assert right.value >= BAR
    for question, answer in zip(asked, make_answerer(model).answer(asked), strict=True):
        assert answer.text in answer.recited, question


def test_another_relation_needs_no_other_code(tmp_path):
    """What people did: answers in lower case, some of several words."""
    world = tmp_path / "world"
    write_world(dataclasses.replace(WORLD, people=300), world)
    changes = ("memorize.batch_size=32", "memorize.steps=300")
    model, data = learned("self-training", world, "relations/work_train.tsv", tmp_path / "run", *changes)
    assert any(" " in question.answer and question.answer.islower() for question in data.questions)
    right = exact_match(ask_rows(model, Questions.read(world / "relations" / "work_dev.tsv")))
    assert right.value >= BAR
