"""Writing and hashing files so that nothing is ever lost or half-written.

Every write goes to a temporary sibling, is fsynced and renamed over the target: a reader sees the old file or the new
one, never a part. Knows nothing of what the files mean.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

from loci.errors import LociError

T = TypeVar("T")
LARGEST_JSON, DENSE_JSON = 1 << 28, 1 << 26
"""Bytes of a JSON file, and bytes from which on it must not be made of tiny values, which take 20 times the memory."""
MARKED_WITHIN = 2000
"""Characters at the beginning of a file in which it says that Loci wrote it."""


def fsync_folder(folder: Path) -> None:
    """Make a rename inside `folder` survive a power cut; Windows has no such thing."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_REMEDIES = {
    errno.ENOSPC: "free some space, or choose another disk",
    getattr(errno, "EDQUOT", errno.ENOSPC): "free some space, or choose another disk",
    errno.EFBIG: "choose a disk that holds larger files",
    errno.EROFS: "choose a folder that can be written to",
    errno.EACCES: "choose a folder you may write to, or change its rights",
    errno.EPERM: "choose a folder you may write to, or change its rights",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EEXIST: "a part of this path is a file: choose another one",
    errno.ENOTDIR: "a part of this path is a file: choose another one",
}


def said_by_system(error: OSError, path: str | Path | None = None, what: str = "") -> LociError:
    """What the system says of a file, as the one error a user meets: the file, what is wrong, what to do."""
    named = error.filename if isinstance(error.filename, str | bytes) else None
    place = path if path is not None else os.fsdecode(named) if named is not None else None
    remedy = _REMEDIES.get(error.errno or 0, "check the name and its rights" if place is not None else None)
    return LociError(what + (error.strerror or str(error)), path=place, remedy=remedy)


@contextlib.contextmanager
def writing(target: Path) -> Iterator[None]:
    """A block that writes `target`: what goes wrong in it (a full disk, no rights) is a `LociError` that names it."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None or os.fsdecode(error.filename).startswith(str(target.parent)):
            raise said_by_system(error, target, "cannot be written: ") from None
        raise


_OWN_TEMPORARY = re.compile(r"\..+\.([0-9a-f]{8}|old)\.tmp")
_MOVED = re.compile(r"\.(.+)\.[0-9a-f]{8}\.old\.tmp")


def _sibling(target: Path) -> Path:
    return target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")


@contextlib.contextmanager
def atomic_file(target: str | Path) -> Iterator[Path]:
    """A temporary sibling to write to; it takes the target's name, fsynced, when the block ends without an error."""
    target = Path(target)
    if target.is_dir():
        raise LociError("is a folder, a file was to be written here", path=target, remedy="choose another name")
    if target.exists() and not target.is_file():  # the rename would take the place of a device
        raise LociError("is no regular file", path=target, remedy="choose another name")
    temporary = _sibling(target)
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield temporary
            with open(temporary, "rb+") as handle:
                os.fsync(handle.fileno())
            os.replace(temporary, target)
            fsync_folder(target.parent)
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic_writer(target: str | Path) -> Iterator[IO[str]]:
    """Open a UTF-8 text file that appears under its name only when the block ends without an error."""
    with atomic_file(target) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as handle:
        yield handle


def write_text(target: str | Path, text: str) -> None:
    """Write `text` atomically."""
    with atomic_writer(target) as handle:
        handle.write(text)


def require_marked(target: Path, mark: str, kind: str) -> bool:
    """Refuse a file without `mark` near its beginning: it is somebody's. False when there is none."""
    if not target.is_file():
        return False
    with open(target, "rb") as handle:
        if mark.encode() not in handle.read(4 * MARKED_WITHIN):
            raise LociError(f"is there already, and is no {kind} of Loci", path=target, remedy="choose another name")
    return True


def replace_own(target: str | Path, text: str, mark: str, kind: str) -> bool:
    """Write `text`, which bears `mark`, over nothing or over an older file with that mark; True when one was there."""
    assert mark in text[:MARKED_WITHIN]
    there = require_marked(Path(target), mark, kind)
    write_text(target, text)
    return there


