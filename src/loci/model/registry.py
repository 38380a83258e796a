"""A table from names to classes whose errors list what there is. Each axis of the model has one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from loci.errors import LociError

T = TypeVar("T")


class Registry(Generic[T]):
    """Names to things of one kind."""

    def __init__(self, kind: str):
        self.kind = kind
        self._entries: dict[str, T] = {}

    def add(self, name: str, entry: T) -> T:
        """Register under a new name."""
        assert name not in self._entries, f"{self.kind} {name!r} is registered already"
        self._entries[name] = entry
        return entry

    def remove(self, name: str) -> None:
        """Take a name out again; tests that register toys clean up with it."""
        del self._entries[name]

    def __getitem__(self, name: str) -> T:
        try:
            return self._entries[name]
        except KeyError:
            raise LociError(f"unknown {self.kind} {name!r}", remedy=f"one of: {', '.join(self._entries)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries
