"""JSON lines: a record with question and answer or answers on each line."""

from __future__ import annotations

from loci.text.findings import Notes
from loci.text.formats.base import Format, Rows
from loci.text.formats.records import is_jsonl, question_row, records
from loci.text.source import Source


def questions(source: Source, notes: Notes) -> Rows:
    """A row for each line."""
    return Rows([row for record in records(source, notes) if (row := question_row(notes, record))])


FORMAT = Format("a JSON record with question and answers on each line", (".jsonl",), is_jsonl, questions)
