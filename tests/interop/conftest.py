"""What the tests of the course's commands stand on: a corpus, its questions, a small model."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_course import PEOPLE

from loci.interop import course_commands


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    file = tmp_path / "wiki.txt"
    lines = [f"{name}. {name} was born in {place} ." for name, place in PEOPLE.items()]
    file.write_text("\n".join([*lines, "Eve Who. Is this a question?"]) + "\n", encoding="utf-8")
    return file


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "train.tsv"
    file.write_text("".join(f"Where was {name} born?\t{place}\n" for name, place in PEOPLE.items()), encoding="utf-8")
    return file


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the size is of no matter, a model that trains in no time."""
    sizes = {"n_layer": 1, "n_head": 2, "n_embd": 16, "block_size": 64}
    monkeypatch.setattr(course_commands, "COURSE_MODEL", sizes)
