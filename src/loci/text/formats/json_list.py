"""EntityQuestions: one JSON list of records with question and answers, the canonical answer first."""

from __future__ import annotations

from loci.text.findings import Notes
from loci.text.formats.base import Format, Rows
from loci.text.formats.records import is_list, question_row, records
from loci.text.source import Source


def questions(source: Source, notes: Notes) -> Rows:
    """The rows of the list."""
    rows = [row for record in records(source, notes) if (row := question_row(notes, record))]
    return Rows(rows, ("[\n", ",\n", "\n]\n"))


FORMAT = Format("a JSON list of records with question and answers", (".json",), is_list, questions)
