"""Writing and hashing files so that nothing is ever lost or half-written.

Every write goes to a temporary sibling, is fsynced and renamed over the target: a reader sees the old file or the new
one, never a part. Knows nothing of what the files mean.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import types
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, TypeVar

from loci.errors import LociError

T = TypeVar("T")


def fsync_folder(folder: Path) -> None:
    """Make a rename inside `folder` survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sibling(target: Path) -> Path:
    return target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")


@contextlib.contextmanager
def atomic_file(target: str | Path) -> Iterator[Path]:
    """A temporary sibling to write to; it takes the target's name, fsynced, when the block ends without an error."""
    target = Path(target)
    if target.is_dir():
        raise LociError("is a folder, a file was to be written here", path=target, remedy="choose another name")
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = _sibling(target)
    try:
        yield temporary
        with open(temporary, "rb") as handle:
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


def write_json(target: str | Path, value: Any) -> None:
    """Write `value` as readable JSON, atomically."""
    write_text(target, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


@contextlib.contextmanager
def atomic_folder(target: str | Path) -> Iterator[Path]:
    """Fill a folder that appears under its name, whole and fsynced, only when the block ends without an error.

    A folder already there is replaced. Between the two renames the old one stands under a hidden name next to it.
    """
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = _sibling(target)
    temporary.mkdir()
    try:
        yield temporary
        for file in temporary.rglob("*"):
            if file.is_file():
                with open(file, "rb") as handle:
                    os.fsync(handle.fileno())
        fsync_folder(temporary)
        if target.exists():
            old = _sibling(target)
            os.rename(target, old)
            os.rename(temporary, target)
            shutil.rmtree(old)
        else:
            os.rename(temporary, target)
        fsync_folder(target.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def remove_leftovers(folder: str | Path) -> None:
    """Delete the temporary siblings that a killed writer left in `folder`."""
    for leftover in Path(folder).glob(".*.tmp"):
        shutil.rmtree(leftover, ignore_errors=True) if leftover.is_dir() else leftover.unlink(missing_ok=True)


def sha256_file(path: str | Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def sha256_text(text: str) -> str:
    """Hex SHA-256 of a text's UTF-8 bytes."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_json(path: str | Path) -> Any:
    """Read a JSON file; a missing or broken one is a `LociError` that names the line."""
    path = Path(path)
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LociError("no such file", path=path) from None
    except UnicodeDecodeError:
        raise LociError("is not UTF-8 text", path=path) from None
    except LociError as error:
        raise LociError(error.message, path=path, line=error.line) from None


def parse_json(text: str) -> Any:
    """The value of a JSON text; a broken one is a `LociError` that names the line."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise LociError(f"not valid JSON: {error.msg}", line=error.lineno) from None
    except (ValueError, RecursionError):  # a number of thousands of digits, lists within lists without end
        raise LociError("not valid JSON: nothing here can hold it") from None


def read_struct(path: str | Path, schema: type[T], *, remedy: str | None = None) -> T:
    """Read a JSON file that holds exactly what `schema` says: a struct of msgspec, or any type it knows."""
    import msgspec  # later than at the start: `loci --help` must not wait for it

    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=schema)
    except OSError as error:
        what = error.strerror or str(error)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        what, _, where = str(error).replace("`", "").partition(" - at $")
        what = f"{where.lstrip('.')}: {what}" if where else what
    raise LociError(f"cannot be read: {what[:200]}", path=path, remedy=remedy)


def read_object(path: str | Path, needs: Mapping[str, type | types.UnionType] = MappingProxyType({})) -> dict[str, Any]:
    """Read a JSON file that holds an object with at least these fields of these types."""
    found = read_json(path)
    if not isinstance(found, dict):
        raise LociError("a JSON object is wanted here", path=path)
    for name, wanted in needs.items():
        if name not in found:
            raise LociError(f"lacks the field {name!r}", path=path)
        if not isinstance(found[name], wanted):
            raise LociError(f"field {name!r} cannot be {json.dumps(found[name])[:40]}", path=path)
    return found
