"""One writer for a run's folder: a lock that names its owner and ends with its process.

The system holds the lock, so one whose process died is free again, whatever its file says. Knows nothing of runs.
"""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
from filelock import FileLock, Timeout

from loci.errors import LociError
from loci.files import read_struct, write_json

LOCK, OWNER = ".lock", ".lock.json"


class Owner(msgspec.Struct, frozen=True):
    """Who holds a folder."""

    process: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
    host: str
    started: str

    def __str__(self) -> str:
        return f"process {self.process} on {self.host} since {self.started}"


@contextlib.contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Hold a folder; if another process does, that is a `LociError` that names it."""
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise LociError(
            f"is being written by {_owner(folder)}",
            path=folder,
            remedy="wait for it, stop it, or choose another place",
        ) from None
    try:
        started = datetime.now(UTC).isoformat(timespec="seconds")
        write_json(folder / OWNER, msgspec.to_builtins(Owner(os.getpid(), platform.node(), started)))
        yield
    finally:
        (folder / OWNER).unlink(missing_ok=True)
        lock.release()


def is_owned(folder: Path) -> bool:
    """Whether a process of this machine is writing the folder now."""
    try:
        owner = read_struct(folder / OWNER, Owner, remedy="")
        os.kill(owner.process, 0)
    except PermissionError:  # it is there, and somebody else's
        return True
    except (LociError, OSError):
        return False
    return owner.host == platform.node()


def _owner(folder: Path) -> str:
    try:
        return str(read_struct(folder / OWNER, Owner, remedy=""))
    except LociError:
        return "another process"
