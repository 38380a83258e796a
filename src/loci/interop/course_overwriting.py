"""What the course's commands may write over: their own files, and nothing that somebody else put there.

Everything is checked before hours of work, and said when it happens. Knows nothing of trainings.
"""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

from loci.errors import LociError
from loci.interop.course_notes import NOTE, note_of, read_note
from loci.text.layout import has_answers


def require_replaceable(params: Path) -> None:
    """Refuse to write a .params file over anything but another one, and its note over anything but a note."""
    if params.is_dir():
        raise LociError("is a folder, a .params file was to be written here", path=params)
    if params.is_file() and not _may_be_params(params):
        raise LociError("is there already, and is no .params file", path=params, remedy="choose another name")
    note = note_of(params)
    if note.is_dir():
        raise LociError("is a folder, and a note about the params is to be written here", path=note, remedy="move it")
    try:
        read_note(params)
    except LociError:
        remedy = "choose another name, or move it"
        raise LociError("is there already, and is no note about params", path=note, remedy=remedy) from None


def require_answers_place(outputs: Path, read: Iterable[Path | None]) -> None:
    """Refuse to write answers over what is read, over weights, over questions with answers, or where nothing can be."""
    if outputs.is_dir():
        raise LociError("is a folder, the answers were to be written here", path=outputs)
    if outputs.resolve() in {file.resolve() for given in read if given is not None for file in _files(given)}:
        raise LociError("is read and would be written over", path=outputs, remedy="choose another --outputs_path")
    if outputs.exists() and (not outputs.is_file() or _is_precious(outputs)):
        remedy = "choose another --outputs_path"
        raise LociError("is there already, and is no file of answers", path=outputs, remedy=remedy)
    folder = next(folder for folder in outputs.parents if folder.exists())
    if not folder.is_dir():
        raise LociError("is a file, and the answers were to be written below it", path=folder)


def replacing(file: Path, note: Callable[[str], None]) -> None:
    """Nothing is overwritten without a word."""
    if file.exists():
        note(f"replacing {file}")


def _may_be_params(file: Path) -> bool:
    """An archive of torch's or a part of one, an old pickle, or nothing at all."""
    with contextlib.suppress(zipfile.BadZipFile, NotImplementedError), zipfile.ZipFile(file) as archive:
        return any(name.endswith("data.pkl") for name in archive.namelist())
    with open(file, "rb") as handle:
        begin = handle.read(2)
    return not begin or begin == b"PK" or begin[:1] == b"\x80"


def _is_precious(file: Path) -> bool:
    with open(file, "rb") as handle:
        begin = handle.read(2)
    return begin == b"PK" or begin[:1] == b"\x80" or file.name.endswith(NOTE) or has_answers(file)


def _files(given: Path) -> list[Path]:
    return [given, *given.iterdir()] if given.is_dir() else [given]
