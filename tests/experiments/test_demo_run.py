import json

import pytest

from loci.cli.main import main
from loci.evaluation.rows import read_rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "demo"
    assert main(["demo", "--out", str(out), "--minutes", "0.05"]) == 0
    return out


def test_the_demo_leaves_a_world_three_runs_and_a_report(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    rows = read_rows(folder / "self-training" / "predictions" / "birth_dev.jsonl")
    assert len(rows) == 120
    assert page.count("Where was ") >= 10
    assert "most common place" in page
    assert "no pretraining" in page
    assert "self-training" in page
    assert "<mark>" in page
    for run in ("demo", "demo-scratch", "self-training"):
        assert (folder / run / "final" / "config.json").exists()


def test_bad_flags_leave_an_earlier_demo_alone(folder, capsys):
    before = sorted(path.name for path in folder.iterdir())
    for flag, value in (("--minutes", "0"), ("--minutes", "-1"), ("--seed", "-1")):
        assert main(["demo", "--out", str(folder), flag, value]) == 2
        assert f"it is {value}" in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == before


def test_held_out_people_are_in_no_train_question(folder):
    dev = {row.question for row in read_rows(folder / "self-training" / "predictions" / "birth_dev.jsonl")}
    train = {line.split("\t")[0] for line in (folder / "world" / "birth_places_train.tsv").read_text().splitlines()}
    assert len(train) == 120
    assert not dev & train


def test_a_second_demo_replaces_the_first_and_nothing_else(folder, capsys):
    assert main(["demo", "--out", str(folder), "--minutes", "0.02", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    names = [row["system"] for row in result["systems"]]
    assert names == ["most common place", "no pretraining", "pretrained", "self-training"]
    other = folder.parent / "mine"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    assert main(["demo", "--out", str(other)]) == 2
    assert (other / "thesis.txt").read_text() == "years of work"


@pytest.mark.slow
def test_pretraining_pays_and_self_study_pays_more(tmp_path, capsys):
    """The demo as `make demo` runs it, four minutes on two cores."""
    assert main(["demo", "--out", str(tmp_path / "demo"), "--json"]) == 0
    *baselines, pretrained, studied = json.loads(capsys.readouterr().out)["systems"]
    assert pretrained["correct"] >= 2 * max(row["correct"] for row in baselines)
    assert studied["correct"] >= 1.5 * pretrained["correct"]
