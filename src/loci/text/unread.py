"""What of a folder seems meant to be read and is not, with the reason: a name, a form, a link, a folder of its own.

Knows names and the beginning of files. Finds nothing wrong with what is read.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from loci.text.findings import Finding, Notes, Severity
from loci.text.formats import FORMATS
from loci.text.layout import (
    REPAIRS_NAME,
    beginning,
    has_answers,
    is_no_question_file,
    is_prose,
    is_to_learn,
    question_suffixes,
    split_of,
)
from loci.text.relations import RELATIONS_FILE

_OTHER_TEXTS = (".text", ".rst", ".html", ".htm")
_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
_LOOKED_INTO = 20  # files of a folder in the folder


def unread(folder: Path, read: Collection[Path], *, refused: bool = False) -> list[Finding]:
    """What nobody reads, in the order of the names; not what is about the data: README.txt.

    With `refused` there are no train questions among those read: what is named for them is an error, as learning says.
    """
    found: list[Finding] = []
    for path in _entries(folder):
        if path not in read and not path.name.endswith(".compiled"):
            notes = Notes(path)
            _note(notes, path, "error" if refused and split_of(path) == "train" else "warning")
            found += notes.found
    return found


def _note(notes: Notes, path: Path, severity: Severity) -> None:
    if path.is_dir():
        if _is_named_for_data(path):
            notes.add(severity, "folder-for-file", "is a folder, and is not read: its name is that of a file")
        elif path.resolve() != path.parent.resolve() and (text := _text_in(path)):
            notes.warning("unread-folder", f"is not read: a folder with texts, such as {path.name}/{text.name}")
    elif not path.exists():
        if _is_named_for_data(path):
            notes.add(severity, "broken-link", "is not read: a link that leads nowhere")
    elif path.is_file() and not is_no_question_file(path):
        _note_file(notes, path, severity)


def _note_file(notes: Notes, file: Path, severity: Severity) -> None:
    if split_of(file) != "questions":
        message = f"is not read: questions are in files that end in {', '.join(question_suffixes())}"
        notes.add(severity, "unread-file", message)
    elif has_answers(file):
        notes.warning("unnamed-split", "is not read: its name has neither train nor dev nor test")
    elif is_to_learn(file) and file.suffix.lower() in FORMATS["text"].suffixes:
        wrong = next((one.message for one in beginning(file).findings if one.kind == "binary"), None)
        notes.warning("unread-text", f"is not read: {wrong or 'few of its lines are sentences'}")
    elif is_to_learn(file) and _is_of_other_form(file):
        notes.warning("unread-form", f"is not read: texts are in files that end in {', '.join(_text_suffixes())}")


def _is_of_other_form(file: Path) -> bool:
    suffix = file.suffix.lower()
    packed = suffix in _PACKED and Path(file.stem).suffix.lower() in (*_data_suffixes(), *_OTHER_TEXTS)
    return packed or suffix in _OTHER_TEXTS


def _text_in(folder: Path) -> Path | None:
    """The first text of a folder; none of a clean copy, whose texts lie next to it."""
    try:
        files = _entries(folder)
    except OSError:
        return None
    if any(file.name == REPAIRS_NAME for file in files):
        return None
    texts = (file for file in files[:_LOOKED_INTO] if file.suffix.lower() in FORMATS["text"].suffixes)
    return next((file for file in texts if file.is_file() and is_to_learn(file) and is_prose(beginning(file))), None)


def _is_named_for_data(path: Path) -> bool:
    return path.suffix.lower() in _data_suffixes() or path.name.lower() == RELATIONS_FILE


def _data_suffixes() -> set[str]:
    return {suffix for _, form in FORMATS.items() for suffix in form.suffixes}


def _text_suffixes() -> list[str]:
    return sorted(FORMATS["text"].suffixes)


def _entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
