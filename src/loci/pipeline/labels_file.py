"""Pseudo-labels on disk: a table of questions, answers and degrees, which `Questions.read` can read too.

Knows nothing of labelers.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from loci.errors import LociError
from loci.files import write_text
from loci.text.questions import Questions

HEADER = ("question", "subject", "answer", "degree")


def write_labels(labels: Questions, path: Path) -> None:
    """Write the labels; those without degrees as any other questions."""
    if all(row.degree is None for row in labels):
        labels.write(path)
        return
    rows = (
        (row.text, row.subject or "", row.answer or "", "" if row.degree is None else str(row.degree)) for row in labels
    )
    write_text(path, "".join("\t".join(cells) + "\n" for cells in (HEADER, *rows)))


def read_labels(path: Path) -> Questions:
    """The labels with their degrees, if they have any."""
    labels = Questions.read(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or tuple(lines[0].split("\t")) != HEADER:
        return labels
    rows = []
    for row, line in zip(labels.rows, lines[1:], strict=True):
        cell = line.rpartition("\t")[2]
        if cell and cell not in "0123456789":
            raise LociError(f"a degree is one digit, not {cell!r}", path=path, line=row.number, remedy="train anew")
        rows.append(replace(row, degree=int(cell) if cell else None))
    return replace(labels, rows=tuple(rows))
