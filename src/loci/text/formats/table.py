"""Question tables whose first line names the columns: question, subject, relation, answer or answers.

Without a column of questions, subject and relation say what is asked.

PopQA's has the columns subj, prop, obj, question and possible_answers (a JSON list), and others not used.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import replace

from loci.text.findings import Notes, shown
from loci.text.formats import base
from loci.text.formats.base import ANSWER_FIELDS, CANONICAL_FIELDS, RELATION_FIELDS, SUBJECT_FIELDS, Format, Row, Rows
from loci.text.formats.records import listed_strings
from loci.text.source import Source, without_specials

_ANSWERS = (*ANSWER_FIELDS, *CANONICAL_FIELDS)
_COLUMN_NAMES = {*_ANSWERS, *SUBJECT_FIELDS, *RELATION_FIELDS, "id"}


def is_header(line: str) -> bool:
    """Whether a line names columns: "question" alone or with another known name, since an answer may be that word.

    Without questions: subject, relation and answer.
    """
    names = _names(line)
    if "question" in names:
        return len(names) == 1 or not _COLUMN_NAMES.isdisjoint(names) or any(map(_is_like_answer, names))
    return all(not set(some).isdisjoint(names) for some in (SUBJECT_FIELDS, RELATION_FIELDS, _ANSWERS))


def _is_like_answer(name: str) -> bool:
    """Whether a name is that of the answers but for a slip: answr, anwsers."""
    return bool(difflib.get_close_matches(name, ("answer", "answers"), n=1, cutoff=0.8))


def has_header(source: Source) -> bool:
    """Whether the first line that is not blank names columns."""
    first = next((line for line in source.lines() if line.strip()), "")
    return is_header(first)


def questions(source: Source, notes: Notes) -> Rows:
    """The rows below the header."""
    (top, first), *rest = base.filled_lines(source, notes)
    # Not stripped as a whole: a leading tab is a column without a name, as data frames write their index.
    header = "\t".join(without_specials(cell).strip() for cell in first.split("\t"))
    names = _names(header)
    unknown = [name for name in names if name and name != "question" and name not in _COLUMN_NAMES]
    if unknown and set(_ANSWERS).isdisjoint(names):
        columns = f"the column {unknown[0]} is" if len(unknown) == 1 else f"the columns {', '.join(unknown[:6])} are"
        notes.note("no-answer", f"{columns} not known: answers need the name answer or answers", top)
    rows = []
    for number, line in rest:
        if _names(without_specials(line))[: len(names)] == names:
            notes.warning("repeated-header", "the header line again", number, before=line, repaired=True)
        elif row := _row(notes, number, line, names):
            rows.append(row)
    return Rows(rows, (f"{header}\n", "\n", "\n"))


def _row(notes: Notes, number: int, line: str, names: list[str]) -> Row | None:
    known = len(notes.found)
    cells = [unquote(cell) for cell in line.split("\t")]
    if len(cells) > len(names):
        message = f"{len(cells)} columns, the header names {len(names)}"
        notes.error("extra-column", message, number, before=line, after=line)
    cells = (cells + [""] * len(names))[: len(names)]

    def column(*wanted: str) -> int | None:
        return next((names.index(name) for name in wanted if name in names), None)

    def cell(*wanted: str) -> str | None:
        return None if (index := column(*wanted)) is None else cells[index]

    listed, lists = column(*ANSWER_FIELDS), False
    answers = [] if (canonical := cell(*CANONICAL_FIELDS)) is None else [canonical]
    if listed is not None:
        lists = names[listed] != "answer"
        more = listed_strings(cells[listed]) if lists else [cells[listed]]
        if more is None:
            message = f"the answers are not a JSON list: {shown(cells[listed])}"
            notes.error("not-json", message, number, before=line)
            return None
        answers += more

    def rewrite(row: Row) -> str:
        cleaned = [without_specials(cell).strip() for cell in cells]
        if lists and listed is not None:
            cleaned[listed] = json.dumps(row.answers, ensure_ascii=False)
        return "\t".join(map(quote, cleaned))

    given = tuple(answers) if listed is not None or canonical is not None else None
    question, subject, relation = cell("question"), cell(*SUBJECT_FIELDS), cell(*RELATION_FIELDS)
    found = Row(number, question, given, subject, line, relation)
    if question is None:
        name = base.plain_name(relation or "")
        if not (subject or "").strip() or not name:
            message = f"no {'relation' if (subject or '').strip() else 'subject'}, and no question"
            notes.error("empty-question", message, number, before=line)
            return None
        row = base.fact_row(notes, found, rewrite, names=(name,))
    else:
        row = base.tidy_row(notes, found, rewrite)
    return replace(row, clean=rewrite(row)) if row is not None and len(notes.found) > known else row


def _names(line: str) -> list[str]:
    return [unquote(cell.strip()).lower() for cell in line.split("\t")]


def unquote(cell: str) -> str:
    """A cell without the quotes a spreadsheet puts around it. A quote that is part of the text stays."""
    inner = cell[1:-1]
    if len(cell) >= 2 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', ""):
        return inner.replace('""', '"')
    return cell


def quote(cell: str) -> str:
    """A cell of a table with a header, in quotes where its own would be misread."""
    return '"' + cell.replace('"', '""') + '"' if '"' in cell else cell


def _is_popqa(source: Source) -> bool:
    return has_header(source) and "possible_answers" in source.text.lstrip("\n").partition("\n")[0].lower()


TABLE = Format("a first line that names the columns, then tab-separated rows", (".tsv",), has_header, questions)
POPQA = Format("PopQA's table: subj, prop, obj, question, possible_answers", (".tsv",), _is_popqa, questions)
