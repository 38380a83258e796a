import json

import pytest

from loci.cli.main import main
from synthetic_runs import Vices, make_run, make_world


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    world = make_world(folder / "world", people=200)
    make_run(world, folder / "run", Vices(0.4, 1.5), steps=20)
    return folder


def test_a_page_and_a_table(folder, capsys):
    out = folder / "report.html"
    assert main(["report", str(folder / "run"), "--corpus", str(folder / "world"), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "held-out" in shown
    assert "birth_dev" in shown
    for column in ("best answer", "answered", "silent"):
        assert column in shown
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_same_seed_gives_the_same_numbers_and_json_writes_no_page(folder, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = []
    for _ in range(2):
        assert main(["report", str(folder / "run"), "--json", "--seed", "3"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["runs"][0]["name"] == "run"
    assert list(tmp_path.iterdir()) == []


def test_bad_rows_are_one_line_and_leave_no_page(tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"question": "q", "prediction": "a"}\n{"question": "q", "probability": 2}\n', encoding="utf-8")
    assert main(["report", str(rows), "--out", str(tmp_path / "r.html")]) == 2
    error = capsys.readouterr().err
    assert f"{rows}:2: field 'prediction' is missing" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "r.html").exists()
    assert main(["report", str(tmp_path / "absent"), "--out", str(tmp_path / "r.html")]) == 2
    assert "no such file" in capsys.readouterr().err
    for flag, value, said in (("--seed", "-1", "--seed must be from 0"), ("--window", "0", "--window must be from 1")):
        assert main(["report", str(rows), flag, value]) == 2
        assert said in capsys.readouterr().err
