"""The rows of a question file as found, and what is wrong between them: duplicates, contradictions, missing answers.

Also what is wrong between the questions of files that are read together. Finds neither forms nor subjects; knows no
corpus.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from loci.text.findings import Finding, Notes, name_seen_from, shown
from loci.text.formats import question_format
from loci.text.formats.base import Row, Rows
from loci.text.question import Question
from loci.text.source import Source

_MARKS = ("?", "？", "؟")


@dataclass(frozen=True)
class ParsedQuestions:
    """A question file as found, errors and all."""

    path: Path | None
    form: str
    found: Rows
    kept: NDArray[np.int64]
    """The places of the rows that a clean copy keeps."""
    findings: tuple[Finding, ...]

    @property
    def rows(self) -> Sequence[Row]:
        """All rows."""
        return self.found.rows

    @property
    def clean(self) -> str | None:
        """The text of a repaired copy; None where nothing can be saved."""
        return self.found.clean([self.rows[place] for place in self.kept.tolist()])


def parse_questions(source: Source) -> ParsedQuestions:
    """Find the rows of a question file and everything that is wrong with them; raises nothing."""
    notes = Notes(source.path, source.findings)
    name, form = question_format(source)
    assert form.questions is not None
    rows = form.questions(source, notes)
    kept = _related(rows.rows, notes, plain=name == "tsv")
    return ParsedQuestions(source.path, name, rows, kept, tuple(notes.found))


def _related(rows: Sequence[Row], notes: Notes, *, plain: bool) -> NDArray[np.int64]:
    """The places of the rows a clean copy keeps; what is wrong between the rows of one file is noted.

    A repeated question with the same answer is dropped from the clean copy, unless its record has a sentence that none
    before it had. One with another answer is kept: which of the two is right cannot be told from the file. Only rows
    that may be wrong are looked at one by one.
    """
    if not rows:
        if not notes.failed:
            notes.error("empty", "contains no questions")
        return np.arange(0)
    asked, answered, typed = np.empty(len(rows), np.int64), np.empty(len(rows), bool), np.empty(len(rows), bool)
    like_questions = False
    for place, row in enumerate(rows):
        asked[place], answered[place] = hash(_asked(row)), bool(row.answers)
        typed[place] = "??" in (row.question or row.subject or "")
        like_questions = like_questions or row.answers is not None or (row.question or "").endswith(_MARKS)
    if plain and not like_questions:
        marked = any(mark in (row.question or "") for row in rows for mark in _MARKS)
        missing = "no tab on any line, no question mark at the end of one" if marked else "no tab and no question mark"
        message = f"{missing}; the first is {shown(rows[0].question or '')}"
        notes.error("not-questions", message, rows[0].number)
        return np.arange(len(rows))
    kept = np.ones(len(rows), dtype=bool)
    first_seen: dict[tuple[object, ...], dict[tuple[str, ...], tuple[Row, set[str]]]] = {}
    for place in np.flatnonzero(typed | (~answered & answered.any()) | repeated(asked)).tolist():
        row = rows[place]
        said = row.question or (row.template.ask(row.subject or "") if row.template else row.subject) or ""
        if typed[place]:
            notes.warning("typed-mask", f"«??» in {shown(said)}", row.number)
        if answered.any() and not row.answers:
            column = row.answers is not None
            kind, what = ("empty-answer", "the answer is empty") if column else ("no-answer", "no tab and answer")
            notes.error(kind, f"{what}: {shown(said)}", row.number, before=row.clean)
            kept[place] = False
            continue
        earlier = first_seen.setdefault(_asked(row), {})
        if (known := earlier.get(row.answers or ())) is not None:
            same, told = known
            if told.issuperset(row.sentences):
                message = f"the same as line {same.number}: {shown(said, 48)}"
                notes.warning("duplicate", message, row.number, before=row.clean)
                kept[place] = False
            else:
                told.update(row.sentences)
                message = f"asked as on line {same.number}, with another sentence: {shown(said, 48)}"
                notes.note("duplicate", message, row.number)
            continue
        if earlier and row.answers:
            first, _ = next(iter(earlier.values()))
            here, there = (shown(" / ".join(one.answers or ()), 40) for one in (row, first))
            notes.warning("contradiction", f"{shown(said)} {here}, but {there} on line {first.number}", row.number)
        earlier[row.answers or ()] = row, set(row.sentences)
    return np.flatnonzero(kept)


def _asked(row: Row) -> tuple[object, ...]:
    """What a row asks. Facts of different predicates have no question, but different templates."""
    return row.question, row.subject, row.relation, row.template


def asked_by(question: Question) -> tuple[str | None, ...]:
    """What tells one question from another."""
    return question.text, question.subject, question.relation


def asked_again(files: Sequence[Iterable[Question]]) -> Iterator[tuple[int, Question, Question]]:
    """The place of each question that an earlier file asks too, the question, and the one there.

    That is the one with the same answers, if there is one. Only questions that come twice are kept in memory.
    """
    if len(files) < 2:
        return
    twice = repeated(np.fromiter((hash(asked_by(row)) for questions in files for row in questions), np.int64))
    seen: dict[tuple[str | None, ...], dict[tuple[str, ...], Question]] = {}
    numbered = enumerate(itertools.chain.from_iterable(files))
    for place, row in itertools.compress(numbered, twice) if twice.any() else ():
        earlier = seen.setdefault(asked_by(row), {})
        first = earlier.get(row.answers) or next(iter(earlier.values()), row)
        if first.path != row.path:
            yield place, row, first
        earlier.setdefault(row.answers, row)


def repetitions(again: Iterable[tuple[int, Question, Question]]) -> list[Finding]:
    """Findings of questions asked again: a note where the answer is the same, a warning where it differs."""
    found: list[Finding] = []
    for _, row, first in again:
        notes = Notes(row.path)
        file = name_seen_from(first.path, row.path) if first.path is not None else "another file"
        where = f"line {first.number} of {file}"
        if row.answers == first.answers:
            notes.note("duplicate", f"the same as {where}: {shown(row.text, 48)}", row.number, repaired=True)
        else:
            here, there = (shown(" / ".join(one.answers), 40) for one in (row, first))
            notes.warning("contradiction", f"{shown(row.text)} {here}, but {there} on {where}", row.number)
        found += notes.found
    return found


def repeated(hashes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of these come more than once."""
    _, which, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    found: NDArray[np.bool_] = (counts > 1)[which]
    return found
