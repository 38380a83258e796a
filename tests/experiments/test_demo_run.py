import json

import pytest

from loci.cli.main import main
from loci.evaluation.rows import read_rows
from loci.experiments import trials
from loci.pipeline import familiarity


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "demo"
    with pytest.MonkeyPatch.context() as during:
        during.setattr(trials, "QUICK_STEPS", 5)
        during.setattr(familiarity, "DRAWN", 30)
        assert main(["demo", "--quick", "--out", str(out)]) == 0
    return out


def contents(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


RUNS = ("demo-scratch", "demo", "demo-self-training")


def test_the_demo_leaves_a_world_three_runs_and_a_report_about_everybody(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("Where was ") >= 10
    for words in ("most common place", "no pretraining", "self-training", "<mark>", "never read about: answered"):
        assert words in page
    for run in RUNS:
        assert (folder / run / "final" / "config.json").exists()
        for name, split, n in (
            ("birth_places_train", "taught", 80),
            ("birth_dev", "held-out", 60),
            ("birth_outside", "never-read", 40),
        ):
            rows = read_rows(folder / run / "predictions" / f"{name}.jsonl")
            assert (len(rows), {row.split for row in rows}) == (n, {split})


def test_nobody_is_in_two_groups(folder):
    groups = [
        {row.subject for row in read_rows(folder / RUNS[-1] / "predictions" / f"{name}.jsonl")}
        for name in ("birth_places_train", "birth_dev", "birth_outside")
    ]
    assert len(set.union(*groups)) == sum(map(len, groups)) == 180


def test_nothing_is_done_twice_and_nothing_is_ever_replaced(folder, capsys, monkeypatch):
    monkeypatch.setattr(trials, "QUICK_STEPS", 5)
    weights = {path: time for path, time in contents(folder).items() if path.name.endswith(".safetensors")}
    assert main(["demo", "--quick", "--out", str(folder), "--json"]) == 0
    shown = capsys.readouterr()
    assert "training" not in shown.err
    names = [row["name"] for row in json.loads(shown.out)["systems"]]
    assert names == ["most common place", "no pretraining", "pretrained", "self-training"]
    assert weights == {path: contents(folder)[path] for path in weights}
    before = contents(folder)
    for flags, said in (
        (["--seed", "1"], "seed 0, not 1"),
        ([], "quick True, not False"),
        (["--seed", "-1"], "it is -1"),
    ):
        assert main(["demo", "--out", str(folder), *flags, *(["--quick"] if flags else [])]) == 2
        assert said in capsys.readouterr().err
    assert contents(folder) == before
    (folder.parent / "mine").mkdir()
    (folder.parent / "mine" / "experiment.json").write_text("{}")
    assert main(["demo", "--out", str(folder.parent / "mine")]) == 2
    assert [path.name for path in (folder.parent / "mine").iterdir()] == ["experiment.json"]


@pytest.mark.slow
def test_pretraining_helps_and_self_training_more(tmp_path, capsys):
    """The demo as `make demo` runs it, five minutes on two cores."""
    assert main(["demo", "--out", str(tmp_path / "demo"), "--json"]) == 0
    *baselines, pretrained, trained = (
        row["held_out"]["successes"] for row in json.loads(capsys.readouterr().out)["systems"]
    )
    assert pretrained >= 3 * max(baselines)
    assert trained >= 57  # 95 % of 60
