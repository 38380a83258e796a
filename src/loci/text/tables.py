"""Question tables: plain TSV (question, tab, answer), and TSV whose first line names the columns (PopQA).

Finds the rows and everything that is wrong in them; raises nothing. Knows nothing of how rows relate to one another.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from loci.text.findings import Finding, finding, shown
from loci.text.records import strings
from loci.text.rows import (
    ANSWER_FIELDS,
    CANONICAL_FIELDS,
    RELATION_FIELDS,
    SUBJECT_FIELDS,
    ParsedQuestions,
    Row,
    spaced,
    tidy_row,
)
from loci.text.source import Source, controls_in, special_finding, specials_in, without_specials
from loci.text.template import Template
from loci.text.vocab import MASK

_COLUMN_NAMES = {*ANSWER_FIELDS, *CANONICAL_FIELDS, *SUBJECT_FIELDS, *RELATION_FIELDS, "id"}
_MASK_FOR_TAB = re.compile(rf"\? *{MASK}")
_SPACES_FOR_TAB = re.compile(r"(.*?\?) {2,}(\S.*)")
_SPACE_FOR_TAB = re.compile(r"(.*\?) ([^\s?][^?]*)")


def parse_table(source: Source, template: Template) -> ParsedQuestions:
    """The rows of a table; the first line tells whether it has a header."""
    path, found = source.path, list(source.findings)
    lines = []
    for number, line in enumerate(source.lines(), start=1):
        if line.strip():
            lines.append((number, line))
        else:
            found.append(finding("empty-line", "note", "is blank", path, number, repaired=True, before=line))
    if lines and is_header(lines[0][1]):
        return _parse_headed(path, lines, template, found)
    rows = [row for number, line in lines for row in _plain_rows(path, number, line, template, found)]
    return ParsedQuestions(path, "tsv", tuple(rows), tuple(found))


def is_header(line: str) -> bool:
    """Whether a line names columns: "question" alone or beside another known name, since an answer may be that word."""
    names = _names(line)
    return "question" in names and (len(names) == 1 or not _COLUMN_NAMES.isdisjoint(names))


def _names(line: str) -> list[str]:
    return [_unquote(cell.strip()).lower() for cell in line.split("\t")]


# Plain TSV: question, tab, answer; or the question alone.


def _plain_rows(path: Path | None, number: int, line: str, template: Template, found: list[Finding]) -> list[Row]:
    # Cleaned before it is taken apart: what is told of the clean line stays true when it is read again.
    text = _clean_line(path, number, line, found)
    parts = _split_joined(text, template)
    if len(parts) > 1:
        message = f"{len(parts)} questions on one line: a newline is missing before {shown(parts[1], 40)}"
        after = " ⏎ ".join(parts)
        found.append(finding("joined-rows", "error", message, path, number, repairable=True, before=line, after=after))
    rows = (_plain_row(path, number, part, template, found) for part in parts)
    return [row for row in rows if row is not None]


def _clean_line(path: Path | None, number: int, line: str, found: list[Finding]) -> str:
    text = line
    if symbols := specials_in(line):
        if "\t" not in line:  # the training form question⁇answer⁇: the mask stands for the tab
            text = _MASK_FOR_TAB.sub("?\t", line)
        text = without_specials(text)
        found.append(special_finding(path, number, symbols, line, text))
    if controls := controls_in(line):
        text = without_specials(text)
        message = f"holds {', '.join(controls)}"
        found.append(
            finding("control-character", "warning", message, path, number, repaired=True, before=line, after=text)
        )
    return text


def _split_joined(line: str, template: Template) -> list[str]:
    """The questions that stand on one line because a newline was lost; usually just the line."""
    if not template.prefix.strip() or not template.suffix.strip() or line.count(template.prefix) < 2:
        return [line]
    starts = [match.start() for match in template.pattern.finditer(line)]
    if len(starts) < 2 or line[: starts[0]].strip():
        return [line]
    return [line[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]


def _plain_row(path: Path | None, number: int, line: str, template: Template, found: list[Finding]) -> Row | None:
    question, answer = _cells(path, number, line, found)
    if not question:
        message = f"no question before the answer {shown(answer or '')}"
        found.append(finding("empty-question", "error", message, path, number, repairable=True, before=line))
        return None
    clean = f"{question}\t{answer}" if answer else question
    if is_header(clean):
        message = "a header line among the questions"
        found.append(finding("repeated-header", "warning", message, path, number, repaired=True, before=line))
        return None
    answers = None if answer is None else (answer,) if answer else ()
    return Row(number, question, answers, template.subject_of(question), clean)


def _cells(path: Path | None, number: int, text: str, found: list[Finding]) -> tuple[str, str | None]:
    """Question and answer of a plain line; the answer is None when there is no answer column."""
    cells = text.split("\t")
    question, *rest = (cell.strip() for cell in cells)
    filled = [cell for cell in rest if cell]
    if not filled:
        if question != cells[0]:
            found.append(spaced(path, number, text, question))
        return _split_at_spaces(path, number, question, found) or (question, "" if rest else None)
    clean = f"{question}\t{filled[0]}"
    if len(filled) > 1:
        message = f"{len(filled)} columns behind the question: {shown(' | '.join(filled))}"
        found.append(finding("extra-column", "error", message, path, number, repairable=True, before=text, after=clean))
    elif len(rest) > 1:
        message = "empty columns beside the answer"
        found.append(finding("extra-column", "warning", message, path, number, repaired=True, before=text, after=clean))
    elif [question, *rest] != cells:
        found.append(spaced(path, number, text, clean))
    return question, filled[0]


def _split_at_spaces(path: Path | None, number: int, text: str, found: list[Finding]) -> tuple[str, str] | None:
    """Question and answer of a line with spaces where the tab belongs; None when there are none."""
    if match := _SPACES_FOR_TAB.fullmatch(text):
        message = f"spaces stand for the tab before {shown(match[2], 40)}"
        clean = f"{match[1]}\t{match[2]}"
        found.append(
            finding("spaces-for-tab", "warning", message, path, number, repaired=True, before=text, after=clean)
        )
        return match[1], match[2]
    if match := _SPACE_FOR_TAB.fullmatch(text):
        # One space may also be part of the question, so reading does not decide; a repair states that it did.
        message = f"text behind the question mark but no tab: {shown(text)}"
        clean = f"{match[1]}\t{match[2]}"
        found.append(
            finding("spaces-for-tab", "error", message, path, number, repairable=True, before=text, after=clean)
        )
        return match[1], match[2]
    return None


# TSV whose first line names the columns (PopQA and tables of one's own).


def _parse_headed(
    path: Path | None, lines: list[tuple[int, str]], template: Template, found: list[Finding]
) -> ParsedQuestions:
    # Not stripped as a whole: a leading tab is a column without a name, as data frames write their index.
    header = "\t".join(without_specials(cell).strip() for cell in lines[0][1].split("\t"))
    names = _names(header)
    columns = _Columns.named(names)
    rows = []
    for number, line in lines[1:]:
        if _names(without_specials(line))[: len(names)] == names:
            message = "the header line again"
            found.append(finding("repeated-header", "warning", message, path, number, repaired=True, before=line))
        elif row := _headed_row(path, number, line, columns, template, found):
            rows.append(row)
    form = "popqa" if "possible_answers" in names else "headed tsv"
    return ParsedQuestions(path, form, tuple(rows), tuple(found), header)


@dataclass(frozen=True)
class _Columns:
    """Where the header puts what; None where it has no such column."""

    count: int
    question: int
    answers: int | None
    canonical: int | None
    subject: int | None
    relation: int | None
    lists: bool

    @classmethod
    def named(cls, names: list[str]) -> _Columns:
        def first(*wanted: str) -> int | None:
            return next((names.index(name) for name in wanted if name in names), None)

        answers, canonical = first(*ANSWER_FIELDS), first(*CANONICAL_FIELDS)
        lists = answers is not None and names[answers] != "answer"
        subject, relation = first(*SUBJECT_FIELDS), first(*RELATION_FIELDS)
        return cls(len(names), names.index("question"), answers, canonical, subject, relation, lists)


def _headed_row(
    path: Path | None, number: int, line: str, columns: _Columns, template: Template, found: list[Finding]
) -> Row | None:
    known = len(found)
    cells = [_unquote(cell) for cell in line.split("\t")]
    if len(cells) > columns.count:
        message = f"{len(cells)} columns, the header names {columns.count}"
        found.append(finding("extra-column", "error", message, path, number, repairable=True, before=line, after=line))
        cells = cells[: columns.count]
    cells += [""] * (columns.count - len(cells))
    answers: list[str] = [cells[columns.canonical]] if columns.canonical is not None else []
    if columns.answers is not None:
        listed = _list_cell(cells[columns.answers]) if columns.lists else [cells[columns.answers]]
        if listed is None:
            message = f"the answers are no JSON list: {shown(cells[columns.answers])}"
            found.append(finding("not-json", "error", message, path, number, repairable=True, before=line))
            return None
        answers += listed
    has_answers = columns.answers is not None or columns.canonical is not None
    subject = cells[columns.subject] if columns.subject is not None else None
    row = tidy_row(
        path, number, cells[columns.question], answers if has_answers else None, subject, template, found, line
    )
    if row is None:
        return None
    if columns.relation is not None:
        row = replace(row, relation=without_specials(cells[columns.relation]).strip() or None)
    if len(found) == known:
        return row
    cleaned = [without_specials(cell).strip() for cell in cells]
    if columns.lists and columns.answers is not None:
        cleaned[columns.answers] = json.dumps(row.answers, ensure_ascii=False)
    clean = "\t".join(map(quote, cleaned))
    return replace(row, clean=clean)


def _list_cell(cell: str) -> list[str] | None:
    if not cell.lstrip().startswith("["):
        return [cell]
    try:
        return strings(json.loads(cell))
    except (ValueError, RecursionError):
        return None


def _unquote(cell: str) -> str:
    """A cell without the quotes a spreadsheet puts around it. A quote that is part of the text stays."""
    inner = cell[1:-1]
    if len(cell) >= 2 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', ""):
        return inner.replace('""', '"')
    return cell


def quote(cell: str) -> str:
    """A cell of a table with a header, in quotes where its own would be misread."""
    return '"' + cell.replace('"', '""') + '"' if '"' in cell else cell
