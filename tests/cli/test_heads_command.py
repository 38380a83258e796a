import json

import pytest
from lab_run import make_run

from loci.cli.main import main

ROWS = [("The", 2, "det"), ("dog", 3, "nsubj"), ("saw", 0, "root"), ("a", 5, "det"), ("cat", 3, "obj")]


@pytest.fixture
def treebank(tmp_path):
    words = "\n".join(f"{i}\t{form}\t_\t_\t_\t_\t{head}\t{rel}\t_\t_" for i, (form, head, rel) in enumerate(ROWS, 1))
    strange = "1\tZoë\t_\t_\t_\t_\t0\troot\t_\t_"
    path = tmp_path / "bank.conllu"
    path.write_text("\n\n".join([words] * 20 + [strange]) + "\n\n", encoding="utf-8")
    return path


def test_heads_are_scored_and_what_was_left_out_is_said(capsys, tmp_path, treebank):
    run = make_run(tmp_path / "run")
    page = tmp_path / "heads.html"
    assert (
        main(["heads", str(run), "--conllu", str(treebank), "--seeds", "1", "--least", "20", "--out", str(page)]) == 0
    )
    out = capsys.readouterr().out
    assert "20 sentences read; left out: 1 with unknown characters, 0 too long" in out
    assert "nsubj" in out
    assert page.is_file()


def test_json(capsys, tmp_path, treebank):
    run = make_run(tmp_path / "run")
    flags = ["--conllu", str(treebank), "--seeds", "1", "--unknown", "mask", "--least", "20", "--json"]
    assert main(["heads", str(run), *flags]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["sentences"] == {"read": 21, "unknown": 0, "too_long": 0, "masked_characters": 1, "respelt": 0}
    assert {row["relation"] for row in result["relations"]} == {"all", "det", "nsubj", "obj"}
    assert len(result["untrained_trees"]) == 1


def test_bad_input(capsys, tmp_path, treebank):
    run = make_run(tmp_path / "run")
    broken = tmp_path / "cycle.conllu"
    broken.write_text("1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n")
    for arguments, message in (
        ([str(run), "--conllu", str(broken)], "cycle.conllu:1: a cycle: 1 → 2 → 1"),
        ([str(tmp_path / "none"), "--conllu", str(treebank)], "no such run"),
        ([str(run), "--conllu", str(treebank), "--least", "1000"], "no relation has 1000 arcs"),
        ([str(run), "--conllu", str(treebank), "--seeds", "0"], "--seeds must be from 1"),
    ):
        assert main(["heads", *arguments]) == 2
        assert message in capsys.readouterr().err
