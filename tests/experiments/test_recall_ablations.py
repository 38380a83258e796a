import dataclasses
from pathlib import Path

import pytest

from loci.errors import LociError
from loci.experiments.recall.ablations import LEVERS, storing_arms, variant_arms
from loci.experiments.recall.run import FOLDS, carry_out, dealt, read_results
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


def test_a_question_that_stands_twice_is_not_taught_while_it_is_asked():
    pairs = [(f"Where was P {number} born?", "Rome") for number in range(20)]
    rest, asked = dealt(Questions.from_pairs([*pairs, ("Where was P 1 born?", "Oslo")]), 0)
    assert "Where was P 1 born?" in [row.text for row in asked]
    assert not {row.text for row in rest} & {row.text for row in asked}
    with pytest.raises(LociError, match="3 questions cannot be dealt"):
        dealt(Questions.from_pairs(pairs[:3]), 0)


def test_one_stage_has_the_characters_of_all():
    (arm,) = (arm for arm in LEVERS if arm.name == "recite, one stage")
    whole = make_recipe("recite", DataShape(2937, 2000, named_answers=True))
    assert arm.change(whole).stages[0].characters == sum(stage.characters for stage in whole.stages)


OTHERS = ("vanilla", "synthesizer", "perceiver", "folded")
NOTHING = Path("nothing.tsv")
ARMS = [*LEVERS, *variant_arms("recite", OTHERS), *storing_arms(NOTHING, ("rope", *OTHERS))]


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_an_arm_changes_its_recipe_into_one_that_can_be_made(arm):
    whole = make_recipe(arm.recipe, DataShape(2937, 2000, named_answers=True))
    changed = arm.change(whole)
    assert (changed == whole) is (arm.shows == "the recipe")
    GPTConfig.from_dict({**changed.model, "vocab_size": 60})


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("recite", ("memorize.steps=2", "memorize.batch_size=4", "memorize.pool=2")),
        ("self-training", ("memorize.steps=2", "memorize.batch_size=4")),
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
    assert (first.faithful is None) is (name == "recite")
    assert carry_out(arm, given, asked, tmp_path / "run", **options) == first
    assert read_results(tmp_path) == [first]
    for changed, said in (
        ({"overrides": (*SMALL, *last, "seed=3", "read.lr=0.1")}, "holds another training"),
        ({"minutes": 1.0}, "holds another training"),
    ):
        with pytest.raises(LociError, match=said):
            carry_out(arm, given, asked, tmp_path / "run", **{**options, **changed})
    with pytest.raises(LociError, match="was asked other questions"):
        carry_out(arm, given, asked[:2], tmp_path / "run", **options)


def test_a_file_that_is_no_result_is_named(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "result.json").write_text("{}", encoding="utf-8")
    with pytest.raises(LociError, match=r"result.json.*is no result"):
        read_results(tmp_path)
