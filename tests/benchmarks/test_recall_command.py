"""The recall and reading benchmarks on a small world: what they train, where they put it, and what they refuse."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from loci.errors import LociError
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.world import WorldSpec, write_world

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SMALL = (
    "model.n_layer=1",
    "model.n_head=2",
    "model.n_embd=16",
    "read.steps=2",
    "read.batch_size=4",
    "memorize.steps=2",
    "memorize.batch_size=4",
)


def _main_of(name):
    spec = importlib.util.spec_from_file_location(f"{name}_benchmark", BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.main


@pytest.fixture(scope="module")
def main():
    return _main_of("recall")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_world(WorldSpec(people=40, train_share=0.5), tmp_path_factory.mktemp("world") / "w").folder


def test_a_slice_and_dev_lie_side_by_side_and_are_shown_together(main, world, tmp_path, capsys):
    options = {"data": world, "out": tmp_path, "recipes": ("self-training",), "seeds": 1, "set": SMALL, "json": True}
    main("final", **options)
    main("final", dev=True, **options)
    folders = sorted(path.name for path in (tmp_path / "final").iterdir())
    assert folders == ["self-training-dev-seed0", "self-training-fold0-seed0"]
    capsys.readouterr()
    main("page", out=tmp_path, json=True)
    figures = json.loads(capsys.readouterr().out)["final"]
    assert {one["asked"] for one in figures} == {"dev", "the first fifth of train"}
    assert (tmp_path / "recall.html").is_file()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"what": "page"}, "holds no results"),
        ({"what": "final"}, "--data is missing"),
        ({"what": "storing", "data": "world"}, "--studied is missing"),
        ({"what": "final", "seeds": 0, "data": "world"}, "--seeds must be at least 1"),
        ({"what": "final", "data": "."}, "no file of train questions in this folder"),
        ({"what": "levers", "data": "world", "only": ("recite, upside down",)}, "no arm is called"),
    ],
)
def test_what_cannot_be_done_is_said(main, world, tmp_path, options, said):
    options = dict(options)
    (tmp_path / "corpus.txt").write_text("Ann Lee. Born in Rome .\n", encoding="utf-8")
    if "data" in options:
        options["data"] = world if options["data"] == "world" else tmp_path
    with pytest.raises(LociError, match=said):
        main(options.pop("what"), out=tmp_path / "out", **options)


def test_other_attention_learns_by_heart_what_one_reader_wrote(main, world, tmp_path, capsys):
    lesson = tmp_path / "lesson.tsv"
    people = Questions.read(world / "birth_places_train.tsv")
    Questions.from_pairs([(row.text, "Rome") for row in people]).write(lesson)
    options = {"data": world, "out": tmp_path / "out", "seeds": 1, "only": ("storing, synthesizer",)}
    small = {"minutes": None, "set": tuple(change for change in SMALL if not change.startswith("read")), "json": True}
    main("storing", studied=lesson, **options, **small)
    run = tmp_path / "out" / "storing" / "storing-synthesizer-fold0-seed0"
    assert Questions.read(run / "pseudo_labels.tsv").hash == Questions.read(lesson).hash
    assert json.loads((run / "result.json").read_text(encoding="utf-8"))["faithful"][1] == 4
    capsys.readouterr()
    main("page", out=tmp_path / "out")
    assert "Storing without reading" in capsys.readouterr().out
    Questions.from_pairs([(row.text, "Oslo") for row in people]).write(lesson)
    with pytest.raises(LociError, match="written by another reader"):
        main("storing", studied=lesson, **options, **small)


def test_a_reader_a_fold_writes_answers_both_ways(world, tmp_path, capsys):
    options = {"data": world, "out": tmp_path, "folds": (0, 3), "minutes": 0.01, "json": True}
    _main_of("reading")(set=SMALL[:3], **options)
    figures = json.loads(capsys.readouterr().out)
    assert figures == json.loads((tmp_path / "reading.json").read_text(encoding="utf-8"))
    assert list(figures) == ["fold 0", "fold 3", "all"]
    for count in ("n", "right_by_reading", "right_by_habit"):
        assert figures["all"][count] == figures["fold 0"][count] + figures["fold 3"][count]
    assert figures["all"]["n"] == 2 * 20 // 5
    lesson = Questions.read(tmp_path / "fold3-0.01min-seed0" / "pseudo_labels.tsv")
    people = {line.subject for line in Corpus.read(world)}  # everybody: held back, taught, and never asked about
    assert {row.subject for row in lesson} == people
    readers = sorted(tmp_path.glob("fold*"))
    assert [path.name for path in readers] == ["fold0-0.01min-seed0", "fold3-0.01min-seed0"]
