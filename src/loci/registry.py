"""Tables from names to things of one kind, and how a file or package from outside adds to them.

Every extension point of Loci is a `Registry`: attention, positions, trunks, objectives, recipes, answerers, labelers,
data formats, exercises, experiments, commands. A plugin is a Python file (`--import my.py`) or an installed package
with an entry point in the group `loci.plugins`; it imports the registry it extends and calls `add`:

    from loci.recipes import RECIPES

    @RECIPES.add("mine")
    def mine(shape): ...

Knows nothing of what is registered, and imports neither torch nor any other part of Loci but the error.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Generic, TypeVar, overload

from loci.errors import LociError

T = TypeVar("T")

PLUGIN_GROUP = "loci.plugins"


class Registry(Generic[T]):
    """Names to things of one kind, in the order they were added."""

    def __init__(self, kind: str):
        self.kind = kind
        self._entries: dict[str, T] = {}

    @overload
    def add(self, name: str) -> Callable[[T], T]: ...
    @overload
    def add(self, name: str, entry: T) -> T: ...

    def add(self, name: str, entry: T | None = None) -> T | Callable[[T], T]:
        """Register `entry` under a new name and return it; without an entry, a decorator that does so."""
        if entry is None:
            return lambda decorated: self.add(name, decorated)
        if name in self._entries:
            raise LociError(f"{self.kind} {name!r} is registered already", remedy="choose another name")
        self._entries[name] = entry
        return entry

    def remove(self, name: str) -> None:
        """Take a name out again; tests that register toys clean up with it."""
        del self._entries[name]

    def __getitem__(self, name: str) -> T:
        if name not in self._entries:
            raise LociError(f"unknown {self.kind} {name!r}", remedy=did_you_mean(name, self))
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def items(self) -> list[tuple[str, T]]:
        """Names with their entries."""
        return list(self._entries.items())

    def __repr__(self) -> str:
        return f"Registry({self.kind!r}: {', '.join(self._entries)})"


def did_you_mean(name: str, known: Registry[T] | list[str]) -> str:
    """The remedy for a misspelled name: the nearest known one, if any is near, and all of them."""
    import difflib

    near = difflib.get_close_matches(name, list(known), n=1)
    return (f"did you mean {near[0]!r}? " if near else "") + f"one of: {', '.join(known)}"


def import_file(path: str | Path) -> ModuleType:
    """Import a Python file, so that what it registers is there. The same file is imported once."""
    file = Path(path).resolve()
    name = f"loci_plugin_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise LociError("no such Python file", path=path, remedy="--import takes a file whose name ends in .py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except LociError:
        del sys.modules[name]
        raise
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        said = f"{type(error).__name__}: {error}"
        remedy = "mend it: it is run before the command" if isinstance(error, SystemExit) else None
        raise LociError(said, path=path, line=_line_of(error, file), remedy=remedy) from error
    return module


def _line_of(error: BaseException, file: Path) -> int | None:
    """The last line of `file` that the error passed through."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return error.lineno
    passed = (frame.lineno for frame in reversed(extract_tb(error.__traceback__)) if frame.filename == str(file))
    return next(passed, None)


def load_plugins() -> None:
    """Import every installed package that announces itself under the entry points `loci.plugins`."""
    from importlib.metadata import entry_points

    for point in entry_points(group=PLUGIN_GROUP):
        try:
            point.load()
        except Exception as error:
            where = f"plugin {point.name!r} ({point.value})"
            raise LociError(
                f"{where}: {type(error).__name__}: {error}", remedy="mend or uninstall its package"
            ) from error
