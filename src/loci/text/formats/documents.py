"""Documents: JSON records with title and text. Each sentence becomes a line about the title; there are no questions."""

from __future__ import annotations

import re

from loci.text.findings import Notes
from loci.text.formats.base import Format, Passage
from loci.text.formats.records import Record, clean_corpus, has_fields, note_unknown, records
from loci.text.source import Source, has_surrogate, one_line, without_specials
from loci.text.subjects import sentences


def passages(source: Source, notes: Notes) -> list[Passage]:
    """`Title. sentence` for each sentence of each document, in order."""
    return [line for record in records(source, notes) for line in _told(notes, record) or ()]


def _told(notes: Notes, record: Record) -> list[Passage] | None:
    """The lines of a document; None where it cannot be used."""
    title, text = record.fields.get("title"), record.fields.get("text")
    if not isinstance(title, str) or not isinstance(text, str) or not without_specials(title).strip():
        note_unknown(notes, record)
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
    return found


def _is_heading(paragraph: str, title: str) -> bool:
    """Whether a paragraph is no text: the title again, or a heading such as `## Death` or `== Death ==`."""
    if paragraph in (title, f"{title}.") or paragraph.strip("#= ") in ("", title):
        return True
    return re.fullmatch(r"#{1,6} .*|(={2,}) .* \1", paragraph) is not None


def _has_documents(source: Source) -> bool:
    return has_fields(source, "title", "text") and not has_fields(source, "question")


FORMAT = Format(
    "JSON records with title and text",
    (".jsonl", ".json"),
    _has_documents,
    passages=passages,
    clean=lambda source: clean_corpus(source, _told, paragraphs=True),
)
