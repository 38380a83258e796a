"""JSON on disk to records, one object per line (JSONL) or one list of objects. Knows JSON and line numbers, no fields.

What cannot be read is noted, everything else is kept: records that share a line or stand on several, those after a
broken one, those of a list that breaks off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from loci.text.findings import Notes, shown
from loci.text.source import Source

# json raises ValueError for bad text and for absurdly long numbers, RecursionError for absurdly deep nesting.
JSON_ERRORS = (ValueError, RecursionError)
_HEAD = 1 << 16  # a label may stand after long evidence
_LONGEST = 1 << 18  # characters of a record over several lines, or one that is sought after one that cannot be read
_TRIES = 1000  # braces that are tried as its beginning
_DECODER, _SPACE = json.JSONDecoder(), re.compile(r"[ \t\r\n]*")
_COMMA = re.compile(r"[ \t]*,?[ \t]*")  # the lines of a list that lost its brackets have one


@dataclass(frozen=True)
class Record:
    """One JSON object and where it stands. `text` is the object as written; of JSON lines, on one line."""

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
    """Line by line; where a line is no record by itself, as many records as can be read from there on."""
    text, position, end, number = source.text, 0, -1, 1
    odd: list[tuple[int, str]] = []
    while position < len(text):
        if position > end:
            end = text.find("\n", position) % (len(text) + 1)  # -1 is the end of the text
        begins = position == 0 or text[position - 1] == "\n"  # behind a record, the rest of a long line is not copied
        if not text[position:end].strip() if begins else _after_space(text, position) >= end:
            if begins:
                notes.note("empty-line", "is blank", number, before=text[position:end], repaired=True)
            position, number = end + 1, number + 1
            continue
        value, stop, wrong = _whole_line(text[position:end], end) if begins else (None, end, "text between records")
        if wrong:
            value, stop, wrong = _from_there(text, _after_space(text, position), end, wrong)
        if wrong:
            stop = _next_record(text, position + 1, text.find("\n{", position) + 1 or len(text))
            unread = text[position:stop].strip()
            notes.error("not-json", wrong + _unread_lines(number, unread), number, before=unread[:200])
        else:
            written = text[position:stop].strip()
            odd += [] if begins and stop == end else [(number, written)]
            yield from _record(notes, number, value, re.sub(r"\s*\n\s*", " ", written))  # no string has a line end
            stop = _COMMA.match(text, stop).end()  # type: ignore[union-attr]  # matches everywhere
        number, position = number + text.count("\n", position, stop), stop
    if odd:
        first, written = odd[0]
        message = f"{len(odd):,} records do not stand alone on one line, the first is {shown(written, 40)}"
        notes.warning("odd-lines", message, first, before=written[:200], after="one record a line", repaired=True)


def _whole_line(line: str, end: int) -> tuple[Any, int, str]:
    """As `_decoded`, of a line that ends there."""
    try:
        return json.loads(line), end, ""
    except JSON_ERRORS as error:
        return None, end, _reason(error)


def _from_there(text: str, start: int, end: int, wrong: str) -> tuple[Any, int, str]:
    """As `_decoded`, of an object that begins there; what is `wrong` without it where there is none."""
    if text.startswith("{", start):
        # A part of the text: an error counts all lines before it. Only a long line needs more than the usual part.
        for last in sorted({start + _LONGEST, max(end, start + _LONGEST)}):
            value, stop, wrong = _decoded(text[start:last], 0)
            if not wrong:
                return value, start + stop, ""
    return None, end, wrong


def _unread_lines(first: int, unread: str) -> str:
    last = first + unread.count("\n")
    return f" (lines {first:,} to {last:,} are not read)" if last > first else ""


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
            position = _next_record(text, position, len(text))
            unread = text[counted:position].rstrip()
            notes.error("not-json", wrong + _unread_lines(number, unread), number, before=unread[:200])
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


def _next_record(text: str, position: int, end: int) -> int:
    """Where the next record stands that can be read; `end` where there is none before it.

    It begins with the same field as the first record: the objects inside a broken record are no records.
    """
    field = re.match(r'\s*\[?\s*\{\s*("[^"]*")', text)
    begin = re.compile(r"\{\s*" + re.escape(field[1] if field else ""))
    for _ in range(_TRIES):
        if (found := begin.search(text, position, end)) is None:
            break
        start = found.start()
        tried = text[start : start + _LONGEST]  # an error counts all lines before it: many errors would take hours
        _, broken, wrong = _decoded(tried, 0)
        if not wrong:
            return start
        # What was read before the break is no record; but a string without its end has swallowed the last brace.
        position = start + max(1, tried.rfind("{", 0, broken))
    return end


def _record(notes: Notes, number: int, value: Any, text: str) -> Iterator[Record]:
    if isinstance(value, dict):
        yield Record(number, value, text)
    else:
        message = f"is {type(value).__name__}, an object in braces was expected"
        notes.error("unknown-record", message, number, before=text)


def _reason(error: Exception) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return "not valid JSON: cannot be read"
    where = f" {shown(error.doc[error.pos : error.pos + 40], 30)}" if error.msg.endswith(" at") else ""
    return f"not valid JSON: {error.msg.rstrip(': ')}{where}"
