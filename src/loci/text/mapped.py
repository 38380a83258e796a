"""Folders of arrays that are made once of some files and mapped into memory whenever those are read again.

All processes of a machine share the mapped pages. Every file is checked against its hash. Knows nothing of what the
arrays mean.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from loci.errors import LociError
from loci.files import read_struct, remove_leftovers, write_json
from loci.manifest import hashes_of, read_manifest, require_files, write_manifest

Array = NDArray[Any]
A = TypeVar("A", bound=msgspec.Struct)
T = TypeVar("T")
_REMEDY = "remove the folder: it is compiled anew"


def folder_for(path: Path) -> Path:
    """Where the arrays of a file are kept: next to it, or in the user's cache where that cannot be written."""
    if os.access(path.parent, os.W_OK):
        return path.with_name(f"{path.name}.compiled")
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return home / "loci" / f"{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]}.compiled"


def opened_or_made(folder: Path, opened: Callable[[], T | None], make: Callable[[], bool]) -> T | None:
    """What `opened` reads from a folder, after `make` has written it if need be; None where it could not."""
    if (found := opened()) is not None:
        return found
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f".{folder.name}.lock")):  # of several processes one compiles, the others wait
        if (found := opened()) is None:
            remove_leftovers(folder.parent, folder.name)  # of one that was killed: as large as the arrays
            found = opened() if make() else None
    return found


def finish_folder(folder: Path, kind: str, format: int, about: msgspec.Struct, name: str) -> None:
    """Write what is known about the arrays of a new folder, and the hashes of all its files."""
    write_json(folder / name, msgspec.to_builtins(about))
    write_manifest(folder, kind, format, hashes_of(folder))


def read_arrays(
    folder: Path, kind: str, format: int, about: type[A], name: str, arrays: Iterable[str]
) -> tuple[A, dict[str, Array]] | None:
    """What is known about the arrays, and the arrays; None where they are damaged, missing or of another version."""
    if not folder.is_dir():
        return None
    try:
        manifest = read_manifest(folder, kind, format, remedy=_REMEDY)
        known = read_struct(folder / name, about, remedy=_REMEDY)
        require_files(folder, manifest, [name, *(f"{array}.npy" for array in arrays)], remedy=_REMEDY)
        # As plain arrays over the mapped pages: numpy looks up single numbers of a memmap several times slower.
        return known, {array: np.asarray(_mapped(folder / f"{array}.npy")) for array in arrays}
    except (LociError, ValueError, OSError, EOFError):
        return None


def _mapped(file: Path) -> Array:
    try:
        found: Array = np.load(file, mmap_mode="r")
        return found
    except Exception as error:  # numpy reads the header as Python source: a damaged one raises whatever that may
        raise LociError("not an array", path=file, remedy=_REMEDY) from error
