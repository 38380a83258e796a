from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import torch
from small_course import QUIET, finetune

from loci.errors import LociError
from loci.interop import course_commands
from loci.interop.course_commands import Course
from loci.interop.course_overwriting import require_replaceable
from loci.interop.params_file import write_params


@pytest.mark.usefixtures("small")
def test_nobody_s_file_is_written_over(corpus: Path, questions: Path, tmp_path: Path) -> None:
    course, params = Course.read("vanilla", corpus), tmp_path / "v.params"
    course_commands.pretrain(course, params, max_epochs=1, hooks=QUIET)
    folder = tmp_path / "asked"
    folder.mkdir()
    (folder / "birth_dev.tsv").write_bytes(questions.read_bytes())
    essay, own = tmp_path / "essay.docx", tmp_path / "own.params.course.json"
    with zipfile.ZipFile(essay, "w") as archive:
        archive.writestr("word/document.xml", "months of work")
    own.write_text('{"my own": "data"}', encoding="utf-8")
    (tmp_path / "f.params.course.json").mkdir()
    copy = tmp_path / "c.epoch-2.params"
    copy.write_text("somebody's", encoding="utf-8")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}

    def answers(asked: Path, out: Path) -> None:
        course_commands.evaluate(course, params, asked, outputs=out, hooks=QUIET)

    def train(out: Path) -> None:
        course_commands.pretrain(course, out, max_epochs=3, copy_every=2, hooks=QUIET)

    for work, said in (
        (lambda: answers(folder, folder / "birth_dev.tsv"), "is read and would be written over"),
        (lambda: answers(folder, params), "is read and would be written over"),
        (lambda: answers(folder, questions), "is no file of answers"),
        (lambda: answers(folder, tmp_path / "v.params.course.json"), "is no file of answers"),
        (lambda: answers(folder, essay), "is no file of answers"),
        (lambda: answers(folder, Path("/dev/null")), "is no file of answers"),
        (lambda: answers(folder, corpus / "below" / "x"), "is a file, and the answers"),
        (lambda: train(essay), r"is no \.params file"),
        (lambda: train(tmp_path / "own.params"), "is no note about params"),
        (lambda: train(tmp_path / "f.params"), "a note about the params is to be written here"),
        (lambda: train(tmp_path / "c.params"), r"epoch-2\.params: is there already"),
        (lambda: finetune(corpus, questions, params, reading=params), "is read and would be written over"),
    ):
        with pytest.raises(LociError, match=said):
            work()
    assert {file: file.read_bytes() for file in before} == before


def test_a_damaged_archive_of_params_may_be_replaced(tmp_path: Path) -> None:
    whole, params = tmp_path / "whole.params", tmp_path / "damaged.params"
    write_params(whole, {"weight": torch.ones(2)})
    params.write_bytes(whole.read_bytes().replace(b"PK\x01\x02", b"PKxx"))  # its end still says that it is an archive
    require_replaceable(whole)
    require_replaceable(params)
