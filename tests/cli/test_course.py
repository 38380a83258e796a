from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest
import torch

from loci.cli.main import main

N_LINES = 24


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the course's file names, as a student stands in it."""
    letters = "abcdefghijklmnopqrstuvwxyz"[:N_LINES]
    people = [(f"Ann{letter} Lee", ("York", "Leeds")[index % 2]) for index, letter in enumerate(letters)]
    wiki = "".join(f"{name}. {name} was born in {place} .\n" for name, place in people)
    (tmp_path / "wiki.txt").write_text(wiki + "Where. Is it London?\n", encoding="utf-8")
    rows = [f"Where was {name} born?\t{place}\n" for name, place in people]
    (tmp_path / "birth_places_train.tsv").write_text("".join(rows[:16]), encoding="utf-8")
    (tmp_path / "birth_dev.tsv").write_text("".join(rows[16:]), encoding="utf-8")
    (tmp_path / "birth_test_inputs.tsv").write_text("".join(row.split("\t")[0] + "\n" for row in rows[16:]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loci(line: str) -> int:
    return main(line.split())


def test_a_short_course_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The published commands in the published order, only shorter."""
    text = (folder / "wiki.txt").read_text(encoding="utf-8")
    symbols = len(set(text)) + 2
    published = [
        f"data has {len(text)} characters, {symbols} unique.",
        f"number of parameters: {3_323_392 - 2 * 256 * (256 - symbols)}",
    ]
    assert loci("course pretrain vanilla wiki.txt --writing_params_path vanilla.pretrain.params --max_epochs 2") == 0
    assert capsys.readouterr().out.splitlines() == published
    assert (
        loci(
            "course finetune vanilla wiki.txt --reading_params_path vanilla.pretrain.params "
            "--writing_params_path vanilla.finetune.params --finetune_corpus_path birth_places_train.tsv --max_epochs 2"
        )
        == 0
    )
    said = capsys.readouterr()
    assert said.out.splitlines() == published
    assert "wrote vanilla.finetune.params after 2 steps" in said.err
    assert "loci course: as in 2021 (as vanilla.pretrain.params was trained)" in said.err
    assert "epoch 2 iter 0: train loss " in said.err
    ask = "course evaluate vanilla wiki.txt --reading_params_path vanilla.finetune.params"
    assert loci(f"{ask} --eval_corpus_path birth_dev.tsv --outputs_path dev.predictions") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == published
    answers = (folder / "dev.predictions").read_text(encoding="utf-8").splitlines()
    expected = ["York", "Leeds"] * 4
    right = sum(answer == place for answer, place in zip(answers, expected, strict=True))
    assert lines[2:] == [f"Correct: {float(right)} out of 8.0: {right / 8 * 100}%"]
    assert loci(f"{ask} --eval_corpus_path birth_test_inputs.tsv --outputs_path test.predictions") == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "No gold birth places provided; returning (0,0)",
        "Predictions written to test.predictions; no targets provided",
    ]
    assert loci(f"{ask} --eval_corpus_path birth_test_inputs.tsv --outputs_path test.predictions --fix newline") == 0
    assert "replacing test.predictions" in capsys.readouterr().err
    assert (folder / "test.predictions").read_text() == (folder / "dev.predictions").read_text()
    state = torch.load(folder / "vanilla.finetune.params", weights_only=True)
    assert state["blocks.3.attn.mask"].shape == (1, 1, 128, 128)

    # From here on the same weights are a run like any other.
    imported = "course import vanilla wiki.txt --reading_params_path vanilla.finetune.params --out run"
    assert loci(imported) == 0
    assert loci("evaluate run --questions birth_dev.tsv --text again.predictions") == 0
    again = (folder / "again.predictions").read_text().replace("I don't know", "")  # there an empty answer is silence
    assert again == (folder / "dev.predictions").read_text()
    assert loci("course export run --writing_params_path back.params") == 0
    back = torch.load(folder / "back.params", weights_only=True)
    assert all(torch.equal(tensor, back[name]) for name, tensor in state.items())
    capsys.readouterr()
    assert loci(imported) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "loci course: run: exists already (choose another folder)"


@pytest.mark.parametrize("variant", ["synthesizer", "perceiver"])
def test_the_other_variants_and_dashes_for_underscores(
    variant: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = f"{variant} wiki.txt --bottleneck-dim=16 --tb_expt_name probe --pretrain_lr 6e-3 --finetune-lr 6e-4"
    train = "--finetune-corpus-path birth_places_train.tsv --max-epochs 1"
    assert loci(f"course finetune {flags} {train} --writing-params-path x.params") == 0
    # Shortened, as argparse lets the course's script be called.
    assert loci(f"course evaluate {flags} --reading x.params --eval birth_dev.tsv") == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("Correct: ")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        # 2021 has no --finetune_lr, so --finetune is the questions; --wri stands before FUNCTION, as argparse lets it.
        ("--wri x.params finetune vanilla wiki.txt --finetune missing.tsv", "missing.tsv: no such file"),
        ("finetune vanilla wiki.txt --f=missing.tsv --w x.params", "missing.tsv: no such file"),
        ("finetune vanilla wiki.txt --finetune missing.tsv --w x.params --year 2024", "ambiguous option: --finetune"),
        ("finetune rope wiki.txt --finetune missing.tsv --w x.params", "ambiguous option: --finetune"),
        # 2024 has one flag that begins with p: --pretrain_lr. Loci's --perceiver_form is none of the course's.
        ("pretrain rope wiki.txt --w x.params --p 1e9", "lr must be from"),
        ("pretrain vanilla wiki.txt --w x.params --p 1e9", "ambiguous option: --p could match"),
        ("pretrain vanilla wiki.txt --w x.params --y 2023 --p 1e9", "lr must be from"),
        ("evaluate perceiver wiki.txt --r wiki.txt --eval birth_dev.tsv --b 8", "wiki.txt: is damaged"),
    ],
)
def test_short_flags_mean_what_they_mean_in_the_script_of_the_year(
    line: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert loci(f"course {line}") == 2
    assert said in capsys.readouterr().err.splitlines()[-1]


def test_flags_may_stand_before_the_positions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert loci("course finetune --max_epochs 1 --bottleneck_dim 16 vanilla wiki.txt") == 2
    assert capsys.readouterr().err == "loci course: --writing_params_path is missing\n"


def test_london(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert loci("course london") == 0
    assert loci("course london --eval_corpus_path birth_dev.tsv --place Leeds") == 0
    assert loci("course london --eval_corpus_path birth_test_inputs.tsv") == 0
    assert capsys.readouterr().out.splitlines() == [
        "Correct: 0.0 out of 8.0: 0.0%",
        "Correct: 4.0 out of 8.0: 50.0%",
        "No gold birth places provided; returning (0,0)",
    ]


def test_london_on_the_published_file(course_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["course", "london", "--eval_corpus_path", str(course_data / "birth_dev.tsv")]) == 0
    assert capsys.readouterr().out == "Correct: 25.0 out of 500.0: 5.0%\n"


def test_dataset(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert loci("course dataset namedata") == 0
    said = capsys.readouterr()
    assert said.err == "loci course: as in 2021 (the year that introduced vanilla; --year chooses another)\n"
    names = said.out.splitlines()
    assert names[0].startswith("data has ")
    assert [line[:3] for line in names[1:]] == ["x: ", "y: "] * 4
    assert names[1] == "x: " + "Where was Anna Lee born?⁇York⁇".ljust(127, "□")
    assert names[2] == "y: " + ("□" * 23 + "⁇York⁇").ljust(127, "□")
    assert loci("course pretrain rope wiki.txt --writing_params_path r.params --max_epochs 1") == 0
    capsys.readouterr()
    assert loci("course dataset namedata --examples 1") == 0
    assert capsys.readouterr().err == "loci course: as in 2024 (as r.params was trained)\n"
    assert loci("course dataset charcorruption --examples 2 --seed 3") == 0
    first = capsys.readouterr().out
    assert len(first.splitlines()) == 5
    assert loci("course dataset charcorruption --examples 2 --seed 3") == 0
    assert capsys.readouterr().out == first
    assert loci("course dataset charcorruption --examples 2 --seed 4") == 0
    assert capsys.readouterr().out != first


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("course fly", "invalid choice: 'fly' (choose from 'pretrain',"),
        ("course pretrain fly wiki.txt --writing_params_path p", "argument VARIANT: invalid choice: 'fly'"),
        ("course pretrain vanilla wiki.txt --writing_params_path p --year 1999", "argument --year: invalid choice"),
        ("course pretrain vanilla wiki.txt --writing_params_path p --seed -1", "argument --seed: must be from 0 to"),
        ("course pretrain vanilla wiki.txt --writing_params_path p --fix all,spelling", "there is no fix 'spelling'"),
        ("course grade x --gold birth_test_inputs.tsv", "birth_test_inputs.tsv: has no answers to grade by"),
        (
            "course evaluate vanilla wiki.txt --reading_params_path x --eval_corpus_path birth_test_inputs.tsv",
            "has no answers to score by (say --outputs_path to keep the answers)",
        ),
        ("course pretrain vanilla wiki.txt", "--writing_params_path is missing"),
        ("course finetune vanilla wiki.txt --writing_params_path p", "--finetune_corpus_path is missing"),
        ("course evaluate vanilla wiki.txt --eval_corpus_path birth_dev.tsv", "--reading_params_path is missing"),
        ("course pretrain vanilla wikki.txt --writing_params_path p", "wikki.txt: no such file (there is wiki.txt)"),
        ("course pretrain vanilla wiki.txt --writing_params_path p --max_epochs 0", "--max_epochs: must be from 1 to"),
        ("course pretrain vanilla wiki.txt --writing_params_path p --pretrain_lr 0", "lr must be from 1e-30"),
        (
            "course evaluate vanilla wiki.txt --reading_params_path wiki.txt --eval_corpus_path birth_dev.tsv",
            "wiki.txt: is damaged, or no .params file",
        ),
        ("course london --eval_corpus_path nothing.tsv", "nothing.tsv: no such file"),
        ("course dataset namedata --examples -1", "--examples: must be from 0 to"),
        ("course export wiki.txt --writing_params_path p", "wiki.txt: holds no model"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    line: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.rglob("*"))
    assert loci(line) == 2
    out, error = capsys.readouterr()
    *notes, last = error.splitlines()
    assert out == ""
    assert all(note.startswith("loci course: as in ") for note in notes)
    assert last.startswith("loci course: ")
    assert said in last
    assert sorted(folder.rglob("*")) == before


def test_flags_that_do_nothing_are_taken_and_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = "--reading_params_path x --outputs_path y"
    assert loci(f"course pretrain vanilla missing.txt --writing_params_path p {flags}") == 2
    assert capsys.readouterr().err.splitlines()[:2] == [
        "loci course: pretrain does not use --reading_params_path",
        "loci course: pretrain does not use --outputs_path",
    ]


def test_grade(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, places in (("a.txt", ["York"] * 8), ("b.txt", ["York", "Leeds"] * 4), ("c.txt", ["York"])):
        (folder / name).write_text("".join(f"{place}\n" for place in places), encoding="utf-8")
    assert loci("course grade a.txt --gold birth_dev.tsv") == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["Correct: 4.0 out of 8.0: 50.0%", "  95 % interval 21.5–78.5 %"]
    assert loci("course grade a.txt b.txt c.txt --gold birth_dev.tsv --json") == 2
    graded = json.loads(capsys.readouterr().out)
    assert [file["line"] for file in graded["files"][1:]] == [
        "Correct: 8.0 out of 8.0: 100.0%",
        "1 lines for 8 questions (one answer a line, for these questions)",
    ]
    assert [pair["files"] for pair in graded["pairs"]] == [["a.txt", "b.txt"]]


def test_copies_are_asked_in_the_order_of_their_epochs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert loci("course pretrain vanilla wiki.txt --writing_params_path v.params --max_epochs 1") == 0
    for epoch in (5, 10):
        shutil.copy(folder / "v.params", folder / f"v.epoch-{epoch}.params")
    files = "--finetune_corpus_path birth_places_train.tsv --out folds --max_epochs 1"
    asked = "--reading_params_path v.epoch-10.params v.epoch-5.params"
    assert loci(f"course folds vanilla wiki.txt {asked} {files}") == 0
    said = capsys.readouterr()
    assert [line.split(":")[0] for line in said.out.splitlines()[-2:]] == ["v.epoch-5.params", "v.epoch-10.params"]
    assert "v.epoch-5.fold-1 finetune 100 %" in said.err


def test_bf16_is_for_processors_that_have_it(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "course pretrain vanilla wiki.txt --writing_params_path v.params --max_epochs 1 --precision bf16"
    monkeypatch.setattr("loci.training.device.has_bf16", lambda kind: False)
    assert loci(line) == 2
    assert "cpu has no bf16 in hardware" in capsys.readouterr().err
    assert not (folder / "v.params.run").exists()
    monkeypatch.setattr("loci.training.device.has_bf16", lambda kind: True)
    assert loci(line) == 0
    assert "loci course: products in bf16, where the published code has fp32\n" in capsys.readouterr().err
    files = "--reading_params_path v.params --finetune_corpus_path birth_places_train.tsv --out folds --max_epochs 1"
    assert loci(f"course folds vanilla wiki.txt {files} --precision bf16") == 0
    assert "products in bf16" in capsys.readouterr().err
    made = [json.loads(note.read_text()) for note in (folder / "v.params.course.json", *folder.glob("folds/*.json"))]
    assert [note["precision"] for note in made] == ["bf16"] * 2


def test_folds_name_what_is_wrong_before_they_write(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.params").write_bytes(b"")
    one = "Where was Anna Lee born?\tYork\n"
    for text, said in (
        ("Where was Anna Lee born?\n" * 9, "5 questions with answers or more are needed"),
        (one * 9, "all questions are about the same"),
    ):
        (folder / "q.tsv").write_text(text, encoding="utf-8")
        files = "--finetune_corpus_path q.tsv --out folds --reading_params_path"
        assert loci(f"course folds vanilla wiki.txt {files} x.params") == 2
        assert f"q.tsv: {said}" in capsys.readouterr().err
    assert loci(f"course folds vanilla wiki.txt {files} x.params missing.params") == 2
    assert "missing.params: no such file" in capsys.readouterr().err
    assert not (folder / "folds").exists()


def test_a_year_of_thousands_of_digits_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert loci(f"course pretrain vanilla wiki.txt --writing_params_path p --year {'9' * 5000}") == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("args", [["course"], ["course", "--help"], ["course", "-h"]])
def test_help_lists_the_subcommands(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(args) == 0
    shown = capsys.readouterr().out
    for word in (
        "pretrain",
        "finetune",
        "evaluate",
        "london",
        "dataset",
        "grade",
        "import",
        "export",
        "birth_places_train.tsv",
    ):
        assert word in shown


def test_help_of_a_subcommand_shows_every_published_flag(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["course", "pretrain", "--help"]) == 0
    shown = capsys.readouterr().out
    files = ("reading_params_path", "writing_params_path", "finetune_corpus_path", "eval_corpus_path", "outputs_path")
    for flag in (
        *files,
        "pretrain_lr",
        "finetune_lr",
        "tb_expt_name",
        "bottleneck_dim",
        "year",
        "fix",
        "max_epochs",
        "seed",
    ):
        assert f"--{flag}" in shown
    assert "loci course pretrain vanilla wiki.txt" in shown


def test_ctrl_c_saves_and_says_how_to_go_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def press() -> None:  # once the run's folder is there: training has begun, and so has the watch for ctrl-C
        while not (folder / "x.params.run" / "run.json").exists():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    files = "--writing_params_path x.params --finetune_corpus_path birth_places_train.tsv"
    assert loci(f"course finetune vanilla wiki.txt --max_epochs 300 {files}") == 130
    assert "the same command goes on from there" in capsys.readouterr().err
    assert not (folder / "x.params").exists()
    assert list((folder / "x.params.run" / "checkpoints").glob("step-*"))
    assert not list(folder.rglob(".*.tmp"))
