import json

from lab_run import make_run

from loci.cli.main import main

QUESTION = "Where was Ada Lovelace born?"


def test_an_answer_is_looked_at(capsys, tmp_path):
    run = make_run(tmp_path / "run")
    page = tmp_path / "look.html"
    assert main(["look", str(run), QUESTION, "--answer", "London", "--draws", "2", "--out", str(page)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("London  probability")
    assert QUESTION in page.read_text(encoding="utf-8")


def test_json(capsys, tmp_path):
    run = make_run(tmp_path / "run", positions="rope")
    page = tmp_path / "look.html"
    assert main(["look", str(run), QUESTION, "--draws", "2", "--out", str(page), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["subject"] == "Ada Lovelace"
    assert len(result["causal_trace"]["effect"]) == 3
    assert len(result["causal_trace"]["effect"][0]) == len(QUESTION) + 1


def test_a_model_that_recites_is_looked_at_while_it_reads_what_it_remembers(capsys, tmp_path):
    run = make_run(tmp_path / "run", "recite", positions="rope", n_layer=1, block_size=80)
    page = tmp_path / "look.html"
    assert main(["look", str(run), QUESTION, "--draws", "1", "--out", str(page), "--json"]) == 0
    seen = json.loads(capsys.readouterr().out)
    assert seen["recited"].startswith("Ada Lovelace. ")
    assert len(seen["causal_trace"]["effect"][0]) == len(QUESTION) + 1 + len(seen["recited"]) + 1
    assert main(["ask", str(run), QUESTION, "--json"]) == 0
    (asked,) = json.loads(capsys.readouterr().out)["answers"]
    assert (asked["recited"], asked["text"]) == (seen["recited"], seen["answer"])
    assert "it recited this line" in page.read_text(encoding="utf-8")


def test_bad_input(capsys, tmp_path):
    run = make_run(tmp_path / "run")
    perceiver = make_run(tmp_path / "perceiver", trunk="perceiver", bottleneck_dim=8)
    out = ["--out", str(tmp_path / "x.html")]
    for arguments, message in (
        ([str(run), " "], "one line of text"),
        ([str(run), "Where was Zoë born?"], "does not know 'ë'"),
        ([str(run), "where?"], "no name was found"),
        ([str(run), QUESTION, "--subject", "Bob"], "no 'Bob' in the question"),
        ([str(run), "Where was " + "Ada " * 20 + "born?"], "leaves none for an answer"),
        ([str(perceiver), QUESTION], "perceiver trunk has no state"),
        ([str(tmp_path / "none"), QUESTION], "no such run"),
    ):
        assert main(["look", *arguments, *out]) == 2
        captured = capsys.readouterr()
        assert message in captured.err
    assert not (tmp_path / "x.html").exists()
