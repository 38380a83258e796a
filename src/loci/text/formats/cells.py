"""Lines of a CSV file to rows of cells, and back. Knows quotes and separators, no columns and what they mean.

A quoted cell may go over several lines. A quote that is never closed is noted, and its line left out: whether the cell
was broken off there cannot be told, and a part of an answer must not pass for the whole.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from loci.text.findings import Notes, shown
from loci.text.source import Source

_QUOTED = re.compile(r'"[^"]*"')


class Cells(NamedTuple):
    """One row: the line where it begins, how many lines it takes, and its cells."""

    number: int
    lines: int
    cells: list[str]


def separator_of(lines: Sequence[str]) -> str:
    """What stands in most lines outside quotes; of two, what the first line has more of."""
    bare = [_QUOTED.sub("", line) for line in lines if line.strip()]
    return max(",;\t", key=lambda one: (sum(one in line for line in bare), bare[0].count(one) if bare else 0))


def rows(source: Source, separator: str, notes: Notes) -> Iterator[Cells]:
    """The rows of a file, a blank line as a row of one empty cell."""
    lines = source.lines()
    place = 0
    while place < len(lines):
        line, number = lines[place], place + 1
        cells = _cells(line, separator)
        taken = 1
        if cells is None:
            cells, taken = _over_lines(lines, place, separator)
        place += taken
        if cells is None:
            message = f"a quote is opened and never closed: {shown(line)}"
            notes.error("unclosed-quote", message, number, before=line)
        else:
            yield Cells(number, taken, cells or [line])


def _cells(line: str, separator: str) -> list[str] | None:
    """The cells of a line; None where a quote is still open at its end."""
    try:
        read = list(csv.reader([f"{line}\n", "\n"], delimiter=separator))
    except csv.Error:  # a cell that is too long for the reader, or a control character: told of as it stands
        return [line]
    return read[0] if len(read) == 2 else None  # an open quote takes the second line into its cell


def _over_lines(lines: Sequence[str], place: int, separator: str) -> tuple[list[str] | None, int]:
    """The cells of a row whose quote is open at the end of its first line, and how many lines it takes.

    Strictly read: where a closing quote has text behind it, it is the opening one of another cell.
    """
    reader = csv.reader((f"{lines[at]}\n" for at in range(place, len(lines))), delimiter=separator, strict=True)
    try:
        return next(reader), reader.line_num
    except csv.Error:
        return None, 1


def written(cells: Iterable[str], separator: str) -> str:
    """A row as a line of the file."""
    line = io.StringIO()
    csv.writer(line, delimiter=separator, lineterminator="").writerow(cells)
    return line.getvalue()
