"""Files that somebody edited, cut or filled with something else: one line each, and the others still work."""

import json
import shutil

import pytest
from lab_run import make_run

from loci.cli.main import main
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.run import start_run

STAGE = Stage("learn", (MixtureComponent("language-model"),), steps=1)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("broken") / "run"
    data = {"corpus": None, "corpus_hash": "c", "questions": None, "questions_hash": None}
    start_run(folder, Recipe("tiny", {}, (STAGE,)), data)
    make_run(folder / "final")
    return folder


@pytest.fixture
def questions(tmp_path):
    file = tmp_path / "dev.tsv"
    file.write_text("Where was Ada Lovelace born?\tLondon\nWhere was Bo Berg born?\tOslo\n", encoding="utf-8")
    return file


def error_of(capsys, *arguments):
    capsys.readouterr()
    assert main(list(map(str, arguments))) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    return error


CONFIGS = {
    "no hashes": (lambda config: config.pop("sha256"), "lacks the field 'sha256'"),
    "no vocabulary": (lambda config: config.pop("vocabulary"), "lacks the field 'vocabulary'"),
    "a model of another kind": (lambda config: config.update(model=[]), "field 'model' cannot be []"),
    "another width": (lambda config: config["model"].update(n_embd=64), "holds another model than config.json says"),
    "no such width": (lambda config: config["model"].update(n_embd=-1), "n_embd must be at least 1"),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_an_edited_checkpoint_is_named(name, run, questions, tmp_path, capsys):
    edit, said = CONFIGS[name]
    shutil.copytree(run, tmp_path / "run")
    file = tmp_path / "run" / "final" / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    edit(config)
    file.write_text(json.dumps(config), encoding="utf-8")
    error = error_of(capsys, "evaluate", tmp_path / "run", "--questions", questions)
    assert said in error
    assert "the checkpoint is damaged" in error


@pytest.mark.parametrize(
    ("text", "said"), [(b"[1]", "a JSON object"), (b"\xff\xfe", "UTF-8"), (b"{", "not valid JSON")]
)
def test_a_config_that_is_none_is_named(text, said, run, questions, tmp_path, capsys):
    shutil.copytree(run, tmp_path / "run")
    (tmp_path / "run" / "final" / "config.json").write_bytes(text)
    assert said in error_of(capsys, "evaluate", tmp_path / "run", "--questions", questions)


def test_one_broken_run_does_not_hide_the_others(run, tmp_path, capsys):
    for name in ("good", "no data", "empty"):
        shutil.copytree(run, tmp_path / name)
    about = json.loads((run / "run.json").read_text(encoding="utf-8"))
    del about["data"]
    (tmp_path / "no data" / "run.json").write_text(json.dumps(about), encoding="utf-8")
    (tmp_path / "empty" / "run.json").write_text("", encoding="utf-8")
    rows = [{"total_steps": 3, "loss": 1.5, "seconds": 60.0}, {}, []]
    lines = "".join(json.dumps(row) + "\n" for row in rows) + '{"total_st'
    (tmp_path / "good" / "metrics.jsonl").write_text(lines, encoding="utf-8")
    assert main(["runs", str(tmp_path), "--json"]) == 0
    captured = capsys.readouterr()
    (row,) = json.loads(captured.out)
    assert (row["run"], row["steps"]) == (str(tmp_path / "good"), 3)
    assert "lacks the field 'data'" in captured.err
    assert "not valid JSON" in captured.err
    assert "restore it, or train again" in error_of(capsys, "train", "--resume", "--out", tmp_path / "no data")


def test_a_run_without_a_checkpoint_says_how_to_go_on(run, questions, tmp_path, capsys):
    shutil.copytree(run, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "final")
    error = error_of(capsys, "evaluate", tmp_path / "run", "--questions", questions)
    assert "has no checkpoint yet" in error
    assert "--resume" in error


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (r'{"question": "Where?", "prediction": "\ud800x"}', "field 'prediction' has half a character"),
        ('{"question": "Where?", "prediction": "x", "probability": ' + "1" * 5000 + "}", "not valid JSON"),
        ('{"question": "Where?", "prediction": ' + "[" * 100_000, "not valid JSON"),
        ('[{"question": "Where?", "prediction": "x"}]', "is a JSON list"),
    ],
    ids=["surrogate", "digits", "depth", "list"],
)
def test_rows_that_nobody_could_hold_are_named(row, said, questions, tmp_path, capsys):
    file = tmp_path / "theirs.jsonl"
    file.write_text(row + "\n", encoding="utf-8")
    error = error_of(capsys, "evaluate", "--predictions", file, "--questions", questions)
    assert said in error
    assert "theirs.jsonl:1:" in error
