from __future__ import annotations

from pathlib import Path

import pytest
from small_course import PEOPLE, QUIET

from loci.interop import course_commands
from loci.interop.course_commands import Course
from loci.interop.course_folds import ask_folds, write_folds
from loci.text.questions import Questions


def test_what_a_fold_asks_is_not_taught(tmp_path: Path) -> None:
    names = [*PEOPLE, "Eve Who", "Ada Holt", "Fay Lund", "Gus Ray", "Hal Oak", "Ida Elm"]
    train = tmp_path / "train.tsv"
    rows = [f"Where was {name} born?\tYork" for name in names]
    rows[1] = "Where was Fay Lund born?\tLeeds"  # asked about once more, with another answer
    train.write_text("\n".join(rows) + "\n", encoding="utf-8")
    for taught, asked in write_folds(train, tmp_path / "folds", 5):
        parts = [[row.text for row in Questions.read(file)] for file in (taught, asked)]
        assert len(parts[1]) == 2
        assert not set(parts[0]) & set(parts[1])
        assert set(parts[0]) | set(parts[1]) == {row.split("\t")[0] for row in rows}


@pytest.mark.usefixtures("small")
def test_folds_are_finetuned_on_the_others_and_asked(corpus: Path, tmp_path: Path) -> None:
    names = [*PEOPLE, *(f"{name} Vane" for name in PEOPLE), "Ada Vane", "Ben Vane"]
    train = tmp_path / "train.tsv"
    train.write_text("".join(f"Where was {name} born?\tLeeds\n" for name in names), encoding="utf-8")
    course, params = Course.read("vanilla", corpus), tmp_path / "vanilla.params"
    course_commands.pretrain(course, params, max_epochs=1, hooks=QUIET)
    out = tmp_path / "folds"
    rate = ask_folds(course, params, train, out, folds=5, max_epochs=1, hooks=QUIET)
    assert rate is not None
    assert rate.n == 10  # everybody is asked about once
    taught, asked = (set((out / f"fold-1.{part}.tsv").read_text().splitlines()) for part in ("train", "asked"))
    assert taught | asked == set(train.read_text().splitlines())
    assert not taught & asked
