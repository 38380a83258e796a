"""Which file of a folder is what: the corpus, and the questions of training, development and test.

Knows names and the beginning of files. The names are conventions, not requirements: every command also takes the files
themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from loci.errors import LociError
from loci.files import said_by_system
from loci.text.findings import KINDS, Notes
from loci.text.formats import FORMATS, corpus_format, question_format
from loci.text.formats.json_text import has_fields
from loci.text.scripts import ENDS
from loci.text.source import Source, decode, without_specials

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
_GENERAL = ("tsv", "csv", "json", "jsonl")  # any file of these suffixes could be one
REPAIRS_NAME = "repairs.tsv"  # what `loci check --repair` changed: no question file
_NO_QUESTIONS = (REPAIRS_NAME, ".course.json", ".predictions")  # nor what `loci course` writes next to the data
_NOT_TO_LEARN = re.compile(
    r"(?:readme|licen[cs]e|copying|notice|authors|contributing|changelog|citation|requirements)(?![a-z])|.*predict"
)  # names of texts about the data, or of what a model said
_SENTENCE_WORDS = 5
_SAMPLE = 200  # lines that tell whether a file is prose, or holds questions


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


def corpus_candidates(folder: Path) -> list[Path]:
    """The files that are the corpus together: the one called so first, then all other texts and files of documents.

    Lists, questions, texts about the data (README.txt) and those named for dev or test are no corpus, unless there is
    nothing else. Records that hold questions too (LAMA's) are the corpus where there is no text.
    """
    texts = _texts(folder)
    own = [file for file in texts if is_to_learn(file) and split_of(file) not in ("dev", "test")]
    prose = [file for file in own if file.name in CORPUS_NAMES or is_prose(beginning(file))]
    prose.sort(key=lambda file: (*(file.name != name for name in CORPUS_NAMES), file.name))
    suffixes = {one for name, form in FORMATS.items() if form.passages and name != "text" for one in form.suffixes}
    records = [file for file in _files(folder) if file.suffix.lower() in suffixes and _has_passages(file)]
    if found := [*prose, *filter(_is_text_alone, records)]:
        return found
    unnamed = [file for file in own if split_of(file) == "questions" or not holds_questions(beginning(file))]
    return unnamed or records or [file for file in texts if not holds_questions(beginning(file))]


def is_to_learn(file: Path) -> bool:
    """Whether the name of a text is not that of one about the data, or of what a model said."""
    return _NOT_TO_LEARN.match(file.name.lower()) is None


def _texts(folder: Path) -> list[Path]:
    return [file for file in _files(folder) if file.suffix.lower() in FORMATS["text"].suffixes]


def is_prose(source: Source) -> bool:
    """Whether enough of the first lines are sentences: a list of places or answers has none, headings have some."""
    lines = _filled(source)
    ended = tuple(ENDS)
    like = sum(line.rstrip("\"'”’»)]").endswith(ended) or len(line.split()) >= _SENTENCE_WORDS for line in lines)
    return like * 3 >= len(lines) > 0 and not holds_questions(source)


def holds_questions(source: Source) -> bool:
    """Whether most of the first lines of a plain file are questions, with an answer behind them or not."""
    lines = _filled(source)
    like = sum("?\t" in line or "?  " in line or line.endswith("?") for line in lines)
    return like * 2 > len(lines)


def _filled(source: Source) -> set[str]:
    return {without_specials(line).strip() for line in source.lines()[:_SAMPLE]} - {""}


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
    return [file for file in found if not is_no_question_file(file) and not _is_text_alone(file)]


def is_no_question_file(file: Path) -> bool:
    """Whether a file is one that Loci writes next to the data."""
    return file.name.endswith(_NO_QUESTIONS)


def question_suffixes() -> list[str]:
    """How the names of question files end."""
    return sorted({suffix for _, form in FORMATS.items() if form.questions for suffix in form.suffixes})


def _is_text_alone(file: Path) -> bool:
    """Whether records hold documents and no questions."""
    forms = [form for name, form in FORMATS.items() if name != "text" and form.passages and not form.questions]
    if not any(file.suffix.lower() in form.suffixes for form in forms):
        return False
    return corpus_format(beginning(file))[1] in forms


def find_corpora(path: str | Path) -> tuple[Path, ...]:
    """`path` itself, or the files of the folder `path` that are its corpus together; a `LociError` without any."""
    path = Path(path)
    if not path.is_dir():
        return (path,)
    files = tuple(corpus_candidates(path))
    if not files:
        raise no_corpus(path)
    return files


def no_corpus(folder: Path) -> LociError:
    """What is said of a folder without a corpus; names the files that could have been meant for one."""
    asked = [file for _, file in question_candidates(folder)]
    records = [file for file in _files(folder) if file.suffix.lower() in (".json", ".jsonl") and file not in asked]
    names = ", ".join(file.name for file in records if not is_no_question_file(file))
    unread = f": no records with title and text in {names}" if names else ""
    return LociError(f"no corpus in this folder{unread}", path=folder, remedy=KINDS["no-corpus"][1])


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


def beginning(file: Path) -> Source:
    """The first lines of a file."""
    try:
        with open(file, "rb") as handle:
            return decode(handle.read(1 << 16), file)
    except OSError as error:
        raise said_by_system(error, file) from None


def _has_passages(file: Path) -> bool:
    return corpus_format(beginning(file))[0] != "text"


def _begins_like_questions(file: Path) -> bool:
    head = beginning(file)
    name, _ = question_format(head)
    told = any(sign in head.text for sign in ("?", '"question"')) or has_fields(head, "subject", "relation")
    return name not in _GENERAL or told


def has_answers(file: Path) -> bool:
    """Whether a file of a question file's suffix begins with questions that have answers."""
    if file.suffix.lower() not in question_suffixes() or _is_text_alone(file) or not _begins_like_questions(file):
        return False
    head = beginning(file)
    read = question_format(head)[1].questions
    return read is not None and any(row.answers for row in read(head, Notes(file)).rows)
