import json

import pytest

from loci.cli.main import main
from loci.cli.work import InterruptFlag
from loci.experiments import EXPERIMENTS, trials
from loci.experiments.abstain import run as abstain


@pytest.fixture
def tiny(monkeypatch):
    import dataclasses

    monkeypatch.setattr(trials, "QUICK_STEPS", 3)
    monkeypatch.setattr(trials, "QUICK_MODEL", {"n_layer": 1, "n_head": 2, "n_embd": 16})
    monkeypatch.setattr(abstain, "QUICK_WORLD", dataclasses.replace(abstain.QUICK_WORLD, people=46, paraphrases=1))


def test_the_experiments_are_listed(capsys):
    assert main(["experiment", "--json"]) == 0
    assert [row["experiment"] for row in json.loads(capsys.readouterr().out)] == list(EXPERIMENTS)
    assert main(["experiment"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in EXPERIMENTS)


@pytest.mark.slow
def test_a_quick_experiment_ends_with_tables_and_a_page(tiny, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["experiment", "abstain", "--quick", "--out", str(out)]) == 0
    shown = capsys.readouterr()
    assert "taught" in shown.out
    assert "no evidence" in shown.out
    assert str(out / "report.html").replace("\n", "") in shown.out.replace("\n", "")
    assert (out / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main(["experiment", "abstain", "--quick", "--out", str(out), "--json"]) == 0
    again = capsys.readouterr()
    assert json.loads(again.out) == json.loads((out / "results.json").read_text())
    assert "training" not in again.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["experiment", "nope"], ", ".join(EXPERIMENTS)),
        (["experiment", "recall"], "--data is missing"),
        (["experiment", "recall", "--parts", "storing"], "--labels is missing"),
        (["experiment", "abstain", "--seeds", "0"], "--seeds"),
        (["experiment", "abstain", "--budget", "-1"], "--budget"),
        (["experiment", "names", "--out", "FILE"], "is a file"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    assert main([str(tmp_path / "file") if word == "FILE" else word for word in arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_stopped_experiment_goes_on(tiny, tmp_path, monkeypatch, capsys):
    command = ["experiment", "abstain", "--quick", "--out", str(tmp_path / "out")]
    with monkeypatch.context() as during:
        during.setattr(InterruptFlag, "raised", True)
        assert main(command) == 130
    assert "the same command" in capsys.readouterr().out
    assert not (tmp_path / "out" / "report.html").exists()
    assert main(command) == 0
    assert "going on with: seed 0, reader" in capsys.readouterr().out
