"""Which people a question is about: taught, held out, unstated or never read about.

A run keeps a short hash of everybody whose question it was taught (`data.taught` in run.json). A name that is among
them is *taught*, whatever the question file is called; of others the file's name tells. Used to judge answers, never to
give them. Knows nothing of models.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, UNSTATED, Row
from loci.text.questions import subject_hash

#: What a question file's name says about its people, in the course's words, the world's and our own.
_SPLIT_WORDS = {
    "train": TAUGHT,
    "dev": HELD_OUT,
    "test": HELD_OUT,
    "validation": HELD_OUT,
    "outside": NEVER_READ,
    **{split: split for split in (TAUGHT, HELD_OUT, UNSTATED, NEVER_READ)},
}


def words_of(stem: str) -> list[str]:
    """The words of a file's name: birth_held-out → birth, held-out."""
    name = stem.lower()
    for split in (HELD_OUT, NEVER_READ):
        name = name.replace(split, split.replace("-", "="))
        name = name.replace(split.replace("-", "_"), split.replace("-", "="))
    return [word.replace("=", "-") for word in name.replace("-", "_").split("_")]


def split_of(stem: str) -> str | None:
    """The split that a file's name tells: birth_dev → held-out; None when it tells none."""
    return next((_SPLIT_WORDS[word] for word in words_of(stem) if word in _SPLIT_WORDS), None)


def with_splits(rows: Iterable[Row], told: str | None, taught: Collection[str] | None) -> list[Row]:
    """The rows with a split each. `told`: by the file's name. `taught`: hashes of subjects; None when nobody knows."""

    def split(row: Row) -> str | None:
        if taught is not None and row.subject is not None:
            if subject_hash(row.subject) in taught:
                return TAUGHT
            if (row.split or told) == TAUGHT:
                return HELD_OUT  # train questions, but of another training
        return row.split or told

    return [replace(row, split=split(row)) for row in rows]
