"""JSON on disk to records: one object a line (JSONL), or one list of objects.

Knows JSON and line numbers; knows nothing of what the fields mean.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from loci.text.findings import Finding, finding
from loci.text.source import Source

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_ENDS_AND_TABS = re.compile("[\t\r\n]+")
# json raises ValueError for bad text and for absurdly long numbers, RecursionError for absurdly deep nesting.
_JSON_ERRORS = (ValueError, RecursionError)


@dataclass(frozen=True)
class Record:
    """One JSON object and where it stands. `text` is the object as written."""

    number: int
    fields: dict[str, Any]
    text: str


def is_list(text: str) -> bool:
    """Whether `text` begins like a JSON list of objects."""
    return re.match(r"\s*\[\s*\{", text) is not None


def holds_records(source: Source) -> bool:
    """Whether a file holds JSON records, told by its content. A .tsv is a table whatever its first character."""
    if source.path is not None and source.path.suffix.lower() == ".tsv":
        return False
    return is_list(source.text) or re.match(r'\s*\{\s*"', source.text) is not None


def read_records(source: Source) -> tuple[list[Record], list[Finding]]:
    """The records of a JSON list or JSONL text, and what could not be read. Everything readable is kept."""
    return _from_list(source) if is_list(source.text) else _from_lines(source)


def _from_lines(source: Source) -> tuple[list[Record], list[Finding]]:
    records: list[Record] = []
    findings: list[Finding] = []
    for number, line in enumerate(source.lines(), start=1):
        if not line.strip():
            findings.append(finding("empty-line", "note", "is blank", source.path, number, repaired=True, before=line))
            continue
        try:
            _add(records, findings, source, number, json.loads(line), line.strip())
        except _JSON_ERRORS as error:
            findings.append(_bad(source, number, error, line))
    return records, findings


def _from_list(source: Source) -> tuple[list[Record], list[Finding]]:
    """Element by element, so that each record knows its line."""
    text, decoder = source.text, json.JSONDecoder()
    records: list[Record] = []
    findings: list[Finding] = []
    position, number, counted = text.index("[") + 1, 1, 0
    while True:
        position = _skip_space(text, position)
        if text[position : position + 1] == "]":
            if rest := text[position + 1 :].strip():
                message = "text behind the end of the list"
                line = number + text.count("\n", counted, position)
                findings.append(finding("not-json", "error", message, source.path, line, repairable=True, before=rest))
            break
        number, counted = number + text.count("\n", counted, position), position
        try:
            value, end = decoder.raw_decode(text, position)
        except _JSON_ERRORS as error:
            findings.append(_bad(source, number, error, text[position : position + 200]))
            break
        _add(records, findings, source, number, value, text[position:end])
        position = _skip_space(text, end)
        if text[position : position + 1] == ",":
            position += 1
        elif text[position : position + 1] != "]":
            message = "the list breaks off: no comma or ] behind this record"
            line = number + text.count("\n", counted, position)
            findings.append(
                finding("not-json", "error", message, source.path, line, repairable=True, before="", after="")
            )
            break
    return records, findings


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _add(records: list[Record], findings: list[Finding], source: Source, number: int, value: Any, text: str) -> None:
    if isinstance(value, dict):
        records.append(Record(number, value, text))
    else:
        message = f"is {type(value).__name__}, an object in braces was expected"
        findings.append(finding("unknown-record", "error", message, source.path, number, repairable=True, before=text))


def _bad(source: Source, number: int, error: Exception, text: str) -> Finding:
    reason = error.msg if isinstance(error, json.JSONDecodeError) else "cannot be read"
    message = f"not valid JSON: {reason}"
    return finding("not-json", "error", message, source.path, number, repairable=True, before=text)


def unknown_record(source: Source, record: Record) -> Finding:
    """The finding for a record of no form we know."""
    message = f"no question and no subject in a record with the fields {', '.join(list(record.fields)[:6])}"
    return finding("unknown-record", "error", message, source.path, record.number, repairable=True, before=record.text)


def one_line(text: str) -> str:
    """`text` with line ends and tabs as spaces: a string of a record may hold them, a line of ours may not."""
    return _LINE_ENDS_AND_TABS.sub(" ", text)


def has_surrogate(text: str) -> bool:
    """Whether `text` holds half a character, which JSON can write and UTF-8 cannot."""
    return _SURROGATE.search(text) is not None


def strings(value: Any) -> list[str]:
    """The strings of a field that may hold one, a list of them, a number, or nothing."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    if isinstance(value, bool) or value is None or isinstance(value, dict):
        return []
    return [str(value)]
