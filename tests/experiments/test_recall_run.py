import dataclasses
import json
from pathlib import Path

import pytest

from loci.cli.main import main
from loci.errors import LociError
from loci.experiments.recall.ablations import ABLATIONS, storing, variants
from loci.experiments.recall.result import RESULT, read_results
from loci.experiments.recall.run import FOLDS, Options, held_back, run
from loci.experiments.trials import Hooks
from loci.model import GPTConfig
from loci.recipes import DataShape, make_recipe
from loci.text.questions import Questions
from loci.text.world import WorldSpec, write_world
from loci.training.sources import TrainingData

SMALL = (
    *("model.n_layer=1", "model.n_head=2", "model.n_embd=16", "read.steps=2", "read.batch_size=4", "read.pool=2"),
    *("memorize.steps=2", "memorize.batch_size=4", "memorize.pool=2"),
)
STEPS = tuple(change for change in SMALL if not change.startswith("read"))


@pytest.fixture(autouse=True)
def few_strangers(monkeypatch):
    monkeypatch.setattr("loci.experiments.recall.run.PEOPLE", 20)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(WorldSpec(people=40, train_share=0.5), tmp_path_factory.mktemp("world") / "w").folder


@pytest.fixture(scope="module")
def questions(world):
    return TrainingData.read(world).questions


def test_every_question_is_held_back_once(questions):
    folds = [held_back(questions, fold) for fold in range(FOLDS)]
    assert [row for _, asked in folds for row in asked] == list(questions)
    for rest, asked in folds:
        assert len(rest) + len(asked) == len(questions)
        assert not {row.text for row in rest} & {row.text for row in asked}
    with pytest.raises(LociError, match="folds 0 to 4"):
        held_back(questions, FOLDS)


def test_a_question_that_stands_twice_is_not_taught_while_it_is_asked():
    pairs = [(f"Where was P {number} born?", "Rome") for number in range(20)]
    rest, asked = held_back(Questions.from_pairs([*pairs, ("Where was P 1 born?", "Oslo")]), 0)
    assert "Where was P 1 born?" in [row.text for row in asked]
    assert not {row.text for row in rest} & {row.text for row in asked}
    with pytest.raises(LociError, match="3 questions are too few"):
        held_back(Questions.from_pairs(pairs[:3]), 0)


@pytest.mark.parametrize(
    "one",
    [*ABLATIONS, *variants("recite"), *storing(Path("labels.tsv"))],
    ids=lambda one: one.name,
)
def test_an_ablation_changes_its_recipe_into_one_that_can_be_made(one):
    whole = make_recipe(one.recipe, DataShape(2937, 2000, named_answers=True))
    changed = one.change(whole)
    assert (changed == whole) is (one.shows == "the recipe")
    GPTConfig.from_dict({**changed.model, "vocab_size": 60})
    if one.name == "recite, one stage":
        assert changed.stages[0].characters == sum(stage.characters for stage in whole.stages)


def options(world, **changes):
    return Options(**{"seeds": 1, "data": world, "recipes": ("self-training",), "set": SMALL, **changes})


@pytest.mark.slow
def test_a_training_is_done_once_asked_about_everybody_and_its_questions_are_followed(world, tmp_path):
    said = []
    hooks = Hooks(say=said.append)
    for recipe in ("recite", "self-training"):
        run(tmp_path, options(world, recipes=(recipe,), seeds=2), hooks)
    assert len(said) == 4
    found = read_results(tmp_path)
    assert [(m.name, m.seed) for m in found] == [(name, s) for name in ("recite", "self-training") for s in (0, 1)]
    for one in found:
        asked = [row for row in one.rows if row.split == "held-out"]
        assert len(asked) == len([row for row in one.rows if row.split == "taught"]) // 4
        assert len([row for row in one.rows if row.split == "never-read"]) == 20
        kept = [left for _, left, _ in one.funnel]
        assert kept == sorted(kept, reverse=True)
        assert one.funnel[:2] == (("asked", len(asked), len(asked)), ("in the corpus", len(asked), len(asked)))
        assert (one.labels is None) is (one.faithful is None) is (one.name == "recite")
    run(tmp_path, options(world, seeds=2), hooks)
    assert len(said) == 4
    assert read_results(tmp_path) == found
    with pytest.raises(LociError, match="holds another training"):
        run(tmp_path, options(world, set=(*SMALL, "read.lr=0.1")))
    (result,) = (tmp_path / "recipes").glob("self-training*seed0")
    kept = json.loads((result / RESULT).read_text(encoding="utf-8"))
    (result / RESULT).write_text(json.dumps({**kept, "asked_hash": "other"}), encoding="utf-8")
    with pytest.raises(LociError, match="was asked other questions"):
        run(tmp_path, options(world))
    (result / RESULT).write_text("{}", encoding="utf-8")
    with pytest.raises(LociError, match=r"result.json: cannot be read: .*part"):
        read_results(tmp_path)


def test_a_fold_and_dev_lie_side_by_side_and_are_shown_together(world, tmp_path, capsys):
    out = tmp_path / "out"
    flags = ["--data", str(world), "--out", str(out), "--recipes", "self-training", "--seeds", "1", "--set", *SMALL]
    assert main(["experiment", "recall", *flags, "--json"]) == 0
    assert main(["experiment", "recall", *flags, "--dev", "--json"]) == 0
    folders = sorted(path.name for path in (out / "recipes").iterdir())
    assert folders == ["self-training-dev-seed0", "self-training-fold-0-seed0"]
    capsys.readouterr()
    assert main(["experiment", "recall", "--out", str(out), "--parts", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["recipes"]
    assert {one["asked"] for one in figures} == {"dev", "fold 0"}
    assert (out / "report.html").is_file()


def test_other_attention_memorizes_what_one_reader_wrote(world, questions, tmp_path):
    labels = tmp_path / "labels.tsv"
    Questions.from_pairs([(row.text, "Rome") for row in questions]).write(labels)
    some = options(world, parts=("storing",), labels=labels, only=("storing, synthesizer",), set=STEPS)
    report = run(tmp_path / "out", some)
    (result,) = read_results(tmp_path / "out")
    assert result.faithful[1] == result.labels[1] == 4
    assert report.sections[-1].title == "Storing without reading"
    (folder,) = (tmp_path / "out" / "storing").iterdir()
    assert Questions.read(folder / "pseudo_labels.tsv").hash == Questions.read(labels).hash


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"parts": ()}, "holds no results"),
        ({"data": None}, "--data is missing"),
        ({"parts": ("storing",)}, "--labels is missing"),
        ({"parts": ("ablations",), "only": ("recite, upside down",)}, "no such ablation"),
        ({"fold": 9}, "folds 0 to 4"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is(world, tmp_path, changes, said):
    with pytest.raises(LociError, match=said):
        run(tmp_path / "out", options(world, **changes))
    assert not (tmp_path / "out").exists()


def test_a_folder_without_train_questions(tmp_path):
    (tmp_path / "corpus.txt").write_text("Ann Lee. Born in Rome .\n", encoding="utf-8")
    with pytest.raises(LociError, match="no file of train questions"):
        run(tmp_path / "out", dataclasses.replace(options(tmp_path)))