def write_json(target: str | Path, value: Any) -> None:
    """Write `value` as readable JSON, atomically."""
    write_text(target, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


@contextlib.contextmanager
def atomic_folder(target: str | Path, *, own: Collection[str] = ()) -> Iterator[Path]:
    """Fill a folder that appears under its name, whole and fsynced, only when the block ends without an error.

    A folder already there is replaced if all it holds has the name of something written now, or one of `own`; anything
    else in it is somebody's. Between the two renames the old one stands under a hidden name next to it, and
    `remove_leftovers` gives it back its own.
    """
    target = Path(target).resolve() if Path(target).is_symlink() else Path(target)
    if target.exists() and not target.is_dir():
        raise LociError("is no folder, a folder was to be written here", path=target, remedy="choose another name")
    if target.resolve() == Path().resolve():  # whoever stands in it would stand in a folder that is gone
        raise LociError("is the folder you are in", path=target, remedy="name a folder to be made")
    temporary = _sibling(target)
    old = temporary.with_name(f"{temporary.name.removesuffix('.tmp')}.old.tmp")
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        try:
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    with open(file, "rb+") as handle:
                        os.fsync(handle.fileno())
            fsync_folder(temporary)
            if target.exists():
                _require_own(target, {*own, *os.listdir(temporary)})
                os.rename(target, old)
            try:
                os.rename(temporary, target)
            except OSError:
                if old.exists():
                    os.rename(old, target)
                raise
            shutil.rmtree(old, ignore_errors=True)
            fsync_folder(target.parent)
        except LociError as error:
            if error.path is not None and temporary in error.path.parents:  # nobody knows the hidden name
                raise LociError(error.message, path=target, line=error.line, remedy=error.remedy) from None
            raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _require_own(folder: Path, own: Collection[str]) -> None:
    for name in sorted(os.listdir(folder)):
        if name not in own:
            raise LociError(f"also holds {name}, which would be lost", path=folder, remedy="move that elsewhere")


def is_leftover(name: str) -> bool:
    """Whether a file or folder of this name is a temporary sibling of ours."""
    return _OWN_TEMPORARY.fullmatch(name) is not None


def remove_leftovers(folder: str | Path, of: str | None = None) -> None:
    """Delete the temporary siblings that a killed writer (`of` this one target) left in `folder`, and nobody else's.

    One killed between the two renames of `atomic_folder` had moved the old folder away: it is moved back.
    """
    for leftover in Path(folder).glob(f".{'*' if of is None else glob.escape(of)}.*.tmp"):
        if (moved := _MOVED.fullmatch(leftover.name)) and not leftover.with_name(moved[1]).exists():
            leftover.rename(leftover.with_name(moved[1]))
        elif is_leftover(leftover.name):
            shutil.rmtree(leftover, ignore_errors=True) if leftover.is_dir() else leftover.unlink(missing_ok=True)


def read_bytes(path: str | Path) -> bytes:
    """A file's bytes. One without a size (the system's own, under /proc) is empty: some of those never end."""
    return Path(path).read_bytes() if os.path.getsize(path) else b""


def sha256_file(path: str | Path) -> str:
    """Hex SHA-256 of a file's bytes; of a file without a size, which is not opened, that of none."""
    if not os.path.getsize(path):
        return hashlib.sha256().hexdigest()
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def sha256_text(text: str) -> str:
    """Hex SHA-256 of a text's UTF-8 bytes."""
    return hashlib.sha256(text.encode()).hexdigest()


def parse_json(text: str) -> Any:
    """The value of a JSON text; a broken one is a `LociError`, which names the line of a text of several."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise LociError(f"not valid JSON: {error.msg}", line=error.lineno if "\n" in text.strip() else None) from None
    except (ValueError, RecursionError):  # a number of thousands of digits, lists within lists without end
        raise LociError("not valid JSON: nothing here can hold it") from None


def read_struct(path: str | Path, schema: type[T], *, remedy: str) -> T:
    """Read a JSON file that holds exactly what `schema` says: a struct of msgspec, or any type it knows."""
    import msgspec  # later than at the start: `loci --help` must not wait for it

    try:
        if (size := os.path.getsize(path)) > LARGEST_JSON:
            raise LociError(f"is {size:,} bytes long, no file of its kind is", path=path, remedy=remedy)
        raw = read_bytes(path)
        if len(raw) > DENSE_JSON and 6 * sum(raw.count(mark) for mark in (b"[", b"{", b",", b'"')) > len(raw):
            raise LociError("holds more values than any file of its kind", path=path, remedy=remedy)
        return msgspec.json.decode(raw, type=schema)
    except OSError as error:
        what = error.strerror or str(error)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        what, _, where = str(error).replace("`", "").partition(" - at $")
        what = f"{where.lstrip('.')}: {what}" if where else what
    raise LociError(f"cannot be read: {what[:200]}", path=path, remedy=remedy)
