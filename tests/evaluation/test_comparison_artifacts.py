"""What a run's folder adds to its rows: a calibration and a model, each only for its own weights."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from loci.answering.confidence import RunCalibration, Temperature, write_calibration
from loci.cli.main import main
from loci.evaluation.asking import ask_rows
from loci.evaluation.comparison.artifacts import Sources, load_entries
from loci.evaluation.comparison.comparison import compare
from loci.evaluation.error_kinds import ErrorClassifier, ErrorKind
from loci.evaluation.rows import read_rows, write_rows
from loci.pipeline import carry_out
from loci.report.comparison.page import comparison_report
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.world.spec import WorldSpec
from loci.text.world.writer import write_world
from loci.training.checkpoint import load_model
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.sources import TrainingData
from run_files import rewrite


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("artifacts")
    write_world(WorldSpec(people=60, outside=0.2, train_share=0.4, dev_share=0.4), folder / "world")
    return folder / "world"


@pytest.fixture
def run(world, tmp_path):
    stage = Stage("learn", (MixtureComponent("question-answer", "questions"),), steps=2, batch_size=8, lr=1e-2)
    model = {"n_layer": 1, "n_head": 2, "n_embd": 16, "block_size": 96, "positions": "rope"}
    data = TrainingData(Corpus.read(world), Questions.read(world / "birth_places_train.tsv"))
    carry_out(Recipe("tiny", model, (stage,)), data, tmp_path / "run")
    loaded = load_model(tmp_path / "run")
    for name in ("birth_dev", "birth_outside"):
        rows = ask_rows(loaded, Questions.read(world / f"{name}.tsv"))
        # Untrained answers are gibberish; real places make it possible to be the nearest name's.
        rows = [
            replace(row, prediction="London", silence=None, probability=0.1 + 0.8 * i / len(rows))
            for i, row in enumerate(rows)
        ]
        write_rows(tmp_path / "run" / "predictions" / f"{name}.jsonl", rows)
    return tmp_path / "run"


def keep(run, world, name, model=None):
    asked = Questions.read(world / f"{name}.tsv")
    fit = Temperature(2.0)
    weights = model or load_model(run).hash
    found = RunCalibration(fit, fit, None, 0.5, 0.6, weights, f"{name}.tsv", asked.hash, len(asked), 5, 0.2, 0.1)
    write_calibration(run, found)


def computed(run, world):
    return compare(load_entries([run], Sources(world)), np.random.default_rng(0))


def test_vectors_of_everyone_asked_wrongly_and_taught(run, world):
    taught = Questions.read(world / "birth_places_train.tsv").subjects
    (entry,) = load_entries([run])
    asked = {row.subject for row in entry.rows if not row.correct}
    assert set(entry.context.vectors) == asked | set(taught)
    assert {len(vector) for vector in entry.context.vectors.values()} == {16}
    assert entry.remarks == ()
    assert load_entries([run / "predictions" / "birth_dev.jsonl"], Sources(world))[0].context.vectors is None


def test_nobody_is_near_an_answer_that_was_not_given_and_old_rows_are_told_of(run):
    dev, outside = run / "predictions" / "birth_dev.jsonl", run / "predictions" / "birth_outside.jsonl"
    outside.unlink()
    given, *rows = sorted(read_rows(dev), key=lambda row: row.correct)
    write_rows(dev, [given, *(replace(row, silence="unsure") for row in rows)])
    (entry,) = load_entries([run])
    assert given.subject in entry.context.vectors
    assert not {row.subject for row in rows} & set(entry.context.vectors)
    assert entry.remarks == ()
    write_rows(dev, [replace(given, reasons=()), *rows])
    assert "what its threshold withholds" in load_entries([run])[0].remarks[0]


def test_files_that_changed_since_the_training_are_not_used(run, world, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("root. a secret of somebody else's .\n", encoding="utf-8")
    rewrite(run / "run.json", lambda info: info["data"].update(corpus=str(other), questions=str(other)))
    (entry,) = load_entries([run])
    assert entry.context.corpus is None
    assert entry.context.known == {}
    assert len(entry.remarks) == 2
    assert all("is not used" in remark for remark in entry.remarks)


def test_whom_a_run_was_taught_about_is_never_held_out(run, world):
    """A file called dev that holds train questions, and a file called train of another training."""
    loaded = load_model(run)
    train, dev = (Questions.read(world / f"{name}.tsv") for name in ("birth_places_train", "birth_dev"))
    write_rows(run / "predictions" / "birth_dev.jsonl", ask_rows(loaded, train))
    write_rows(run / "predictions" / "birth_places_train.jsonl", ask_rows(loaded, dev))
    (entry,) = load_entries([run])
    by_split = {split: {row.subject for row in entry.rows if row.split == split} for split in ("taught", "held-out")}
    assert by_split == {"taught": set(train.subjects), "held-out": set(dev.subjects)}


def test_the_comparison_uses_them_and_says_when_it_cannot(run, world):
    found = computed(run, world)
    context = found.entries[0].context
    assert context.vectors
    classified = ErrorClassifier(context.known, context.corpus, context.vectors).classify(found.entries[0].rows)
    by_chance = found.cards[0].nearest_name_by_chance["held-out"]
    members = [one.chance for one in classified if one.row.split == "held-out"]
    assert by_chance == pytest.approx(sum(members) / len(members))
    assert by_chance > 0
    text = comparison_report(found).page().html()
    assert "by spelling alone" not in text
    assert f">{ErrorKind.NEAREST_EMBEDDING.value}</th>" in text
    alone = computed(run / "predictions" / "birth_dev.jsonl", world)
    assert "by spelling alone" in comparison_report(alone).page().html()


def test_rows_of_other_weights_get_no_vectors_and_no_calibration(run, world):
    keep(run, world, "birth_dev")
    for file in (run / "predictions").iterdir():
        write_rows(file, [replace(row, model="other") for row in read_rows(file)])
    found = computed(run, world)
    assert found.entries[0].context.vectors is None
    assert found.entries[0].context.calibration is None
    assert len(found.remarks) == 2
    assert all(remark.startswith("run: ") and "other weights" in remark for remark in found.remarks)


def test_a_calibration_of_other_weights_is_not_used(run, world):
    keep(run, world, "birth_dev", model="other")
    found = computed(run, world)
    assert found.entries[0].context.calibration is None
    assert found.entries[0].context.vectors
    assert "other weights" in found.remarks[0]


def test_a_kept_calibration_is_used_and_said(run, world, capsys):
    keep(run, world, "birth_places_train")
    found = computed(run, world)
    assert found.entries[0].context.fitted_on == frozenset()
    assert found.cards[0].selective.own.after.rows == found.cards[0].selective.rows
    text = comparison_report(found).page().html()
    assert "by the run’s own calibration" in text
    assert "questions of birth_places_train.tsv" in text
    assert "0.5, its own" in text
    assert re.search(r", calibrated [^<]*%: withheld", text)
    assert main(["report", str(run), "--corpus", str(world), "--out", str(run / "page.html")]) == 0
    assert "run: with its calibration, fitted on birth_places_train.tsv" in capsys.readouterr().out
    assert main(["report", str(run), "--corpus", str(world), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["runs"][0]
    assert data["calibration"]["questions"] == "birth_places_train.tsv"
    assert data["selective"]["own"]["after"]["rows"] == data["selective"]["rows"]


def test_questions_it_was_fitted_on_do_not_judge_it(run, world):
    keep(run, world, "birth_dev")
    found = computed(run, world)
    assert found.entries[0].context.fitted_on == {q.text for q in Questions.read(world / "birth_dev.tsv")}
    assert found.cards[0].selective.own is None
    text = comparison_report(found).page().html()
    assert "cannot be judged by them" in text
    assert "by a temperature fitted on one half" in text
