"""Files that somebody edited, cut or filled with something else: one line each, and the others still work."""

import json
import shutil

import numpy as np
import pytest
from lab_run import make_run

import loci
from loci.cli.main import main
from loci.errors import LociError
from loci.training.checkpoint import FORMAT, load_model
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.run import read_run, start_run
from run_files import record, rewrite

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
    "no vocabulary": (lambda config: config.pop("vocabulary"), "missing required field vocabulary"),
    "another vocabulary": (lambda config: config["vocabulary"].pop(), "symbols, and the model has"),
    "a model of another kind": (lambda config: config.update(model=[]), "model: Expected object, got array"),
    "another width": (lambda config: config["model"].update(n_embd=18), "holds another model than config.json says"),
    "no such width": (lambda config: config["model"].update(n_embd=-1), "n_embd must be at least 1"),
    "a giant": (lambda config: config["model"].update(n_layer=900), "numbers, fewer than the model"),
    "a wide giant": (lambda config: config["model"].update(n_embd=900_000), "numbers, fewer than the model"),
    "a field of tomorrow": (lambda config: config.update(colour="red"), "unknown field colour"),
    "a share of a step": (lambda config: config.update(total_steps=1.5), "total_steps: Expected int"),
    "no template": (
        lambda config: config.update(relations=[{"name": "born", "templates": ["Where?"]}]),
        "{subject} exactly once",
    ),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_an_edited_checkpoint_is_named(name, run, questions, tmp_path, capsys):
    edit, said = CONFIGS[name]
    shutil.copytree(run, tmp_path / "run")
    rewrite(tmp_path / "run" / "final" / "config.json", edit)
    error = error_of(capsys, "evaluate", tmp_path / "run", "--questions", questions)
    assert said in error
    assert "the checkpoint is damaged" in error


@pytest.mark.parametrize(("text", "said"), [(b"[1]", "Expected object"), (b"\xff\xfe", "cannot be read"), (b"{", "")])
def test_a_config_that_is_none_is_named(text, said, run, questions, tmp_path, capsys):
    shutil.copytree(run, tmp_path / "run")
    file = tmp_path / "run" / "final" / "config.json"
    file.write_bytes(text)
    assert "does not match its recorded hash" in error_of(
        capsys, "evaluate", tmp_path / "run", "--questions", questions
    )
    record(file)
    assert said in error_of(capsys, "evaluate", tmp_path / "run", "--questions", questions)


def test_no_flipped_bit_gives_a_model_of_another_meaning(run, tmp_path):
    rng = np.random.default_rng(0)
    shutil.copytree(run, tmp_path / "run")
    folders = [(tmp_path / "run" / "final", load_model), (tmp_path / "run", read_run)]
    for file, read in ((file, read) for folder, read in folders for file in folder.iterdir() if file.is_file()):
        whole = file.read_bytes()
        for _ in range(40):
            at, bit = int(rng.integers(len(whole))), 1 << int(rng.integers(8))
            file.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
            with pytest.raises(LociError):
                read(file.parent)
        file.write_bytes(whole)
        read(file.parent)


def test_an_older_format_is_refused_in_one_line(run, questions, tmp_path, capsys):
    shutil.copytree(run, tmp_path / "run")
    manifest = tmp_path / "run" / "final" / "manifest.json"
    manifest.write_text(
        manifest.read_text().replace(f'"format": {FORMAT}', f'"format": {FORMAT - 1}'), encoding="utf-8"
    )
    error = error_of(capsys, "evaluate", tmp_path / "run", "--questions", questions)
    assert f"checkpoint format {FORMAT - 1}, this Loci reads {FORMAT}" in error
    manifest.unlink()
    error = error_of(capsys, "evaluate", tmp_path / "run", "--questions", questions)
    assert "has no manifest.json: an older Loci wrote it" in error


def test_one_broken_run_does_not_hide_the_others(run, tmp_path, capsys):
    for name in ("good", "no data", "empty"):
        shutil.copytree(run, tmp_path / name)
    rewrite(tmp_path / "no data" / "run.json", lambda about: about.pop("data"))
    (tmp_path / "empty" / "run.json").write_text("", encoding="utf-8")
    row = {"stage": "learn", "step": 3, "progress": 1.0, "shaping": 0.0, "lr": 0.1, "characters": 9, "seconds": 60.0}
    rows = [{**row, "total_steps": 3, "loss": 1.5}, {**row, "total_steps": 4, "loss": "low"}, {}, []]
    lines = "".join(json.dumps(row) + "\n" for row in rows) + '{"total_st'
    (tmp_path / "good" / "metrics.jsonl").write_text(lines, encoding="utf-8")
    assert main(["runs", str(tmp_path), "--json"]) == 0
    captured = capsys.readouterr()
    (found,) = json.loads(captured.out)
    assert (found["run"], found["steps"]) == (str(tmp_path / "good"), 3)
    assert "missing required field data" in captured.err
    assert "does not match its recorded hash" in captured.err
    assert "restore it, or train again" in error_of(capsys, "train", "--resume", "--out", tmp_path / "no data")


def test_a_file_that_a_strangers_run_names_is_not_shown(run, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("Ada Lovelace. Her secret is 1815 .\n", encoding="utf-8")
    shutil.copytree(run, tmp_path / "run")
    rewrite(tmp_path / "run" / "run.json", lambda about: about["data"].update(corpus=str(secret)))
    assert read_run(tmp_path / "run").corpus() is None
    asker = loci.load(tmp_path / "run")
    assert "secret" not in str(asker.ask("Where was Ada Lovelace born?", threshold=0.0))


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
