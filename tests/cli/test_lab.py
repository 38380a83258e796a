import json

import pytest

from loci.attention_lab.catalogue import EXERCISES
from loci.cli.main import main


def test_the_exercises_are_listed(capsys):
    assert main(["lab"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in EXERCISES)
    assert main(["lab", "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == list(EXERCISES)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_person_gets_the_figure_without_asking(capsys, tmp_path):
    assert main(["lab", "averaging"]) == 0
    assert "page: lab/averaging.html" in capsys.readouterr().out
    assert (tmp_path / "lab" / "averaging.html").exists()


def test_one_is_carried_out_and_drawn(capsys, tmp_path):
    assert main(["lab", "copying", "--out", str(tmp_path / "lab")]) == 0
    out = capsys.readouterr().out
    assert "5.694" in out
    assert (tmp_path / "lab" / "copying.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_json_is_data(capsys):
    assert main(["lab", "solve", "--inputs", "a, b", "--outputs", "1=b", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["name"] == "solve"
    assert result["symbols"]["c_i"] == "the output at position i"
    assert result["page"] is None


def test_an_impossible_design_is_an_answer(capsys):
    assert main(["lab", "solve", "--inputs", "a, a", "--outputs", "1=a, 2=b"]) == 0
    assert "cannot tell them apart" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["magic"], "unknown exercise 'magic' (one of: distribution"),
        (["solve", "--inputs", "a b"], "is not a sum of symbols"),
        (["copying", "--inputs", "a"], "--inputs belongs to loci lab solve"),
        (["copying", "--train"], "--train belongs to loci lab temperature"),
        (["folding", "--questions", "q.tsv"], "asked of a run"),
        (["folding", "--run", "nowhere"], "no such run"),
        (["parse", "--conllu", "nowhere.conllu"], "nowhere.conllu: no such file"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_two(capsys, arguments, message):
    assert main(["lab", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_a_broken_treebank_is_named_with_its_line(capsys, tmp_path):
    path = tmp_path / "two_roots.conllu"
    row = "{}\tw\t_\t_\t_\t_\t0\troot\t_\t_"
    path.write_text(f"# text = w w\n{row.format(1)}\n{row.format(2)}\n\n")
    assert main(["lab", "parse", "--conllu", str(path)]) == 2
    assert f"{path}:3: a second root: words 1 and 2 both have head 0" in capsys.readouterr().err
