"""JSON on disk to records, one object per line (JSONL) or one list of objects; and records to questions.

EntityQuestions is one JSON list of records with question and answers, the canonical answer first; JSON lines have such
a record on each line. Knows JSON, line numbers and the names of the fields.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
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
from loci.text.source import Source, one_line, without_specials

# json raises ValueError for bad text and for absurdly long numbers, RecursionError for absurdly deep nesting.
_JSON_ERRORS = (ValueError, RecursionError)
_HEAD = 1 << 16  # a label may stand after long evidence
_LONGEST = 1 << 18  # characters of a record that is sought after one that cannot be read
_TRIES = 1000  # braces that are tried as its beginning
_DECODER, _SPACE = json.JSONDecoder(), re.compile(r"[ \t\r\n]*")


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
            notes.error("not-json", _reason(error), number, before=line)


def _from_list(text: str, notes: Notes) -> Iterator[Record]:
    """Element by element, so that each record knows its line. After what cannot be read, the next record is sought."""
    position, number, counted = _after_space(text, text.index("[") + 1), 1, 0
    while position < len(text):
        ended = text.startswith("]", position)
        if ended and (position := _after_space(text, position + 1)) == len(text):
            return
        number, counted = number + text.count("\n", counted, position), position
        value, end, wrong = _decoded(text, position)
        if wrong or ended:
            wrong = "text after the end of the list" if ended else wrong
            position = _next_record(text, position)
            unread = text[counted:position].rstrip()
            last = number + unread.count("\n")
            lines = f" (lines {number:,} to {last:,} are not read)" if last > number else ""
            notes.error("not-json", wrong + lines, number, before=unread[:200])
            if position == len(text):
                return
            continue
        yield from _record(notes, number, value, text[position:end])
        position = _after_space(text, end)
        if text.startswith(",", position):
            position = _after_space(text, position + 1)
        elif text.startswith("{", position):
            line = number + text.count("\n", counted, position)
            notes.error("not-json", "a comma is missing before this record", line, before="", after=",")
    last = text.rstrip().count("\n") + 1
    notes.error("not-json", "the list breaks off: no ] at its end", last, before="", after="]")


def _after_space(text: str, position: int) -> int:
    return _SPACE.match(text, position).end()  # type: ignore[union-attr]  # matches everywhere


def _decoded(text: str, position: int) -> tuple[Any, int, str]:
    """The value that stands there, its end, and nothing wrong; or none, where it breaks, and what is wrong."""
    try:
        return *_DECODER.raw_decode(text, position), ""
    except RecursionError as error:
        return None, len(text), _reason(error)
    except ValueError as error:
        return None, getattr(error, "pos", position), _reason(error)


def _next_record(text: str, position: int) -> int:
    """Where the next record stands that can be read; the end of the text where there is none.

    It begins with the same field as the first record of the list: the objects inside a broken record are no records.
    """
    field = re.match(r'\s*\[\s*\{\s*("[^"]*")', text)
    begin = re.compile(r"\{\s*" + re.escape(field[1] if field else ""))
    for _ in range(_TRIES):
        if (found := begin.search(text, position)) is None:
            break
        start = found.start()
        tried = text[start : start + _LONGEST]  # an error counts all lines before it: many errors would take hours
        _, end, wrong = _decoded(tried, 0)
        if not wrong:
            return start
        # What was read before the break is no record; but a string without its end has swallowed the last brace.
        position = start + max(1, tried.rfind("{", 0, end))
    return len(text)


def _record(notes: Notes, number: int, value: Any, text: str) -> Iterator[Record]:
    if isinstance(value, dict):
        yield Record(number, value, text)
    else:
        message = f"is {type(value).__name__}, an object in braces was expected"
        notes.error("unknown-record", message, number, before=text)


def _reason(error: Exception) -> str:
    return f"not valid JSON: {error.msg if isinstance(error, json.JSONDecodeError) else 'cannot be read'}"


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


def tidy_json(value: Any, *, paragraphs: bool = False) -> str:
    """The record as a clean copy writes it; with `paragraphs` its strings keep their line ends."""

    def tidy(value: Any) -> Any:
        if isinstance(value, str):
            return without_specials(value if paragraphs else one_line(value)).strip()
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


def clean_corpus(
    source: Source, told: Callable[[Notes, Record], list[Passage] | None], *, paragraphs: bool = False
) -> str | None:
    """A clean copy of a corpus of records; None where nothing can be saved. `told` gives the lines of a record.

    Records without any (None) are left out, those of lines that are not clean are written anew.
    """
    notes, rows = Notes(source.path), []  # reading has noted the same
    for record in records(source, notes):
        if (lines := told(notes, record)) is not None:
            clean = all(without_specials(line.text).strip() == line.text for line in lines)
            text = record.text if clean else tidy_json(record.fields, paragraphs=paragraphs)
            rows.append(Row(record.number, None, None, None, text))
    return rows_of(source, rows).clean(rows)


JSON = Format("a JSON list of records with question and answers", (".json",), is_list, questions)
JSONL = Format("a JSON record with question and answers on each line", (".jsonl",), is_jsonl, questions)
