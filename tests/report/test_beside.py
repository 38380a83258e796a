"""What a run's folder adds to its rows: a calibration and a model, each only for its own weights."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from loci.answering.greedy import answer_questions
from loci.cli.main import main
from loci.evaluation.calibration import Temperature
from loci.evaluation.comparison.artifacts import look_beside
from loci.evaluation.comparison.comparison import study
from loci.evaluation.comparison.entries import read_entries, read_entry
from loci.evaluation.error_kinds import ErrorClassifier, Kind
from loci.evaluation.rows import read_predictions, write_predictions
from loci.evaluation.run_calibration import RunCalibration, write_calibration
from loci.pipeline import carry_out
from loci.report.comparison.page import comparison_page
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.world.spec import WorldSpec
from loci.text.world.writer import write_world
from loci.training.checkpoint import load_model
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.sources import TrainingData


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("beside")
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
        rows = answer_questions(loaded, Questions.read(world / f"{name}.tsv"))
        # Untrained answers are gibberish; real places make it possible to be a look-alike's.
        rows = [replace(row, prediction="London", probability=0.1 + 0.8 * i / len(rows)) for i, row in enumerate(rows)]
        write_predictions(tmp_path / "run" / "predictions" / f"{name}.jsonl", rows)
    return tmp_path / "run"


def keep(run, world, name, model=None):
    asked = Questions.read(world / f"{name}.tsv")
    fit = Temperature(2.0)
    weights = model or load_model(run).hash
    found = RunCalibration(fit, fit, None, 0.5, 0.6, weights, f"{name}.tsv", asked.hash, len(asked), 5, 0.2, 0.1)
    write_calibration(run, found)


def computed(run, world):
    return study(read_entries([run]), np.random.default_rng(0), corpus=world)


def test_vectors_of_everyone_asked_wrongly_and_taught(run, world):
    taught = {q.subject: q.text for q in Questions.read(world / "birth_places_train.tsv")}
    found = look_beside(read_entry(run), taught)
    asked = {row.subject for row in read_entry(run).rows if not row.correct}
    assert set(found.vectors) == asked | set(taught)
    assert {len(vector) for vector in found.vectors.values()} == {16}
    assert found.remarks == ()
    assert look_beside(read_entry(run), {}).vectors is None
    assert look_beside(read_entry(run / "predictions" / "birth_dev.jsonl"), taught).vectors is None


def test_the_study_judges_with_them_and_says_when_it_cannot(run, world):
    found = computed(run, world)
    context = found.contexts[0]
    assert context.vectors
    verdicts = ErrorClassifier(context.known, context.corpus, context.vectors).verdicts(found.entries[0].rows)
    by_chance = found.cards[0].look_alike_by_chance["held-out"]
    members = [v.chance for v in verdicts if v.row.split == "held-out"]
    assert by_chance == pytest.approx(sum(members) / len(members))
    assert by_chance > 0
    text = comparison_page(found).html()
    assert "by spelling alone" not in text
    assert f">{Kind.LOOK_ALIKE_VECTOR.value}</th>" in text
    alone = study(read_entries([run / "predictions" / "birth_dev.jsonl"]), np.random.default_rng(0), corpus=world)
    assert "by spelling alone" in comparison_page(alone).html()


def test_rows_of_other_weights_get_no_vectors_and_no_calibration(run, world):
    keep(run, world, "birth_dev")
    for file in (run / "predictions").iterdir():
        write_predictions(file, [replace(row, model="other") for row in read_predictions(file)])
    found = computed(run, world)
    assert found.contexts[0].vectors is None
    assert found.contexts[0].calibration is None
    assert len(found.remarks) == 2
    assert all(remark.startswith("run: ") and "other weights" in remark for remark in found.remarks)


def test_a_calibration_of_other_weights_is_not_used(run, world):
    keep(run, world, "birth_dev", model="other")
    found = computed(run, world)
    assert found.contexts[0].calibration is None
    assert found.contexts[0].vectors
    assert "other weights" in found.remarks[0]


def test_a_kept_calibration_is_used_and_said(run, world, capsys):
    keep(run, world, "birth_places_train")
    found = computed(run, world)
    assert found.contexts[0].fitted_on == frozenset()
    assert found.cards[0].trust.kept.after.rows == found.cards[0].trust.rows
    text = comparison_page(found).html()
    assert "by the calibration the run keeps" in text
    assert "questions of birth_places_train.tsv" in text
    assert "0.5, its own" in text
    assert re.search(r", calibrated [^<]*%: withheld", text)
    assert main(["report", str(run), "--corpus", str(world), "--out", str(run / "page.html")]) == 0
    assert "run: with its calibration, fitted on birth_places_train.tsv" in capsys.readouterr().out
    assert main(["report", str(run), "--corpus", str(world), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["runs"][0]
    assert data["calibration"]["questions"] == "birth_places_train.tsv"
    assert data["trust"]["kept"]["after"]["rows"] == data["trust"]["rows"]


def test_questions_it_was_fitted_on_do_not_judge_it(run, world):
    keep(run, world, "birth_dev")
    found = computed(run, world)
    assert found.contexts[0].fitted_on == {q.text for q in Questions.read(world / "birth_dev.tsv")}
    assert found.cards[0].trust.kept is None
    text = comparison_page(found).html()
    assert "cannot be judged by them" in text
    assert "by a temperature fitted on one half" in text
