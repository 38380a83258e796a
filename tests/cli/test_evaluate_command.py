"""What `loci evaluate` says of answers: of a run with rivals, and of any other system with or without probabilities."""

import json

import pytest

from loci.cli.main import main
from loci.evaluation.rows import read_rows
from loci.pipeline import carry_out
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.sources import TrainingData

FACTS = {"Ann Lee": "Oslo", "Bo Ray": "Rome", "Cy Fox": "Lima", "Di Wu": "Kyiv"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evaluate")
    lines = [f"{name}. {name} was born in {place} .\n" for name, place in FACTS.items()]
    (folder / "wiki.txt").write_text("".join(lines), encoding="utf-8")
    Questions.from_pairs([(f"Where was {name} born?", place) for name, place in FACTS.items()]).write(
        folder / "dev.tsv"
    )
    stage = Stage("learn", (MixtureComponent("question-answer", "questions"),), steps=2, batch_size=4)
    model = {"n_layer": 1, "n_head": 2, "n_embd": 16, "block_size": 48, "positions": "rope"}
    carry_out(
        Recipe("tiny", model, (stage,)),
        TrainingData(Corpus.read(folder), Questions.read(folder / "dev.tsv")),
        folder / "run",
    )
    return folder


def test_rivals_are_kept_when_asked_for(folder, capsys):
    asked = ["evaluate", str(folder / "run"), "--questions", str(folder / "dev.tsv")]
    assert main([*asked, "--alternatives", "3"]) == 0
    assert "probabilities: Brier" in capsys.readouterr().out
    rows = read_rows(folder / "run" / "predictions" / "dev.jsonl")
    assert all(len(row.alternatives) <= 3 for row in rows)
    assert any(row.alternatives for row in rows)
    assert main(asked) == 0
    rows = read_rows(folder / "run" / "predictions" / "dev.jsonl")
    assert not any(row.alternatives for row in rows)
    assert main([*asked, "--alternatives", "-1"]) == 2
    assert "--alternatives must be from 0 to 1,000, it is -1" in capsys.readouterr().err
    assert main([*asked, "--out", asked[-1]]) == 2
    assert "would be written over" in capsys.readouterr().err


def test_rows_of_other_questions_under_the_same_name_stay(folder, tmp_path, capsys):
    run = folder / "run"
    Questions.from_pairs([("Where was Ann Lee born?", "Oslo")]).write(tmp_path / "dev.tsv")
    assert main(["evaluate", str(run), "--questions", str(folder / "dev.tsv")]) == 0
    capsys.readouterr()
    before = (run / "predictions" / "dev.jsonl").read_bytes()
    assert main(["evaluate", str(run), "--questions", str(tmp_path / "dev.tsv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (run / "predictions" / "dev.jsonl").read_bytes() == before
    assert found["predictions"] != str(run / "predictions" / "dev.jsonl")
    assert len(read_rows(found["predictions"])) == 1
    assert not found["replaced"]
    assert main(["evaluate", str(run), "--questions", str(folder / "dev.tsv")]) == 0
    told = capsys.readouterr().out
    assert "dev.jsonl (replaced)" in told
    assert "answered at its threshold of 0.50:" in told


def test_only_rows_are_replaced(folder, tmp_path, capsys):
    other = tmp_path / "notes.txt"
    other.write_text("mine", encoding="utf-8")
    asked = ["evaluate", str(folder / "run"), "--questions", str(folder / "dev.tsv")]
    for flag in ("--out", "--text"):
        assert main([*asked, flag, str(other)]) == 2
        assert "is there already" in capsys.readouterr().err
    assert other.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("name", ["Żak", "⁇", "Ann □ Lee"])
def test_a_question_that_cannot_be_read_does_not_end_the_file(name, folder, tmp_path, capsys):
    odd = f"Where was {name} born?"
    (tmp_path / "odd.tsv").write_text(f"Where was Ann Lee born?\tOslo\n{odd}\tRome\n", encoding="utf-8")
    assert main(["evaluate", str(folder / "run"), "--questions", str(tmp_path / "odd.tsv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    _, silent = read_rows(found["predictions"])
    assert (silent.question, silent.abstained, silent.silence, found["scored"]) == (odd, True, "unreadable", 2)


def test_probabilities_of_other_systems_are_judged_where_there_are_any(folder, tmp_path, capsys):
    theirs = tmp_path / "theirs.tsv"
    said = {"Ann Lee": ("Oslo", 0.9), "Bo Ray": ("Rome", 0.8), "Cy Fox": ("Rome", 0.2), "Di Wu": ("Rome", 0.1)}
    table = [f"Where was {name} born?\t{place}" for name, (place, _) in said.items()]
    asked = ["evaluate", "--predictions", str(theirs), "--questions", str(folder / "dev.tsv"), "--json"]
    theirs.write_text("".join(f"{line}\n" for line in table), encoding="utf-8")
    assert main(asked) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["correct"], found["withheld"], found["probabilities"]) == (2, 0, None)
    with_p = zip(table, said.values(), strict=True)
    theirs.write_text("".join(f"{line}\t{p}\n" for line, (_, p) in with_p), encoding="utf-8")
    assert main(asked) == 0
    found = json.loads(capsys.readouterr().out)["probabilities"]
    # Squared distances 0.01, 0.04, 0.04, 0.01; both right answers stand above both wrong ones.
    assert found["brier"]["value"] == pytest.approx(0.025)
    assert found["ece"] == pytest.approx(0.15)
    assert found["auroc"]["value"] == 1
    # Risks 0, 0, 1/3, 1/2 at the four coverages.
    assert found["aurc"] == pytest.approx((1 / 3 + 1 / 2) / 4)


def test_alternatives_are_a_runs_own(folder, tmp_path, capsys):
    theirs = tmp_path / "theirs.txt"
    theirs.write_text("Oslo\n" * 4, encoding="utf-8")
    flags = ["--predictions", str(theirs), "--questions", str(folder / "dev.tsv"), "--alternatives", "2"]
    assert main(["evaluate", *flags]) == 2
    assert "only a run" in capsys.readouterr().err


def test_another_way_of_answering_has_rows_of_its_own(folder, capsys):
    asked = ["evaluate", str(folder / "run"), "--questions", str(folder / "dev.tsv")]
    assert main([*asked, "--answerer", "zero-shot", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["predictions"].endswith("predictions/zero-shot/dev.jsonl")
    for unknown in ("a/b", "../x", ""):
        assert main([*asked, "--answerer", unknown]) == 2
        assert "answerer" in capsys.readouterr().err
    assert main([*asked, "--answerer", "zeroshot"]) == 2
    assert "zero-shot" in capsys.readouterr().err
    assert main([*asked, "--answerer", "recite", "--calibrate"]) == 2
    assert "leave out --answerer" in capsys.readouterr().err


def test_the_dev_files_of_a_folder_are_asked_together(folder, tmp_path, capsys):
    for relation, form in (("born", "Where was {} born?"), ("died", "Where did {} die?")):
        Questions.from_pairs([(form.format(name), place) for name, place in FACTS.items()]).write(
            tmp_path / "facts" / f"{relation}_dev.tsv"
        )
    (tmp_path / "facts" / "born_train.tsv").write_text("Where was Ed Poe born?\tBern\n", encoding="utf-8")
    assert main(["evaluate", str(folder / "run"), "--questions", str(tmp_path / "facts"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["scored"] == 8
    assert {name: own["scored"] for name, own in found["relations"].items()} == {"birthplace": 4, "died": 4}
    assert found["predictions"].endswith("predictions/facts_dev.jsonl")
