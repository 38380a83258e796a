import dataclasses

import pytest

from loci.errors import LociError
from loci.experiments.recall import FOLDS, LEVERS, carry_out, dealt, read_results, variant_arms
from loci.model import GPTConfig
from loci.recipes import DataShape, make_recipe
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.world import WorldSpec, write_world
from loci.training.sources import TrainingData

SMALL = ("model.n_layer=1", "model.n_head=2", "model.n_embd=16", "read.steps=2", "read.batch_size=4", "read.pool=2")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = write_world(WorldSpec(people=30, train_share=0.5), tmp_path_factory.mktemp("world") / "w").folder
    return TrainingData(Corpus.read(folder), Questions.read(folder / "birth_places_train.tsv"))


def test_every_question_is_held_back_once(data):
    held = [dealt(data.questions, fold) for fold in range(FOLDS)]
    assert [row for _, asked in held for row in asked] == list(data.questions)
    for rest, asked in held:
        assert len(rest) + len(asked) == len(data.questions)
        assert not {row.text for row in rest} & {row.text for row in asked}
    with pytest.raises(LociError, match="folds 0 to 4"):
        dealt(data.questions, FOLDS)


ARMS = [*LEVERS, *variant_arms("strict", ("vanilla", "synthesizer", "perceiver", "folded"))]


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_an_arm_changes_its_recipe_into_one_that_can_be_made(arm):
    whole = make_recipe(arm.recipe, DataShape(2937, 2000, named_answers=True))
    changed = arm.change(whole)
    assert (changed == whole) is (arm.shows == "the recipe")
    GPTConfig.from_dict({**changed.model, "vocab_size": 60})


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("strict", ("memorise.steps=2", "memorise.batch_size=4", "memorise.pool=2")),
        ("self-study", ("study.steps=2", "study.batch_size=4")),
    ],
)
def test_an_arm_is_trained_once_asked_and_its_points_are_followed(name, last, data, tmp_path):
    arm = next(arm for arm in LEVERS if arm.name == name)
    taught, asked = dealt(data.questions, 0)
    given = dataclasses.replace(data, questions=taught)
    options = {"what": "levers", "named": "a fifth", "seed": 1, "minutes": None, "overrides": (*SMALL, *last)}
    first = carry_out(arm, given, asked, tmp_path / "run", **options)
    assert [row.question for row in first.rows] == [row.text for row in asked]
    kept = [left for _, left, _ in first.waterfall]
    assert kept == sorted(kept, reverse=True)
    assert first.waterfall[0] == ("asked", len(asked), len(asked))
    assert first.waterfall[1] == ("in the corpus", len(asked), len(asked))
    assert (first.faithful is None) is (name == "strict")
    assert carry_out(arm, given, asked, tmp_path / "run", **options) == first
    assert read_results(tmp_path) == [first]
