"""Documents: JSON records with title and text. Each sentence becomes a line about the title.

Such records may also hold a question and its answer: then they are questions and a part of the corpus at once.
"""

from __future__ import annotations

import re

from loci.text.findings import Notes, shown
from loci.text.formats.base import Format, Passage, Row
from loci.text.formats.json_text import Record, has_fields, records
from loci.text.formats.records import clean_corpus, note_unknown, question_row, questions
from loci.text.source import Source, has_surrogate, one_line, without_specials
from loci.text.subjects import sentences


def passages(source: Source, notes: Notes) -> list[Passage]:
    """`Title. sentence` for each sentence of each document, in order."""
    return [line for record in records(source, notes) for line in told(notes, record) or ()]


def told(notes: Notes, record: Record) -> list[Passage] | None:
    """The lines of a document; None where it cannot be used."""
    title, text = record.fields.get("title"), record.fields.get("text")
    if not isinstance(title, str) or not isinstance(text, str) or not without_specials(title).strip():
        note_unknown(notes, record, "title with a text")
        return None
    if has_surrogate(title + text):
        notes.error("encoding", "contains half a character (a lone surrogate)", record.number, before=record.text)
        return None
    subject = one_line(title).strip()
    found = []
    for paragraph in text.split("\n"):
        paragraph = one_line(paragraph).strip()
        if not _is_heading(paragraph, subject):
            said = sentences(paragraph.removeprefix(f"{subject}. "))
            found += [Passage(record.number, f"{subject}. {sentence}", subject) for sentence in said]
    if not found:
        notes.warning("empty-document", f"{shown(subject, 40)} has no text", record.number)
    return found


def _passages_once(source: Source, notes: Notes) -> list[Passage]:
    """The same of records with questions: several may ask about one document, whose lines are there once."""
    found: dict[tuple[str, str | None], Passage] = {}
    for record in records(source, notes):
        for line in _told_if_document(notes, record) or ():
            found.setdefault((line.text, line.subject), line)
    return list(found.values())


def _told_if_document(notes: Notes, record: Record) -> list[Passage] | None:
    """The same; a question among documents is no fault."""
    return told(notes, record) if "title" in record.fields or "question" not in record.fields else []


def _row(notes: Notes, record: Record) -> Row | None:
    """The question of a document; none where either cannot be used, since a clean copy has both or neither."""
    said = _told_if_document(notes, record)
    return None if said is None else question_row(notes, record, [line.text for line in said])


def _is_heading(paragraph: str, title: str) -> bool:
    """Whether a paragraph is no text: the title again, or a heading such as `## Death` or `== Death ==`."""
    if paragraph in (title, f"{title}.") or paragraph.strip("#= ") in ("", title):
        return True
    return re.fullmatch(r"#{1,6} .*|(={2,}) .* \1", paragraph) is not None


def _has_documents(source: Source) -> bool:
    return has_fields(source, "title", "text")


def _is_asked_about(source: Source) -> bool:
    return _has_documents(source) and has_fields(source, "question")


FORMAT = Format(
    "JSON records with title and text",
    (".jsonl", ".json"),
    lambda source: _has_documents(source) and not _is_asked_about(source),
    passages=passages,
    clean=lambda source: clean_corpus(source, told),
)
ASKED = Format(
    "JSON records with title, text, question and answers",
    (".jsonl", ".json"),
    _is_asked_about,
    lambda source, notes: questions(source, notes, _row),
    _passages_once,
    lambda source: clean_corpus(source, _told_if_document),
)
