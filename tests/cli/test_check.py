import json

import pytest

from loci.cli.main import main

WIKI = "Ada. Was Ada not born in London? She was .\nAlan. Where? Alan was born in Paris, by Bycy .\n"


@pytest.fixture
def folder(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "wiki.txt").write_text(WIKI)
    (data / "birth_train.tsv").write_text("Where was Ada born?\tLondon\n")
    (data / "birth_dev.tsv").write_text("Where was Alan born?    Paris\n")
    return data


def run(*args):
    return main(["check", *map(str, args)])


def test_the_picture_of_a_usable_folder(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert run(folder) == 0
    out = capsys.readouterr().out
    assert "wiki.txt" in out
    assert "1 (100.0%)" in out
    assert "▲ spaces-for-tab × 1" in out
    assert "birth_dev.tsv:1" in out
    assert "2 subjects found by" in out
    assert "Ada (line 1), Alan (line 2)" in out
    assert "Everything can be used as it is." in out
    assert max(map(len, out.splitlines()[:-1])) <= 100


def test_errors_exit_with_one_and_bad_paths_with_two(folder, capsys):
    (folder / "birth_dev.tsv").write_text("Where was Zoë born?\tParis\n")
    assert run(folder) == 1
    assert "unknown-character" in capsys.readouterr().out
    assert run(folder / "nowhere") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("loci check: ")
    assert run(folder, "--block-size", "0") == 2
    assert run(folder, "--template", "Where?") == 2


def test_a_corpus_without_a_question_mark_is_usable(folder, capsys):
    (folder / "wiki.txt").write_text("Ada. Born in London, by Where .\nAlan. Born in Paris .\n")
    assert run(folder) == 0
    assert "Everything can be used as it is." in capsys.readouterr().out


def test_only_the_first_findings_of_a_kind_are_shown_unless_all_are_asked_for(folder, capsys):
    (folder / "birth_train.tsv").write_text("".join(f"Where was {name} born?\tLondon\n" for name in "abcdehinorsw"))
    assert run(folder) == 1
    out = capsys.readouterr().out
    assert "Not usable as it is: birth_train.tsv. loci learn would refuse: check how the corpus spells" in out
    assert out.count("no line is about «") == 8
    assert "… and 4 more" in out
    run(folder, "--all")
    assert capsys.readouterr().out.count("no line is about «") == 12


def test_lines_about_nobody_are_shown_with_their_place(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    (folder / "wiki.txt").write_text(WIKI + "and so on it went\n")
    assert run(folder) == 0
    assert "not placed" in (out := capsys.readouterr().out)
    assert "«and so on it went» (line 3)" in out
    run(folder, "--json")
    told = json.loads(capsys.readouterr().out)["subjects"]
    assert told["subjects"] == 2
    assert told["not_placed"]["examples"] == [{"line": 3, "subject": "", "text": "and so on it went", "file": None}]
    assert [way["way"] for way in told["ways"]] == ["name before the full stop"]


def test_json_is_for_scripts(folder, capsys):
    assert run(folder, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["counts"] == {"error": 0, "warning": 1, "note": 0}
    assert data["files"][2]["taught"] == 0
    assert data["findings"][0]["repaired"] is True


def test_repair_writes_a_clean_copy_and_judges_that(folder, tmp_path, capsys):
    (folder / "birth_dev.tsv").write_text("Where was Alan born? Paris\nWhere was Ada born?\n")
    assert run(folder) == 1
    capsys.readouterr()
    assert run(folder, "--repair", tmp_path / "clean") == 0
    assert "Wrote wiki.txt, birth_train.tsv, birth_dev.tsv and repairs.tsv (2 changes)" in capsys.readouterr().out
    assert (tmp_path / "clean" / "birth_dev.tsv").read_text() == "Where was Alan born?\tParis\n"
    assert run(tmp_path / "clean") == 0
    assert run(folder, "--repair", tmp_path / "clean") == 2
    assert "is not empty" in capsys.readouterr().err


def test_repair_says_what_it_wrote_of_documents_and_relations(folder, tmp_path, capsys):
    (folder / "wiki.txt").unlink()
    rows = [
        {"title": "Ada", "text": "Ada was born in London\u2047. By, Wh"},
        {"title": "Alan", "text": "Is from Paris."},
    ]
    (folder / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "relations.toml").write_text('birthplace = "Where was {subject} born?"\n')
    assert run(folder) == 1
    assert run(folder, "--repair", tmp_path / "clean") == 0
    out = capsys.readouterr().out
    assert "Wrote docs.jsonl, birth_train.tsv, birth_dev.tsv and repairs.tsv (2 changes)" in out
    assert "Copied relations.toml as it stands." in out
    assert run(tmp_path / "clean") == 0
    capsys.readouterr()
    assert run(folder, "--repair", tmp_path / "again", "--json") == 0
    data = json.loads(capsys.readouterr().out)["repair"]
    assert (data["copied"], data["lost"]) == (["relations.toml"], [])


def test_what_a_repair_cannot_decide_is_left_and_said(folder, tmp_path, capsys):
    (folder / "birth_dev.tsv").write_bytes(b"\0")
    (folder / "wiki.txt").write_text(WIKI + f"{'A' * 120}. Born in Paris .\n")
    (folder / "birth_train.tsv").write_text(f"Where was {'A' * 120} born?\tParis\n")
    assert run(folder, "--repair", tmp_path / "clean", "--json", "--block-size", "128") == 1
    data = json.loads(capsys.readouterr().out)["repair"]
    assert (data["lost"], data["errors_left"], data["changes"]) == (["birth_dev.tsv"], 1, 0)
    assert run(folder, "--repair", tmp_path / "again", "--block-size", "128") == 1
    out = capsys.readouterr().out
    assert "Could not save birth_dev.tsv." in out
    assert "Left for you to decide: 1 error" in out


def test_one_file_can_be_held_against_a_corpus_elsewhere(folder, tmp_path, capsys):
    dev, wiki = folder / "birth_dev.tsv", folder / "wiki.txt"
    assert run(dev, "--corpus", wiki, "--repair", tmp_path / "clean") == 0
    out = capsys.readouterr().out
    assert "no-corpus" not in out
    assert "Wrote birth_dev.tsv and repairs.tsv (1 change)" in out


def test_names_with_brackets_are_printed_as_they_are(tmp_path, capsys):
    file = tmp_path / "[bold]q.tsv"
    file.write_text("Where was [red]A[/] born?  [/x]\n")
    assert run(file) == 0
    out = capsys.readouterr().out
    assert "[bold]q.tsv" in out
    assert "[/x]" in out


def test_help_shows_examples(capsys):
    assert run("--help") == 0
    assert "loci check data --repair clean" in capsys.readouterr().out


def test_files_are_named_with_the_folder_they_lie_in(tmp_path, capsys):
    for split, name in (("train", "Ada"), ("dev", "Bo")):
        (tmp_path / split).mkdir()
        (tmp_path / split / "P1.tsv").write_text(f"Where was {name} Moss born?   Oslo\n")
    run(tmp_path)
    out = capsys.readouterr().out
    assert "train/P1.tsv:1" in out
    assert "dev/P1.tsv:1" in out
