import json

import pytest

from loci.errors import LociError
from loci.recipes import RECIPES, DataShape, make_recipe
from loci.training.plain_data import to_dict
from loci.training.plan import MixtureComponent, Recipe, Stage, recipe_from_dict

SHAPE = DataShape(n_lines=2937, n_questions=2000)


def stage(**changes):
    return Stage(**{"name": "pretrain", "mixture": (MixtureComponent("language-model"),), "steps": 5, **changes})


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_survives_json(name):
    recipe = make_recipe(name, SHAPE)
    assert recipe_from_dict(json.loads(json.dumps(to_dict(recipe)))) == recipe
    assert recipe.note


def test_the_published_recipe():
    pretrain, finetune = make_recipe("course-2021", SHAPE).stages
    assert (pretrain.epochs, pretrain.batch_size, pretrain.lr, pretrain.betas) == (650, 128, 6e-3, (0.9, 0.95))
    assert (pretrain.weight_decay, pretrain.clip, pretrain.warmup, pretrain.shuffle) == (0.1, 1.0, 512 * 20, False)
    assert pretrain.final_tokens == 200 * 2937 * 128
    assert make_recipe("course-2024", SHAPE).stages[0].final_tokens == 650 * 2937 * 128
    assert (finetune.epochs, finetune.batch_size, finetune.lr) == (10, 256, 6e-4)
    assert make_recipe("course-scratch", SHAPE).stages[0].epochs == 75


def test_unknown_recipes_list_the_known():
    with pytest.raises(LociError, match="course-2024"):
        make_recipe("course", SHAPE)


def test_overrides_reach_stage_model_and_seed():
    recipe = make_recipe("course-2021", SHAPE).override(
        [
            "pretrain.steps=7",
            "finetune.lr=0.1",
            "model.n_layer=2",
            "seed=5",
            "pretrain.schedule=cosine",
            "pretrain.lr=1",
        ]
    )
    assert (recipe.stages[0].steps, recipe.stages[0].epochs) == (7, None)
    assert (recipe.stages[1].lr, recipe.model["n_layer"], recipe.seed) == (0.1, 2, 5)
    assert (recipe.stages[0].schedule, recipe.stages[0].lr) == ("cosine", 1.0)


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("pretrain.epochs", "stage.field=value"),
        ("train.lr=1", "pretrain.FIELD"),
        ("pretrain.rate=1", "batch_size"),
        ("pretrain.lr=fast", "pretrain.lr must be a number, it is 'fast'"),
        ("pretrain.batch_size=1.5", "must be a whole number"),
        ("pretrain.shuffle=1", "must be true or false"),
        ("pretrain.schedule=linear", "must be one of course, cosine"),
        ("pretrain.lr=-1", "lr must be from 1e-30 to 1000, it is -1"),
        ("pretrain.steps=abc", r"pretrain.steps must be a whole number or null, it is 'abc'"),
        ("pretrain.steps=null", "the budget is exactly one of"),
        ("pretrain.betas=0.9", "pretrain.betas must be a list, it is 0.9"),
        ('pretrain.betas=[0.9, "x"]', "pretrain.betas must be a number, it is .*x"),
        ("seed=abc", "seed must be a whole number, it is 'abc'"),
        ("seed=-1", "a seed must be from 0 to"),
        ("seed=99999999999999999999", "a seed must be from 0 to"),
        ("pretrain.epochs=Infinity", "epochs must be from .* it is inf"),
        ("pretrain.betas=[2, 3]", "betas are from 0"),
        ("pretrain.lr=NaN", "lr must be from .* it is nan"),
        ("pretrain.batch_size=1000000000", "batch_size must be from 1 to 1e\\+06"),
        ("pretrain.betas=[0.9, NaN]", "betas are from 0"),
        ("model.up_scale=NaN", "model.up_scale must be a finite number"),
        ("pretrain.weight_decay=-1", "weight_decay must be from 0 to 1000"),
    ],
)
def test_bad_overrides_say_what_is_wrong(assignment, said):
    with pytest.raises(LociError, match=said):
        make_recipe("course-2021", SHAPE).override([assignment])


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": None},
        {"epochs": 3},
        {"steps": 0},
        {"name": "two words"},
        {"mixture": ()},
        {"schedule": "course"},
        {"floor": 2.0},
    ],
)
def test_impossible_stages_are_refused(changes):
    with pytest.raises(LociError):
        stage(**changes)


def test_minutes_are_split_by_time_shares():
    recipe = Recipe("r", {}, (stage(time_share=3), stage(name="finetune", time_share=1, steps=None, epochs=2)))
    assert [s.minutes for s in recipe.within(8).stages] == [6, 2]
    assert [s.characters for s in recipe.within(characters=1000).stages] == [750, 250]
    assert recipe.within() == recipe
    with pytest.raises(LociError, match="one budget"):
        recipe.within(1, characters=1)
    with pytest.raises(LociError, match="positive"):
        recipe.within(0)


def test_stage_names_are_distinct():
    with pytest.raises(LociError, match="distinct"):
        Recipe("r", {}, (stage(), stage()))
