"""JSON on disk to records, one object per line (JSONL) or one list of objects; and records to questions or documents.

EntityQuestions is one JSON list of records with question and answers, the canonical answer first; JSON lines have such
a record on each line. Documents are records with title and text: each sentence becomes a line about the title. Knows
JSON, line numbers and the names of the fields.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from loci.text.findings import Notes, shown
from loci.text.formats.base import (
    ANSWER_FIELDS,
    RELATION_FIELDS,
    SUBJECT_FIELDS,
    Format,
    Passage,
    Row,
    Rows,
    filled_lines,
    tidy_row,
)
from loci.text.source import Source, has_surrogate, one_line, without_specials
from loci.text.subjects import sentences

# json raises ValueError for bad text and for absurdly long numbers, RecursionError for absurdly deep nesting.
_JSON_ERRORS = (ValueError, RecursionError)
_HEAD = 1 << 16  # a label may stand after long evidence


@dataclass(frozen=True)
class Record:
    """One JSON object and where it stands. `text` is the object as written."""

    number: int
    fields: dict[str, Any]
    text: str


def is_list(source: Source) -> bool:
    """Whether a file begins like a JSON list of objects."""
    return _may_be_json(source) and re.match(r"\s*\[\s*\{", source.text) is not None


def is_jsonl(source: Source) -> bool:
    """Whether a file begins like a JSON object."""
    return _may_be_json(source) and re.match(r'\s*\{\s*"', source.text) is not None


def _may_be_json(source: Source) -> bool:
    return source.path is None or source.path.suffix.lower() != ".tsv"  # a table whatever its first character


def has_fields(source: Source, *names: str) -> bool:
    """Whether the beginning of a file of records names all these fields."""
    head = source.text[:_HEAD]
    return (is_list(source) or is_jsonl(source)) and all(f'"{name}"' in head for name in names)


def records(source: Source, notes: Notes) -> Iterator[Record]:
    """The records of a JSON list or of JSON lines. What cannot be read is noted, everything else is kept."""
    yield from _from_list(source.text, notes) if is_list(source) else _from_lines(source, notes)


def _from_lines(source: Source, notes: Notes) -> Iterator[Record]:
    for number, line in filled_lines(source, notes):
        try:
            yield from _record(notes, number, json.loads(line), line.strip())
        except _JSON_ERRORS as error:
            _note_bad(notes, number, error, line)


def _from_list(text: str, notes: Notes) -> Iterator[Record]:
    """Element by element, so that each record knows its line."""
    decoder, space = json.JSONDecoder(), re.compile(r"[ \t\r\n]*")
    position, number, counted = text.index("[") + 1, 1, 0

    def at(position: int) -> str:
        return text[position : position + 1]

    while True:
        position = space.match(text, position).end()  # type: ignore[union-attr]  # matches everywhere
        number, counted = number + text.count("\n", counted, position), position
        if at(position) == "]":
            if rest := text[position + 1 :].strip():
                notes.error("not-json", "text after the end of the list", number, before=rest)
            return
        try:
            value, end = decoder.raw_decode(text, position)
        except _JSON_ERRORS as error:
            _note_bad(notes, number, error, text[position : position + 200])
            return
        yield from _record(notes, number, value, text[position:end])
        position = space.match(text, end).end()  # type: ignore[union-attr]
        if at(position) == ",":
            position += 1
        elif at(position) != "]":
            line = number + text.count("\n", counted, position)
            notes.error("not-json", "the list breaks off: no comma or ] after this record", line, before="", after="")
            return


def _record(notes: Notes, number: int, value: Any, text: str) -> Iterator[Record]:
    if isinstance(value, dict):
        yield Record(number, value, text)
    else:
        message = f"is {type(value).__name__}, an object in braces was expected"
        notes.error("unknown-record", message, number, before=text)


def _note_bad(notes: Notes, number: int, error: Exception, text: str) -> None:
    reason = error.msg if isinstance(error, json.JSONDecodeError) else "cannot be read"
    notes.error("not-json", f"not valid JSON: {reason}", number, before=text)


def note_unknown(notes: Notes, record: Record) -> None:
    """Note a record of no form we know."""
    fields = ", ".join(list(record.fields)[:6])
    message = f"no question and no subject in a record with the fields {fields}"
    notes.error("unknown-record", message, record.number, before=record.text)


def question_row(notes: Notes, record: Record) -> Row | None:
    """The row of a record with a question."""
    fields = record.fields
    question = fields.get("question")
    if not isinstance(question, str):
        note_unknown(notes, record)
        return None
    column = next((name for name in ANSWER_FIELDS if name in fields), None)
    value = fields[column] if column else None
    told = strings(value) if column == "answer" else listed_strings(value)
    if told is None:
        message = f"the answers are not a JSON list: {shown(str(value))}"
        notes.error("not-json", message, record.number, before=record.text)
        return None

    def rewrite(row: Row) -> str:
        # A list that was written as text is written as a list: what was put right in it would be hidden there.
        return tidy_json({**fields, column: row.answers} if isinstance(value, str) and told != [value] else fields)

    answers = tuple(told) if column else None
    row = Row(record.number, question, answers, first(fields, SUBJECT_FIELDS), record.text, relation_of(fields))
    return tidy_row(notes, row, rewrite)


def first(fields: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """The first of these fields that is there, if it is a string."""
    value = next((fields[name] for name in names if name in fields), None)
    return value if isinstance(value, str) else None


def relation_of(fields: dict[str, Any]) -> str | None:
    """The relation a record names."""
    return first(fields, RELATION_FIELDS)


def tidy_json(value: Any) -> str:
    """The record as a clean copy writes it."""

    def tidy(value: Any) -> Any:
        if isinstance(value, str):
            return without_specials(one_line(value)).strip()
        if isinstance(value, list):
            return [tidy(item) for item in value]
        if isinstance(value, dict):
            return {tidy(key): tidy(item) for key, item in value.items()}
        return value

    return json.dumps(tidy(value), ensure_ascii=False)


def strings(value: Any) -> list[str]:
    """The strings of a field that may hold one, a list of them, a number, or nothing."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    if isinstance(value, bool) or value is None or isinstance(value, dict):
        return []
    return [str(value)]


def listed_strings(value: Any) -> list[str] | None:
    """The strings of a field of answers. Text may hold a JSON list, as PopQA's does; None where that cannot be read."""
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return strings(value)
    try:
        return strings(json.loads(value))
    except _JSON_ERRORS:
        return None


def rows_of(source: Source, rows: list[Row]) -> Rows:
    """Rows with the frame of the file they come from."""
    return Rows(rows, ("[\n", ",\n", "\n]\n")) if is_list(source) else Rows(rows)


def questions(source: Source, notes: Notes) -> Rows:
    """A row for each record."""
    return rows_of(source, [row for record in records(source, notes) if (row := question_row(notes, record))])


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
            paragraph = one_line(paragraph).strip()
            if _is_heading(paragraph, subject):
                continue
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


JSON = Format("a JSON list of records with question and answers", (".json",), is_list, questions)
JSONL = Format("a JSON record with question and answers on each line", (".jsonl",), is_jsonl, questions)
DOCUMENTS = Format("JSON records with title and text", (".jsonl", ".json"), _has_documents, passages=passages)
