"""Documents in a spreadsheet's table: a `.csv` whose first line names the columns title and text, and no question.

Each row is read as a record of `loci.text.formats.documents`; a text may go over several lines.
"""

from __future__ import annotations

from collections.abc import Iterator

from loci.text.findings import Notes
from loci.text.formats.base import Format, Passage
from loci.text.formats.cells import Cells, rows, separator_of, written
from loci.text.formats.comma import is_csv
from loci.text.formats.documents import told
from loci.text.formats.json_text import Record
from loci.text.source import Source, one_line, without_specials


def passages(source: Source, notes: Notes) -> list[Passage]:
    """`Title. sentence` for each sentence of each document, in order."""
    _, records = _table(source, notes)
    return [line for record in records for line in told(notes, record) or ()]


def _clean(source: Source) -> str | None:
    notes = Notes(source.path)  # reading has noted the same
    names, records = _table(source, notes)
    separator = separator_of(source.lines())
    kept = [
        written((_tidy(name, cell) for name, cell in record.fields.items()), separator)
        for record in records
        if told(notes, record) is not None
    ]
    return "".join(f"{line}\n" for line in (written(names, separator), *kept)) if kept else None


def _tidy(name: str, cell: str) -> str:
    return without_specials(cell if name == "text" else one_line(cell)).strip()


def _table(source: Source, notes: Notes) -> tuple[list[str], Iterator[Record]]:
    """The names of the columns, and the records below them."""
    separator = separator_of(source.lines())
    filled = (row for row in rows(source, separator, notes) if _is_filled(row, notes))
    header = next(filled, None)
    names = [without_specials(cell).strip().lower() for cell in header.cells] if header is not None else []

    def records() -> Iterator[Record]:
        for number, _, cells in filled:
            text = written(cells, separator)
            if len(cells) > len(names):  # a comma of a text without quotes: what it says would be cut there
                notes.error("extra-column", f"{len(cells)} columns, the header names {len(names)}", number, before=text)
            else:
                yield Record(number, dict(zip(names, cells, strict=False)), text)

    return names, records()


def _is_filled(row: Cells, notes: Notes) -> bool:
    filled = any(cell.strip() for cell in row.cells)
    if not filled:
        notes.note("empty-line", "is blank", row.number, before="", repaired=True)
    return filled


def _fits(source: Source) -> bool:
    if not is_csv(source):
        return False
    names, _ = _table(source, Notes(source.path))
    return {"title", "text"}.issubset(names) and "question" not in names and len(set(names)) == len(names)


FORMAT = Format("a .csv with the columns title and text", (".csv",), _fits, passages=passages, clean=_clean)
