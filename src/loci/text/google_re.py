"""Google-RE records (as LAMA publishes them): a subject, its object, and sentences that say so.

Knows the fields of one such record; knows nothing of corpora or questions, which are both made from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from loci.text.findings import Finding, finding
from loci.text.records import Record, has_surrogate, holds_records, one_line, read_records, strings, unknown_record
from loci.text.source import Source, without_specials

_BLANK = "[MASK]"
_HEAD = 1 << 16  # the label stands behind the evidence, which may be long


@dataclass(frozen=True)
class Relation:
    """One fact: the subject, the accepted answers (the first is the canonical one), the sentences that hold it."""

    subject: str
    answers: tuple[str, ...]
    sentences: tuple[str, ...]


def holds_relations(source: Source) -> bool:
    """Whether a file begins with such records."""
    return holds_records(source) and '"sub_label"' in source.text[:_HEAD]


def holds_sentences(source: Source) -> bool:
    """Whether a file of such records can serve as a corpus."""
    return holds_relations(source) and any(relation.sentences for _, relation in relations(source)[0])


def relation_of(record: Record) -> Relation | None:
    """The fact of a record; None when the record has no subject."""
    fields = record.fields
    subject = fields.get("sub_label")
    if not isinstance(subject, str) or not without_specials(subject).strip():
        return None
    answers = strings(fields.get("obj_label")) + strings(fields.get("obj_aliases"))
    return Relation(
        one_line(subject).strip(), tuple(dict.fromkeys(map(one_line, answers))), _sentences(record, answers)
    )


def _sentences(record: Record, answers: list[str]) -> tuple[str, ...]:
    evidences = record.fields.get("evidences")
    found = [
        sentence
        for evidence in (evidences if isinstance(evidences, list) else [])
        if isinstance(evidence, dict)
        for sentence in strings(evidence.get("considered_sentences"))
    ]
    if not found and answers:  # some editions keep only the sentences with the answer blanked out
        found = [text.replace(_BLANK, answers[0]) for text in strings(record.fields.get("masked_sentences"))]
    return tuple(dict.fromkeys(one_line(text) for text in found if text.strip()))


def relations(source: Source) -> tuple[list[tuple[int, Relation]], list[Finding]]:
    """The facts of a file with their line numbers, and what could not be read."""
    records, findings = read_records(source)
    found = []
    for record in records:
        relation = relation_of(record)
        if relation is None:
            if not isinstance(record.fields.get("question"), str):  # a question among facts is no fact, but no fault
                findings.append(unknown_record(source, record))
        elif any(map(has_surrogate, (relation.subject, *relation.sentences))):
            message = "a sentence holds half a character (a lone surrogate)"
            findings.append(finding("encoding", "error", message, source.path, record.number, repairable=True))
        else:
            found.append((record.number, relation))
    return found, findings
