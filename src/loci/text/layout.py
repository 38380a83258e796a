"""Which file of a folder is what: the corpus, and the questions of training, development and test.

Knows names and the beginning of files. The names are conventions, not requirements: every command also takes the files
themselves.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

from loci.errors import LociError
from loci.files import said_by_system
from loci.text.formats import FORMATS, corpus_format, question_format
from loci.text.source import Source, decode

Role = Literal["corpus", "train", "dev", "test", "questions"]
CORPUS_NAMES = ("wiki.txt", "corpus.txt")
SPLITS: tuple[Role, ...] = ("train", "dev", "test")
_WORDS: dict[Role, str] = {
    "train": "train|training|trainset",
    "dev": "dev|development|devset",
    "test": "test|tests|testing|testset",
}
_LETTER = r"[^\W\d_]"
_PARTS = {split: re.compile(rf"(?<!{_LETTER})(?:{words})(?!{_LETTER})") for split, words in _WORDS.items()}
_GENERAL = ("tsv", "json", "jsonl")  # any file of these suffixes could be one
REPAIRS_NAME = "repairs.tsv"  # what `loci check --repair` changed: no question file
_NO_QUESTIONS = (REPAIRS_NAME, ".course.json")  # nor what `loci course` notes next to pretrain.params


def split_of(path: Path) -> Role:
    """The role a question file's name gives it: train, dev or test; "questions" when it says nothing.

    The word is a part of the name by itself: birth_dev.tsv and dev2.tsv are for development, devices.tsv is not.
    """
    name = _parted(path.name)
    return next((split for split in SPLITS if _PARTS[split].search(name)), "questions")


def without_split(path: Path) -> str:
    """The name of a question file without its split and suffixes: made_in for made_in_train.tsv."""
    stem, split = _parted(path.name.partition(".")[0]), split_of(path)
    return (_PARTS[split].sub("", stem, count=1) if split in _PARTS else stem).strip("_- .")


def _parted(name: str) -> str:
    """A name in small letters, madeInTrain as made_in_train."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def unread_files(folder: Path, read: Collection[Path]) -> list[Path]:
    """The files of a folder that are named for a split, but are not among those read, such as q_train.csv."""
    named = (file for file in _files(folder) if split_of(file) != "questions")
    return [file for file in named if file not in read and not file.name.endswith(_NO_QUESTIONS)]


def corpus_candidates(folder: Path) -> list[Path]:
    """The file called like a corpus; else every *.txt; else the files of records with sentences or documents."""
    files = _files(folder)
    for name in CORPUS_NAMES:
        named = [file for file in files if file.name == name]
        if named:
            return named
    texts = [file for file in files if file.suffix.lower() == ".txt"]
    others = {suffix for _, form in FORMATS.items() if form.passages for suffix in form.suffixes} - {".txt"}
    return texts or [file for file in files if file.suffix.lower() in others and _has_passages(file)]


def question_candidates(folder: Path) -> tuple[tuple[Role, Path], ...]:
    """The files named for a split, by themselves or by a folder (train/, dev/, test/).

    If there are none, the tables and JSON files that begin like questions.
    """
    files = [(split_of(file), file) for file in _question_files(folder)]
    for split in SPLITS:
        if (folder / split).is_dir():
            files += [(split, file) for file in _question_files(folder / split) if _begins_like_questions(file)]
    named = [(role, file) for role, file in files if role != "questions"]
    if named:
        return tuple(sorted(named, key=lambda pair: (SPLITS.index(pair[0]), pair[1].name)))
    return tuple((role, file) for role, file in files if _begins_like_questions(file))


def _question_files(folder: Path) -> list[Path]:
    found = (file for file in _files(folder) if file.suffix.lower() in question_suffixes())
    return [file for file in found if not file.name.endswith(_NO_QUESTIONS) and not _is_text_alone(file)]


def question_suffixes() -> list[str]:
    """How the names of question files end."""
    return sorted({suffix for _, form in FORMATS.items() if form.questions for suffix in form.suffixes})


def _is_text_alone(file: Path) -> bool:
    """Whether records hold documents and no questions."""
    forms = [form for name, form in FORMATS.items() if name != "text" and form.passages and not form.questions]
    if not any(file.suffix.lower() in form.suffixes for form in forms):
        return False
    return corpus_format(_head(file))[1] in forms


def find_corpus(path: str | Path) -> Path:
    """`path` itself, or the corpus of the folder `path`; a `LociError` when it cannot be told."""
    path = Path(path)
    if not path.is_dir():
        return path
    return _only(path, corpus_candidates(path), "corpus", "a folder has wiki.txt, corpus.txt or a single *.txt")


def find_corpora(path: str | Path) -> tuple[Path, ...]:
    """The same; or all files of a folder whose records contain questions and the text that answers them."""
    path = Path(path)
    files = corpus_candidates(path) if path.is_dir() else []
    if len(files) > 1 and all(FORMATS[corpus_format(_head(file))[0]].questions for file in files):
        return tuple(files)
    return (find_corpus(path),)


def find_split(folder: str | Path, split: Role) -> tuple[Path, ...]:
    """The question files of a folder that are named for `split`; there may be none."""
    return tuple(file for role, file in question_candidates(Path(folder)) if role == split)


def find_taught(folder: str | Path) -> tuple[Path, ...]:
    """The files of train questions; where no file is named so, all, if they are of one split or of none."""
    found = question_candidates(Path(folder))
    roles = {role for role, _ in found}
    return tuple(file for role, file in found if role == "train" or len(roles) == 1)


def find_questions(path: str | Path, split: Role | None = None) -> tuple[Path, ...]:
    """`path` itself, or the question files in the folder `path`: all of `split`, or the only one there is.

    Those of training may be named for no split (`find_taught`). A `LociError` where there is none, or where there are
    several and no split is named.
    """
    path = Path(path)
    if not path.is_dir():
        return (path,)
    files = tuple(file for role, file in question_candidates(path) if split in (role, None))
    files = find_taught(path) if split == "train" else files
    if split and files:
        return files
    what = f"file of {split} questions" if split else "question file"
    return (_only(path, files, what, "question files are called *train*.tsv, *dev*.tsv or *test*.tsv"),)


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
        raise said_by_system(error, folder) from None


def _head(file: Path) -> Source:
    try:
        with open(file, "rb") as handle:
            return decode(handle.read(1 << 16), file)
    except OSError as error:
        raise said_by_system(error, file) from None


def _has_passages(file: Path) -> bool:
    return corpus_format(_head(file))[0] != "text"


def _begins_like_questions(file: Path) -> bool:
    head = _head(file)
    name, _ = question_format(head)
    return name not in _GENERAL or any(sign in head.text for sign in ("?", '"question"'))
