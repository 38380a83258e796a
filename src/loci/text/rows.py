"""One row of a question file, whatever its form, and how the text of a row is made fit to use.

Each row also carries itself as a repaired copy writes it, so reading, checking and repairing can never disagree. Knows
no file format.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from loci.text.findings import Finding, finding
from loci.text.records import has_surrogate, one_line
from loci.text.source import controls_in, special_finding, specials_in, without_specials
from loci.text.template import Template

# Where a table's header or a record's fields put what; the first that is there counts.
ANSWER_FIELDS = ("possible_answers", "answers", "answer")
CANONICAL_FIELDS = ("obj", "object")
SUBJECT_FIELDS = ("subj", "subject")
RELATION_FIELDS = ("relation", "prop")


@dataclass(frozen=True)
class Row:
    """One question as found. `answers` is None without an answer column, () when the column is empty."""

    number: int
    question: str
    answers: tuple[str, ...] | None
    subject: str | None
    clean: str
    relation: str | None = None


@dataclass(frozen=True)
class ParsedQuestions:
    """A question file as found, errors and all."""

    path: Path | None
    form: str
    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    header: str | None = None

    def text_of(self, rows: Iterable[Row]) -> str:
        """`rows` as a clean file of the same form."""
        texts = [row.clean for row in rows]
        if self.form == "json":
            return "[\n" + ",\n".join(texts) + "\n]\n"
        return "".join(f"{text}\n" for text in ([self.header, *texts] if self.header is not None else texts))


def spaced(path: Path | None, number: int, before: str, after: str) -> Finding:
    """The finding for space that reading takes off a question or answer."""
    message = "space around question or answer"
    return finding("surrounding-space", "note", message, path, number, repaired=True, before=before, after=after)


def tidy_row(
    path: Path | None,
    number: int,
    question: str,
    answers: list[str] | None,
    subject: str | None,
    template: Template,
    found: list[Finding],
    line: str,
    others: tuple[str, ...] = (),
) -> Row | None:
    """A row from fields that may hold anything; `others` are strings that are only checked."""
    used = [question, *(answers or []), *([subject] if subject else []), *others]
    joined = "".join(used)
    if symbols := specials_in(joined):
        found.append(special_finding(path, number, symbols, line, without_specials(line)))
    if any(map(has_surrogate, used)):
        message = "a string holds half a character (a lone surrogate)"
        found.append(finding("encoding", "error", message, path, number, repairable=True, before=line, after=""))
    elif controls_in(joined) or any(one_line(text) != text for text in (question, *(answers or []))):
        names = controls_in(joined) or ["a line end or tab"]
        message = f"holds {', '.join(names)}"
        found.append(
            finding("control-character", "warning", message, path, number, repaired=True, before=line, after="")
        )
    tidy = [without_specials(one_line(text)).strip() for text in (question, subject or "", *(answers or []))]
    tidy_question, tidy_subject, *tidy_answers = tidy
    if any(text != text.strip() for text in (question, *(answers or []))):
        found.append(spaced(path, number, line, tidy_question))
    if not tidy_question:
        found.append(
            finding("empty-question", "error", "the question is empty", path, number, repairable=True, before=line)
        )
        return None
    kept = None if answers is None else tuple(dict.fromkeys(text for text in tidy_answers if text))
    return Row(number, tidy_question, kept, tidy_subject or template.subject_of(tidy_question), line)
