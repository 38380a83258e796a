"""Pseudo-labels on disk: a table of questions, subjects, relations, answers and degrees.

`Questions.read` can read it too, but would look for subjects and relations again. Knows nothing of labelers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from loci.errors import LociError, naming
from loci.files import write_text
from loci.text.formats.table import quote, unquote
from loci.text.questions import Question, Questions
from loci.text.relations import Relation
from loci.text.source import numbered_lines

HEADER = ("question", "subject", "relation", "answer", "degree")


def write_labels(labels: Questions, path: Path) -> None:
    """Write the labels; the degree is empty where there is none."""
    rows = (
        (row.text, row.subject or "", row.relation, row.answer or "", "" if row.degree is None else str(row.degree))
        for row in labels
    )
    write_text(path, "".join("\t".join(map(quote, cells)) + "\n" for cells in (HEADER, *rows)))


def read_labels(path: Path, relations: Sequence[Relation] = ()) -> Questions:
    """The labels with their degrees; `relations` are those that the labels are about."""
    lines = numbered_lines(path)
    if tuple(next(lines, (1, ""))[1].split("\t")) != HEADER:
        raise LociError(f"the first line is not {', '.join(HEADER)}", path=path, line=1, remedy="train anew")
    rows = []
    for number, line in lines:
        with naming(path, line=number, remedy="train anew"):
            cells = tuple(map(unquote, line.split("\t")))
            if len(cells) != len(HEADER) or not (cells[4] == "" or cells[4] in tuple("0123456789")):
                raise LociError("is no pseudo-label: five cells, the last a digit or empty")
            text, subject, relation, answer, degree = cells
            known, sure = (answer,) if answer else (), int(degree) if degree else None
            rows.append(Question(text, known, subject or None, number, relation, path, sure))
    return Questions(path, tuple(rows), tuple(relations))
