"""What the course's table is asked is checked before anything is written; no model is trained here."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from small import folder_of

from loci.errors import LociError
from loci.experiments.course import run as course
from loci.experiments.course.asked import Asked

PEOPLE = {"Ada Moss": "York", "Jan Bell": "Oslo", "Kim Dell": "York", "Lee Ford": "Rome"}


@pytest.mark.parametrize("fold", [None, 0])
def test_dev_questions_are_never_train_questions(tmp_path: Path, fold: int | None) -> None:
    data = folder_of(tmp_path / "dev", {}, PEOPLE | {"Sue Lake": "Oslo"})
    with pytest.raises(LociError, match=r"dev: no file of train questions in this folder \(.*\*train\*\.tsv"):
        course.run(tmp_path / "out", course.Options(quick=True, data=data, fold=fold))
    assert not (tmp_path / "out").exists()


def test_taught_people_are_not_held_out(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "data", PEOPLE, {"Sue Lake": "Oslo", "Jan Bell": "Oslo", "Lee Ford": "Rome"})
    with pytest.raises(LociError, match=r"birth_dev.tsv: 2 of its subjects are not held out, such as «Jan Bell»"):
        course.run(tmp_path / "out", course.Options(quick=True, data=data))
    assert not (tmp_path / "out").exists()
    namesakes = folder_of(tmp_path / "namesakes", PEOPLE, {"Jan Bell": "Rome"})
    assert len(Asked.read(namesakes, None).held_out) == 1


def test_data_nothing_can_be_learned_from_is_named_before_anything_is_written(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "data", PEOPLE, {"Sue Lake": "Oslo"})
    options = course.Options(quick=True, data=data)
    for train, what in (
        ("Where was Ada Moss born?\nWhere was Jan Bell born?\n", "the train questions have no answers"),
        (f"Where was Ada Moss born?\tYork\nWhere was Jan Bell {'so ' * 60}born?\tOslo\n", "the block has 160"),
        ("Where was Ada Moss born?\tYork\n" * 9, "fold 0 asks about all people"),
    ):
        (data / "birth_train.tsv").write_text(train, encoding="utf-8")
        with pytest.raises(LociError, match=f"birth_train.tsv.*{what}"):
            course.run(tmp_path / "out", dataclasses.replace(options, fold=0 if "fold" in what else None))
        assert not (tmp_path / "out").exists()


def test_as_many_strangers_are_asked_about_as_the_names_give(tmp_path: Path) -> None:
    train = {"Ada Moss": "York", "Jan Moss": "Oslo", "Ada Bell": "Rome"}
    asked = Asked.read(folder_of(tmp_path / "data", train, {"Ada Ford": "York"}), None)
    assert {row.text for row in asked.strangers} == {"Where was Jan Bell born?", "Where was Jan Ford born?"}


def test_a_stranger_is_nobody_of_the_corpus(tmp_path: Path) -> None:
    data = folder_of(tmp_path / "data", {"Ada Moss": "York", "Jan Bell": "Oslo"}, {"Ada Ford": "York"})
    corpus = data / "wiki.txt"
    corpus.write_text(corpus.read_text(encoding="utf-8") + "Jan Moss. Jan Moss was born in Rome .\n", encoding="utf-8")
    asked = Asked.read(data, None)
    assert "Jan Moss" in asked.data.corpus.by_subject
    assert {row.text for row in asked.strangers} == {f"Where was {name} born?" for name in ("Ada Bell", "Jan Ford")}
