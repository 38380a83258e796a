"""Google-RE and T-REx records as LAMA publishes them: a subject, its object, and sentences that say so.

A record is a question and a part of the corpus at once. It has no question text: its relation's template asks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loci.text.findings import Notes
from loci.text.formats import records as json_records
from loci.text.formats.base import Format, Passage, Row, Rows, fact_row, plain_name
from loci.text.formats.json_text import Record, has_fields, records
from loci.text.formats.records import note_unknown, strings
from loci.text.source import Source, has_surrogate, one_line, without_specials

_BLANK = "[MASK]"
# What Wikidata calls the properties of T-REx; no two alike, since each name is a question of its own.
_PROPERTIES = {
    "P17": "country", "P19": "place_of_birth", "P20": "place_of_death", "P27": "country of citizenship",
    "P30": "continent", "P31": "kind", "P36": "capital", "P37": "official language", "P39": "office",
    "P47": "neighbour", "P101": "field of work", "P103": "native language", "P106": "occupation", "P108": "employer",
    "P127": "owner", "P131": "region", "P136": "genre", "P138": "namesake", "P140": "religion",
    "P159": "headquarters", "P176": "manufacturer", "P178": "developer", "P190": "twin town", "P264": "record label",
    "P276": "location", "P279": "superclass", "P361": "whole", "P364": "original language", "P407": "language",
    "P413": "position", "P449": "original network", "P463": "membership", "P495": "country of origin", "P527": "part",
    "P530": "diplomatic partner", "P740": "place of formation", "P937": "place of work", "P1001": "jurisdiction",
    "P1303": "instrument", "P1376": "country whose capital it is", "P1412": "spoken language",
}  # fmt: skip


@dataclass(frozen=True)
class _Fact:
    """The subject, the accepted answers (the first is the canonical one), the sentences that say so."""

    subject: str
    answers: tuple[str, ...]
    sentences: tuple[str, ...]


def _fact_of(record: Record) -> _Fact | None:
    """The fact of a record; None when the record has no subject."""
    fields = record.fields
    subject = fields.get("sub_label")
    if not isinstance(subject, str) or not without_specials(subject).strip():
        return None
    answers = strings(fields.get("obj_label")) + strings(fields.get("obj_aliases"))
    return _Fact(one_line(subject).strip(), tuple(dict.fromkeys(map(one_line, answers))), _sentences(fields, answers))


def _sentences(fields: dict[str, Any], answers: list[str]) -> tuple[str, ...]:
    listed = fields.get("evidences")
    evidences = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    found = [text for evidence in evidences for text in strings(evidence.get("considered_sentences"))]
    if not found and answers:  # some editions keep only the sentences with the answer blanked out
        blanked = strings(fields.get("masked_sentences"))
        blanked += [text for evidence in evidences for text in strings(evidence.get("masked_sentence"))]
        found = [text.replace(_BLANK, answers[0]) for text in blanked]
    return tuple(dict.fromkeys(one_line(text).strip() for text in found if text.strip()))


def _predicates(fields: dict[str, Any]) -> tuple[str, ...]:
    """The names of the record's predicate, the plainest last: P19, place_of_birth; none where it has no predicate."""
    predicate = next((fields[name] for name in ("pred", "predicate_id") if isinstance(fields.get(name), str)), "")
    name = plain_name(predicate).rpartition("/")[2]
    return tuple(dict.fromkeys(filter(None, (name, _PROPERTIES.get(name, name)))))


def questions(source: Source, notes: Notes) -> Rows:
    """A row for each fact; a record with a question of its own is read as that."""
    rows = [row for record in records(source, notes) if (row := _row(notes, record))]
    return json_records.rows_of(source, rows)


def _row(notes: Notes, record: Record) -> Row | None:
    fact = _fact_of(record)
    if fact is None:
        return json_records.question_row(notes, record)
    answers = fact.answers if "obj_label" in record.fields else None
    relation = json_records.relation_of(record.fields)
    said = tuple(without_specials(text).strip() for text in fact.sentences)
    given = Row(record.number, None, answers, fact.subject, record.text, relation, sentences=said)
    names = _predicates(record.fields)
    return fact_row(notes, given, lambda _: json_records.tidy_json(record.fields), fact.sentences, names=names)


def passages(source: Source, notes: Notes) -> list[Passage]:
    """`Subject. sentence` for every sentence of every fact."""
    return [line for record in records(source, notes) for line in _told(notes, record) or ()]


def _told(notes: Notes, record: Record) -> list[Passage] | None:
    """The lines of a fact; None where it cannot be used."""
    fact = _fact_of(record)
    if fact is None:
        if isinstance(record.fields.get("question"), str):  # a question among facts is no fact, but no fault
            return []
        note_unknown(notes, record, "question and no subject")
        return None
    if any(map(has_surrogate, (fact.subject, *fact.sentences))):
        message = "a sentence contains half a character (a lone surrogate)"
        notes.error("encoding", message, record.number, before=record.text)
        return None
    return [Passage(record.number, f"{fact.subject}. {text}", fact.subject) for text in fact.sentences]


FORMAT = Format(
    "LAMA's records: sub_label, obj_label, evidences",
    (".jsonl", ".json"),
    lambda source: has_fields(source, "sub_label"),
    questions,
    passages,
    lambda source: json_records.clean_corpus(source, _told),
)
