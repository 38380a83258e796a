"""Records to questions: which fields hold what, and how a clean copy writes them.

EntityQuestions is one JSON list of records with question and answers, the canonical answer first; JSON lines have such
a record on each line. Knows the names of the fields; `loci.text.formats.json_text` reads the records.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
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
    fact_row,
    plain_name,
    tidy_row,
)
from loci.text.formats.json_text import JSON_ERRORS, Record, is_jsonl, is_list, records
from loci.text.source import Source, one_line, without_specials

_KNOWN = {"question", "id", *SUBJECT_FIELDS, *RELATION_FIELDS}  # what questions without answers have too


def note_unknown(notes: Notes, record: Record, missing: str = "question and no subject with a relation") -> None:
    """Note a record of no form we know."""
    fields = f"the fields {', '.join(list(record.fields)[:6])}" if record.fields else "no fields"
    notes.error("unknown-record", f"no {missing} in a record with {fields}", record.number, before=record.text)


def question_row(notes: Notes, record: Record, others: Sequence[str] = ()) -> Row | None:
    """The row of a record with a question, or with a subject and a relation; `others` are strings only checked."""
    fields = record.fields
    question, subject, relation = fields.get("question"), first(fields, SUBJECT_FIELDS), relation_of(fields)
    if not isinstance(question, str) and not (subject and relation and plain_name(relation)):
        note_unknown(notes, record)
        return None
    column = next((name for name in ANSWER_FIELDS if name in fields), None)
    value = fields[column] if column else None
    told = strings(value) if column == "answer" else listed_strings(value)
    if told is None:
        message = f"the answers are not a JSON list: {shown(str(value))}"
        notes.error("not-json", message, record.number, before=record.text)
        return None
    if (odd := _no_text(value)) is not None:
        message = f"{column} is {shown(json.dumps(odd, ensure_ascii=False), 40)}, neither a text nor a list of texts"
        notes.error("odd-answer", message, record.number, before=record.text)
        return None

    def rewrite(row: Row) -> str:
        # A list that was written as text is written as a list: what was put right in it would be hidden there.
        return tidy_json({**fields, column: row.answers} if isinstance(value, str) and told != [value] else fields)

    answers = tuple(told) if column else None
    if not isinstance(question, str):
        fact = Row(record.number, None, answers, subject, record.text, relation)
        return fact_row(notes, fact, rewrite, others, names=(plain_name(relation or ""),))
    return tidy_row(notes, Row(record.number, question, answers, subject, record.text, relation), rewrite, others)


def _no_text(value: Any) -> Any:
    """What is an object or true or false in a field of answers; None where there is no such thing."""
    if isinstance(value, list):
        return next((odd for item in value if (odd := _no_text(item)) is not None), None)
    return value if isinstance(value, dict | bool) else None


def first(fields: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """The first of these fields that is there, if it is a string."""
    value = next((fields[name] for name in names if name in fields), None)
    return value if isinstance(value, str) else None


def relation_of(fields: dict[str, Any]) -> str | None:
    """The relation a record names."""
    return first(fields, RELATION_FIELDS)


def tidy_json(value: Any) -> str:
    """The record as a clean copy writes it; the text of a document keeps its paragraphs."""

    def tidy(value: Any, field: str = "") -> Any:
        if isinstance(value, str):
            return without_specials(value if field == "text" else one_line(value)).strip()
        if isinstance(value, list):
            return [tidy(item) for item in value]
        if isinstance(value, dict):
            return {tidy(key): tidy(item, key) for key, item in value.items()}
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
    except JSON_ERRORS:
        return None


def rows_of(source: Source, rows: list[Row]) -> Rows:
    """Rows with the frame of the file they come from."""
    return Rows(rows, ("[\n", ",\n", "\n]\n")) if is_list(source) else Rows(rows)


def questions(source: Source, notes: Notes, row_of: Callable[[Notes, Record], Row | None] = question_row) -> Rows:
    """A row for each record; where none has a field of answers, what they may be under instead is noted."""
    rows: list[Row] = []
    other = ""
    for record in records(source, notes):
        if (row := row_of(notes, record)) is not None:
            other = other or ", ".join([name for name in record.fields if name not in _KNOWN][:6])
            rows.append(row)
    if other and all(row.answers is None for row in rows):
        message = f"no record has an answer under {' or '.join(ANSWER_FIELDS[::-1])}; other fields are {other}"
        notes.note("no-answer", message, rows[0].number)
    return rows_of(source, rows)


def clean_corpus(source: Source, told: Callable[[Notes, Record], list[Passage] | None]) -> str | None:
    """A clean copy of a corpus of records; None where nothing can be saved. `told` gives the lines of a record.

    Records without any (None) are left out, those of lines that are not clean are written anew.
    """
    notes, rows = Notes(source.path), []  # reading has noted the same
    for record in records(source, notes):
        if (lines := told(notes, record)) is not None:
            clean = all(without_specials(line.text).strip() == line.text for line in lines)
            text = record.text if clean else tidy_json(record.fields)
            rows.append(Row(record.number, None, None, None, text))
    return rows_of(source, rows).clean(rows)


JSON = Format("a JSON list of records with question and answers", (".json",), is_list, questions)
JSONL = Format("a JSON record with question and answers on each line", (".jsonl",), is_jsonl, questions)
