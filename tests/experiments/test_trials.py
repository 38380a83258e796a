import dataclasses
import shutil
from pathlib import Path

import pytest
from small import SMALL_ABSTAIN, small_recipe

from loci.errors import LociError
from loci.experiments import EXPERIMENTS
from loci.experiments.trials import (
    QUICK_MODEL,
    QUICK_STEPS,
    Hooks,
    Settings,
    Stopped,
    keep_world,
    open_folder,
    trial,
)
from loci.recipes import DataShape
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.training.sources import TrainingData


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    world = keep_world(SMALL_ABSTAIN, tmp_path_factory.mktemp("trials") / "world")
    return TrainingData(Corpus.read(world), Questions.read(world / "birth_places_train.tsv"))


def recipe(steps=3):
    whole = small_recipe(DataShape(10, 10))
    return whole.with_stages(lambda stage: stage.with_budget(steps=steps))


def test_a_finished_training_is_not_repeated(data, tmp_path):
    said = []
    hooks = Hooks(say=said.append)
    first = tmp_path / "first"
    model = trial(recipe(), data, first, "one", hooks)
    again = trial(recipe(), data, first, "one", hooks)
    assert again.hash == model.hash
    assert said == ["training: one"]
    with pytest.raises(LociError, match="another training"):
        trial(recipe(4), data, first, "one", hooks)


def test_a_stopped_training_goes_on_to_the_same_model(data, tmp_path):
    calls = iter([False, True])
    stopping = Hooks(should_stop=lambda: next(calls, False))
    first = tmp_path / "stopped"
    with pytest.raises(Stopped):
        trial(recipe(), data, first, "one", stopping)
    said = []
    resumed = trial(recipe(), data, first, "one", Hooks(say=said.append))
    whole = tmp_path / "whole"
    assert said == ["going on with: one"]
    assert resumed.hash == trial(recipe(), data, whole, "one", Hooks()).hash


def test_a_folder_belongs_to_one_experiment_but_seeds_may_be_added(tmp_path):
    out = tmp_path / "out"
    open_folder(out, "names", Settings(seeds=1))
    open_folder(out, "names", Settings(seeds=3))
    for name, settings in (
        ("abstain", Settings()),
        ("names", Settings(budget=2.0)),
        ("names", Settings(quick=True)),
    ):
        with pytest.raises(LociError, match="holds an experiment"):
            open_folder(out, name, settings)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(LociError, match="not empty"):
        open_folder(tmp_path / "mine", "names", Settings())
    with pytest.raises(LociError, match="is a file"):
        open_folder(tmp_path / "mine" / "thesis.txt", "names", Settings())


def test_what_is_said_of_damaged_settings_helps(tmp_path):
    out = tmp_path / "out"
    open_folder(out, "names", Settings(seeds=1))
    (out / "experiment.json").write_text("{")
    with pytest.raises(LociError, match=r"experiment.json: cannot be read: .*\(remove its folder, or choose another"):
        open_folder(out, "names", Settings(seeds=1))
    shutil.rmtree(out)
    open_folder(out, "names", Settings(seeds=1))


def test_another_world_is_not_overwritten(tmp_path):
    keep_world(SMALL_ABSTAIN, tmp_path / "world")
    keep_world(SMALL_ABSTAIN, tmp_path / "world")
    with pytest.raises(LociError, match="another world"):
        keep_world(dataclasses.replace(SMALL_ABSTAIN, seed=5), tmp_path / "world")


def test_settings_reach_the_recipe():
    quick = Settings(quick=True).budgeted(recipe(), 7)
    assert quick.seed == 7
    assert dict(quick.model) == {**recipe().model, **QUICK_MODEL}
    assert {stage.steps for stage in quick.stages} == {QUICK_STEPS}
    assert Settings().budgeted(recipe(), 0) == recipe()
    assert [stage.steps for stage in Settings(budget=2.0).budgeted(recipe(), 0).stages] == [6, 6]
    characters = recipe().with_stages(lambda stage: stage.with_budget(characters=100.0))
    assert {stage.characters for stage in Settings(budget=0.5).budgeted(characters, 0).stages} == {50.0}
    assert [
        len(Settings(seeds=seeds, quick=q).every_seed) for seeds, q in ((None, False), (None, True), (5, True))
    ] == [
        3,
        1,
        5,
    ]
    for wrong in ({"seeds": 0}, {"budget": 0.0}):
        with pytest.raises(LociError):
            Settings(**wrong)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_options_a_run_and_a_result_of_its_own(name):
    module = EXPERIMENTS[name].load()
    assert callable(module.run)
    assert dataclasses.is_dataclass(module.Options())
    folder = Path(module.__file__).parent
    assert {"run.py", "result.py", "page.py"} <= {file.name for file in folder.iterdir()}


def test_an_unknown_experiment_suggests_the_nearest():
    with pytest.raises(LociError, match="did you mean 'abstain'"):
        EXPERIMENTS["abstian"]
