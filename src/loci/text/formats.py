"""Question files of every known form to rows: TSV tables, JSON and JSONL records.

Finds the form by content, the rows, and everything that is wrong in them; raises nothing. Knows nothing of how rows
relate to one another: that is `questions`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from loci.text import google_re
from loci.text.findings import Finding
from loci.text.records import Record, holds_records, is_list, one_line, read_records, strings, unknown_record
from loci.text.rows import ANSWER_FIELDS, RELATION_FIELDS, SUBJECT_FIELDS, ParsedQuestions, Row, tidy_row
from loci.text.source import Source, without_specials
from loci.text.tables import parse_table
from loci.text.template import Template


def parse_questions(source: Source, template: Template) -> ParsedQuestions:
    """Find the form of a question file and its rows."""
    return _parse_json(source, template) if holds_records(source) else parse_table(source, template)


def _parse_json(source: Source, template: Template) -> ParsedQuestions:
    records, bad = read_records(source)
    found = [*source.findings, *bad]
    rows = [row for record in records if (row := _record_row(source, record, template, found))]
    form = "json" if is_list(source.text) else "google-re" if google_re.holds_relations(source) else "jsonl"
    return ParsedQuestions(source.path, form, tuple(rows), tuple(found))


def _record_row(source: Source, record: Record, template: Template, found: list[Finding]) -> Row | None:
    fields, known = record.fields, len(found)
    number, path = record.number, source.path
    others: tuple[str, ...] = ()
    answers: list[str] | None
    question = fields.get("question")
    if relation := google_re.relation_of(record):
        subject: str | None = relation.subject
        question, answers, others = template.ask(relation.subject), list(relation.answers), relation.sentences
        answers = answers if "obj_label" in fields else None
    elif isinstance(question, str):
        named = next((fields[name] for name in SUBJECT_FIELDS if name in fields), None)
        subject = named if isinstance(named, str) else None
        column = next((name for name in ANSWER_FIELDS if name in fields), None)
        answers = strings(fields[column]) if column else None
    else:
        found.append(unknown_record(source, record))
        return None
    row = tidy_row(path, number, question, answers, subject, template, found, record.text, others)
    if row is None:
        return None
    named = next((fields[name] for name in RELATION_FIELDS if isinstance(fields.get(name), str)), "")
    row = replace(row, relation=without_specials(one_line(named)).strip() or None)
    return row if len(found) == known else replace(row, clean=json.dumps(_tidy_json(fields), ensure_ascii=False))


def _tidy_json(value: Any) -> Any:
    if isinstance(value, str):
        return without_specials(one_line(value)).strip()
    if isinstance(value, list):
        return [_tidy_json(item) for item in value]
    if isinstance(value, dict):
        return {_tidy_json(key): _tidy_json(item) for key, item in value.items()}
    return value
