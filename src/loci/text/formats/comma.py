"""Question tables of spreadsheets: cells between commas or semicolons, in quotes where they hold one of these.

Each line is read as the same line with tabs, with a header or without; a clean copy is written as the file was. Only
the name tells such a file: `.csv`. A cell with a line end in it is not understood.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

from loci.text.findings import Notes
from loci.text.formats import course_tsv, table
from loci.text.formats.base import Format, Rows
from loci.text.source import Source, one_line

_QUOTED = re.compile(r'"[^"]*"')


def questions(source: Source, notes: Notes) -> Rows:
    """The rows of the same table with tabs."""
    lines = source.lines()
    separator = _separator(lines)
    text = "".join(f"{_with_tabs(line, separator)}\n" for line in lines)
    tabbed = replace(source, text=text)
    read = table.questions if table.has_header(tabbed) else course_tsv.questions
    rows = read(tabbed, notes)
    kept = [replace(row, clean=_separated(row.clean, separator)) for row in rows.rows]
    header, between, after = rows.frame
    written = _separated(header.removesuffix("\n"), separator) + "\n" if header else ""
    return Rows(kept, (written, between, after))


def _separator(lines: list[str]) -> str:
    """What stands in most lines outside quotes; of two, what the first line has more of."""
    bare = [_QUOTED.sub("", line) for line in lines if line.strip()]
    return max(",;\t", key=lambda one: (sum(one in line for line in bare), bare[0].count(one) if bare else 0))


def _with_tabs(line: str, separator: str) -> str:
    try:
        return "\t".join(one_line(cell) for cells in csv.reader([line], delimiter=separator) for cell in cells)
    except csv.Error:  # a cell that is too long for the reader, or a control character: told of as it stands
        return line


def _separated(line: str, separator: str) -> str:
    written = io.StringIO()
    cells = (table.unquote(cell) for cell in line.split("\t"))
    csv.writer(written, delimiter=separator, lineterminator="").writerow(cells)
    return written.getvalue()


def _is_csv(source: Source) -> bool:
    return source.path is not None and source.path.suffix.lower() == ".csv"


FORMAT = Format("question, comma, answer, or a first line that names the columns", (".csv",), _is_csv, questions)
