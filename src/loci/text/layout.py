"""Which file of a folder is what: the corpus, and the questions of training, development and test.

Knows names and the first bytes of files, and reads nothing else. The names are conventions, not requirements: every
command also takes the files themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Literal

from loci.errors import LociError

Role = Literal["corpus", "train", "dev", "test", "questions"]
CORPUS_NAMES = ("wiki.txt", "corpus.txt")
SPLITS: tuple[Role, ...] = ("train", "dev", "test")
QUESTION_SUFFIXES = (".tsv", ".jsonl", ".json")
REPAIRS_NAME = "repairs.tsv"  # what `loci check --repair` changed: no question file


@dataclass(frozen=True)
class Layout:
    """The files of one folder that Loci reads."""

    folder: Path
    corpus_candidates: tuple[Path, ...]
    questions: tuple[tuple[Role, Path], ...]

    @property
    def corpus(self) -> Path | None:
        """The corpus, when exactly one file can be it."""
        return self.corpus_candidates[0] if len(self.corpus_candidates) == 1 else None


def split_of(path: Path) -> Role:
    """The role a question file's name gives it: train, dev or test; "questions" when it says nothing."""
    return next((split for split in SPLITS if fnmatch(path.name.lower(), f"*{split}*")), "questions")


def survey(folder: Path) -> Layout:
    """The corpus and the question files of a folder; either may be missing."""
    return Layout(folder, tuple(corpus_candidates(folder)), question_candidates(folder))


def corpus_candidates(folder: Path) -> list[Path]:
    """The file called like a corpus; else every *.txt; else the JSONL files that hold sentences about subjects."""
    files = _files(folder)
    for name in CORPUS_NAMES:
        named = [file for file in files if file.name == name]
        if named:
            return named
    texts = [file for file in files if file.suffix.lower() == ".txt"]
    return texts or [file for file in files if file.suffix.lower() == ".jsonl" and b'"sub_label"' in _head(file)]


def question_candidates(folder: Path) -> tuple[tuple[Role, Path], ...]:
    """The files named for a split; if there are none, the tables and JSON files that begin like questions."""
    files = [file for file in _files(folder) if file.suffix.lower() in QUESTION_SUFFIXES and file.name != REPAIRS_NAME]
    named = sorted(
        ((split_of(file), file) for file in files if split_of(file) != "questions"),
        key=lambda pair: (SPLITS.index(pair[0]), pair[1].name),
    )
    if named:
        return tuple(named)
    return tuple(("questions", file) for file in files if _begins_like_questions(_head(file)))


def find_corpus(path: str | Path) -> Path:
    """`path` itself, or the corpus of the folder `path`; a `LociError` when it cannot be told."""
    path = Path(path)
    if not path.is_dir():
        return path
    return _only(path, corpus_candidates(path), "corpus", "a folder holds wiki.txt, corpus.txt or a single *.txt")


def find_split(folder: str | Path, split: Role) -> tuple[Path, ...]:
    """The question files of a folder that are named for `split`; there may be none."""
    return tuple(file for role, file in question_candidates(Path(folder)) if role == split)


def find_questions(path: str | Path, split: Role | None = None) -> Path:
    """`path` itself, or the only question file (of `split`) in the folder `path`; a `LociError` where it is unclear."""
    path = Path(path)
    if not path.is_dir():
        return path
    files = find_split(path, split) if split else [file for _, file in question_candidates(path)]
    what = f"file of {split} questions" if split else "question file"
    return _only(path, files, what, "question files are called *train*.tsv, *dev*.tsv or *test*.tsv")


def _only(folder: Path, files: Sequence[Path], what: str, convention: str) -> Path:
    if len(files) == 1:
        return files[0]
    if not files:
        raise LociError(f"no {what} in this folder", path=folder, remedy=f"{convention}; or name the file itself")
    names = ", ".join(file.name for file in files[:8]) + (", …" if len(files) > 8 else "")
    raise LociError(f"{len(files)} files could be the {what}: {names}", path=folder, remedy="name one of them")


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(file for file in folder.iterdir() if not file.name.startswith(".") and file.is_file())
    except OSError as error:
        raise LociError(f"cannot be read: {error.strerror}", path=folder) from None


def _head(file: Path) -> bytes:
    try:
        with open(file, "rb") as handle:
            return handle.read(4096)
    except OSError as error:
        raise LociError(f"cannot be read: {error.strerror}", path=file) from None


def _begins_like_questions(head: bytes) -> bool:
    return any(sign in head for sign in (b"?", b'"question"', b'"sub_label"', b"question\t", b"\tquestion"))
