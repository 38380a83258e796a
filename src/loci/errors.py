"""The one error a user of Loci meets.

Knows nothing of the packages above. `LociError` is for bad input: it names the place, what is wrong and what to do. Our
own mistakes are `assert`s and stay tracebacks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

#: Everything that `str.splitlines` takes for the end of a line.
LINE_BREAKS = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")


class LociError(Exception):
    """Bad input, said in one line: where it is, what is wrong, what to do about it."""

    def __init__(
        self, message: str, *, path: str | Path | None = None, line: int | None = None, remedy: str | None = None
    ):
        self.message = message
        self.path = Path(path) if path is not None else None
        self.line = line
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        where = ""
        if self.path is not None:
            where = f"{self.path}:{self.line}: " if self.line is not None else f"{self.path}: "
        elif self.line is not None:
            where = f"line {self.line}: "
        remedy = f" ({self.remedy})" if self.remedy else ""
        # Messages quote what files contain: a line break there must not become a second line of ours.
        message = "".join(c if c not in LINE_BREAKS else repr(c)[1:-1] for c in self.message)
        return f"{where}{message}{remedy}"


@contextlib.contextmanager
def naming(path: str | Path | None, *, line: int | None = None, remedy: str | None = None) -> Iterator[None]:
    """A block that reads `path`: a `LociError` in it gets the file, line and remedy that it does not say itself."""
    try:
        yield
    except LociError as error:
        raise LociError(
            error.message,
            path=error.path if error.path is not None else path,
            line=error.line if error.line is not None else line,
            remedy=error.remedy or remedy,
        ) from None
