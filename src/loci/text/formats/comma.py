"""Question tables of spreadsheets: cells between commas or semicolons, in quotes where they hold one of these.

Each row is read as the same row with tabs, with a header or without; a clean copy is written as the file was, with each
row on a line of its own. Only the name tells such a file: `.csv`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from loci.text.findings import Notes
from loci.text.formats import course_tsv, table
from loci.text.formats.base import Format, Rows
from loci.text.formats.cells import rows, separator_of, written
from loci.text.source import Source, one_line

_LINE_END = re.compile(r"\s*\n\s*")


def questions(source: Source, notes: Notes) -> Rows:
    """The rows of the same table with tabs."""
    separator = separator_of(source.lines())
    numbers, tabbed = [], []
    for number, lines, cells in rows(source, separator, notes):
        line = "\t".join(one_line(_LINE_END.sub(" ", cell)) for cell in cells)
        numbers.append(number)
        tabbed.append(f"{line}\n")
        if lines > 1:
            before, after = written(cells, separator), _separated(line, separator)
            message = f"a quoted cell goes over {lines} lines"
            notes.warning("multiline-cell", message, number, before=before, after=after, repaired=True)
    same, own = replace(source, text="".join(tabbed)), Notes(source.path)
    read = (table.questions if table.has_header(same) else course_tsv.questions)(same, own)
    # Both count the lines with tabs, of which a row has one: its own number is that of its first line.
    notes.found += [replace(one, line=numbers[one.line - 1] if one.line else None) for one in own.found]
    kept = [replace(row, number=numbers[row.number - 1], clean=_separated(row.clean, separator)) for row in read.rows]
    header, between, after = read.frame
    head = _separated(header.removesuffix("\n"), separator) + "\n" if header else ""
    return Rows(kept, (head, between, after))


def _separated(line: str, separator: str) -> str:
    return written((table.unquote(cell) for cell in line.split("\t")), separator)


def is_csv(source: Source) -> bool:
    """Whether a file is named for such a table."""
    return source.path is not None and source.path.suffix.lower() == ".csv"


FORMAT = Format("question, comma, answer, or a first line that names the columns", (".csv",), is_csv, questions)
