"""The files that a run names, for whoever was handed the run: read only as what it learned from.

A run may be a stranger's. On its word nothing is used that has another hash, nothing is written next to a file of ours,
and nothing is opened that has no size: that is the system's own, and may never end. Knows nothing of runs' folders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from loci.errors import LociError
from loci.files import sha256_file
from loci.text.compiled import is_large
from loci.text.corpus import Corpus
from loci.text.questions import Questions

T = TypeVar("T", Corpus, Questions)


def named_corpus(data: Mapping[str, Any]) -> Corpus | None:
    """The corpus of a run whose run.json says this of its data; None if it is gone or has changed."""

    def read(file: Path) -> Corpus:
        return Corpus.read(file, mapped=is_large(file) and sha256_file(file)[:16] == data["corpus_hash"])

    return _named(data, "corpus", read)


def named_questions(data: Mapping[str, Any]) -> Questions | None:
    """The train questions of such a run; None if they are gone or have changed."""
    return _named(data, "questions", lambda path: Questions.read(path, split="train", mapped=False))


def _named(data: Mapping[str, Any], name: str, read: Callable[[Path], T]) -> T | None:
    named = data.get(name)
    if named is None:
        return None
    try:
        path = Path(named)
        found = read(path) if path.is_dir() or (path.is_file() and path.stat().st_size) else None
    except (LociError, OSError):
        return None
    return found if found is not None and found.hash == data.get(f"{name}_hash") else None
