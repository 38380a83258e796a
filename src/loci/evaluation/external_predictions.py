"""The answers of any other system, aligned to a question file.

Three forms: JSON lines; a table (question, tab, prediction, optionally tab and probability); one prediction per line.
Aligned by the text of the question where every row has it, else by order. Knows nothing of where the answers come from.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from loci.errors import LociError, naming
from loci.evaluation.rows import Row, numbered_rows
from loci.text.findings import shown
from loci.text.questions import Questions
from loci.text.source import Source, load_sound

_HEADER = ("question", "prediction", "probability")
_Numbered = list[tuple[int, Row]]


def read_external(path: str | Path, questions: Questions) -> list[Row]:
    """One row a question, in the order of `questions`, with their answers and subjects. Bad rows are named by line."""
    with naming(path, remedy="one prediction a question: JSON lines, a table, or one a line; see docs/formats.md"):
        return _read(load_sound(path), questions)


def _read(source: Source, questions: Questions) -> list[Row]:
    lines = source.lines()
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise LociError("holds no predictions")
    if first.strip() == "[" or first.lstrip().startswith(("[{", "[[")):
        raise LociError("is a JSON list", line=1, remedy="write one object per line, without the brackets")
    if first.lstrip().startswith("{"):
        rows = list(numbered_rows(source.path, enumerate(lines, start=1), question=""))
    elif any("\t" in line for line in lines):
        rows = _table_rows(source, lines)
    else:
        rows = [(number, Row("", line.strip())) for number, line in enumerate(lines, start=1)]
    asked = [bool(row.question) for _, row in rows]
    if any(asked) and not all(asked):
        number = rows[asked.index(False)][0]
        raise LociError("has no question, although other rows have one", line=number)
    aligned = _by_question(source, rows, questions) if all(asked) else _by_order(source, rows, questions)
    return [
        replace(row, question=question.text, answers=question.answers, subject=question.subject)
        for question, row in zip(questions, aligned, strict=True)
    ]


def _table_rows(source: Source, lines: Sequence[str]) -> _Numbered:
    rows: _Numbered = []
    width = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if not rows and tuple(cell.lower() for cell in cells) == _HEADER[: len(cells)]:
            continue
        width = width or len(cells)
        if len(cells) != width or width not in (2, 3):
            message = f"has {len(cells)} columns" + (f", the rows before it {width}" if len(cells) != width else "")
            remedy = "question, tab, prediction, and optionally tab and probability"
            raise LociError(message, path=source.path, line=number, remedy=remedy)
        if not cells[0]:
            raise LociError("the question is empty", path=source.path, line=number)
        probability = None
        if width == 3:
            try:
                probability = float(cells[2])
            except ValueError:
                message = f"the probability {shown(cells[2], 30)} is not a number"
                raise LociError(message, path=source.path, line=number) from None
        with naming(source.path, line=number):
            rows.append((number, Row(cells[0], cells[1], probability=probability)))
    if not rows:
        raise LociError("holds no predictions", path=source.path)
    return rows


def _by_order(source: Source, rows: _Numbered, questions: Questions) -> list[Row]:
    if len(rows) != len(questions):
        # The first line too many, or the last one before those that are missing.
        line, _ = rows[min(len(rows) - 1, len(questions))]
        remedy = "one prediction a question, or write the question before each prediction"
        message = f"{len(rows)} predictions for {len(questions)} questions"
        raise LociError(message, path=source.path, line=line, remedy=remedy)
    return [row for _, row in rows]


def _by_question(source: Source, rows: _Numbered, questions: Questions) -> list[Row]:
    waiting: dict[str, list[tuple[int, Row]]] = defaultdict(list)
    for number, row in rows:
        waiting[row.question].append((number, row))
    wanted = Counter(question.text for question in questions)
    for text, given in waiting.items():
        if text not in wanted:
            remedy = f"the questions are those of {questions.path}" if questions.path else None
            raise LociError(f"{shown(text)} is not asked", path=source.path, line=given[0][0], remedy=remedy)
        if len(given) > wanted[text]:
            number = given[wanted[text]][0]
            raise LociError(f"{shown(text)} is answered again", path=source.path, line=number, remedy="keep one answer")
    missing = [question for question in questions if len(waiting.get(question.text, ())) < wanted[question.text]]
    if missing:
        message = f"{len(rows)} predictions for {len(questions)} questions: none for {shown(missing[0].text)}"
        remedy = f"{len(missing)} questions lack one; write an empty prediction where the system said nothing"
        raise LociError(message, path=source.path, remedy=remedy)
    given_in_order = {text: iter(given) for text, given in waiting.items()}
    return [next(given_in_order[question.text])[1] for question in questions]
