"""Documents as JSON records with title and text: each sentence becomes a line about the title."""

from __future__ import annotations

from loci.text.findings import Notes
from loci.text.formats.base import Format, Passage
from loci.text.formats.records import has_fields, note_unknown, records
from loci.text.source import Source, has_surrogate, one_line, without_specials
from loci.text.subjects import sentences


def passages(source: Source, notes: Notes) -> list[Passage]:
    """`Title. sentence` for each sentence of each document, in order."""
    found = []
    for record in records(source, notes):
        title, text = record.fields.get("title"), record.fields.get("text")
        if not isinstance(title, str) or not isinstance(text, str) or not without_specials(title).strip():
            note_unknown(notes, record)
            continue
        if has_surrogate(title + text):
            notes.error("encoding", "contains half a character (a lone surrogate)", record.number, before=record.text)
            continue
        subject = one_line(title).strip()
        for paragraph in text.split("\n"):
            said = sentences(one_line(paragraph).strip().removeprefix(f"{subject}. "))
            found += [Passage(record.number, f"{subject}. {sentence}", subject) for sentence in said]
    return found


def _fits(source: Source) -> bool:
    return has_fields(source, "title", "text") and not has_fields(source, "question")


FORMAT = Format("JSON records with title and text", (".jsonl", ".json"), _fits, passages=passages)
