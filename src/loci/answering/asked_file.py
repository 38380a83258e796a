"""A file of questions that are only asked: one with the model's own symbols does not end it, as nothing is taught.

Such a question stays as it stands in the file, for the answerer to be silent about with its reason. Knows nothing of
models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from loci.text.findings import Notes, shown
from loci.text.layout import Role
from loci.text.parsed_questions import ParsedQuestions, parse_questions
from loci.text.questions import Questions, read_parsed
from loci.text.relations import Relation
from loci.text.source import Source, with_stand_ins, without_stand_ins


def read_asked(path: str | Path, *, split: Role | None = None, relations: Sequence[Relation] = ()) -> Questions:
    """As `Questions.read`, but with every question; an answer with the model's own symbols is refused."""
    return read_parsed(Path(path), split, relations, parse=_parse)


def _parse(source: Source) -> ParsedQuestions:
    """The rows with the model's own symbols in their questions, which cleaning takes out; else as they are."""
    parsed, text = parse_questions(source), with_stand_ins(source.text)
    if text == source.text:
        return parsed
    kept = parse_questions(replace(source, text=text))
    answers = "".join(answer for row in kept.rows for answer in row.answers or ())
    if any(found.severity == "error" for found in kept.findings) or answers != without_stand_ins(answers):
        return parsed
    notes, rows = Notes(source.path, kept.findings), []
    for row in kept.rows:
        question, subject, relation = (
            text and without_stand_ins(text) for text in (row.question, row.subject, row.relation)
        )
        rows.append(replace(row, question=question, subject=subject, relation=relation))
        if rows[-1] != row:  # a file with findings is kept nowhere, where it might teach
            notes.warning("special-symbol", f"cannot be asked: {shown(rows[-1].question or '')}", row.number)
    return replace(kept, found=replace(kept.found, rows=rows), findings=tuple(notes.found))
