"""What is wrong between files, and the figures of each: how many, how long, how varied, how much the text can teach.

Questions are held against their corpus, and against the train questions. Pure functions of what was read. Knows nothing
of bytes or forms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loci.errors import LociError
from loci.text.compiled import CompiledCorpus
from loci.text.corpus import Corpus, Line, line_lengths
from loci.text.findings import Finding, Notes, shown
from loci.text.questions import Question, Questions
from loci.text.vocab import MASK, PAD


def long_lines(corpus: Corpus, block_size: int) -> list[Finding]:
    """One note when lines are longer than the block."""
    notes = Notes(corpus.path)
    if count := int((line_lengths(corpus.lines) > block_size).sum()):
        notes.note("long-line", f"{count:,} of {len(corpus):,} lines are longer than the block of {block_size}")
    return notes.found


def several_lines(corpus: Corpus) -> list[Finding]:
    """A note for each subject that different lines are about; one for all where that is the rule."""
    notes = Notes(corpus.path)
    several = {name: lines for name, lines in corpus.repeated.items() if len({line.text for line in lines}) > 1}
    if len(several) * 2 > len(corpus.by_subject):
        most = max(map(len, several.values()))
        notes.note("several-lines", f"{len(several):,} of {len(corpus.by_subject):,} subjects, up to {most} lines each")
        return notes.found
    for subject, lines in several.items():
        numbers = ", ".join(str(line.number) for line in lines[:6]) + (", …" if len(lines) > 6 else "")
        notes.note("several-lines", f"{shown(subject, 40)} has {len(lines)} lines: {numbers}", lines[0].number)
    return notes.found


def unseen_subjects(questions: Questions, corpus: Corpus) -> list[Finding]:
    """Questions about subjects that no line is about."""
    notes = Notes(questions.path)
    for row in questions:
        if row.subject is not None and not corpus.about(row.subject):
            notes.warning("unseen-subject", f"no line is about {shown(row.subject, 50)}", row.number)
    return notes.found


def unasked(corpus: Corpus, asked: Iterable[Questions]) -> list[Finding]:
    """One note when no file asks about some of the subjects: a question file that lost rows shows here."""
    notes = Notes(corpus.path)
    asked_lines = {line.number for questions in asked for name in questions.subjects for line in corpus.about(name)}
    missing = [lines[0] for lines in corpus.by_subject.values() if lines[0].number not in asked_lines]
    if missing:
        some = f"{len(missing):,} of {len(corpus.by_subject):,} subjects, the first is {shown(missing[0].subject, 40)}"
        notes.note("unasked-subject", some, missing[0].number)
    return notes.found


def untold(questions: Questions, corpus: Corpus) -> list[Finding]:
    """A warning for each relation none of whose train questions has its answer in a line about its subject."""
    notes = Notes(questions.path)
    for name, rows in questions.by_relation().items():
        if rows.answered and name and not any(corpus.tells(row.subject, row.answers) for row in rows.answered):
            first = rows.answered[0]
            message = f"{name}: no line tells the answer to any of its {len(rows.answered):,} train questions"
            notes.warning("untold-relation", f"{message}, such as {shown(first.text)}", first.number)
    return notes.found


def require_told(questions: Questions, corpus: Corpus) -> None:
    """Raise a `LociError` for the first relation that nothing in the corpus can teach to read."""
    for found in untold(questions, corpus):
        raise LociError(found.message, path=found.path, line=found.line, remedy=found.remedy)


def two_roles(asked: Iterable[Questions]) -> list[Finding]:
    """One note when names are a subject here and an answer there."""
    files = list(asked)
    answers = {answer for questions in files for row in questions for answer in row.answers}
    both = [row for questions in files for row in questions if row.subject in answers]
    if not both:
        return []
    notes = Notes(both[0].path)
    names = list(dict.fromkeys(row.subject or "" for row in both))
    notes.note("two-roles", f"{len(names):,}, the first is {shown(names[0], 40)}", both[0].number)
    return notes.found


def _asked(row: Question) -> tuple[str, ...]:
    """What a question asks, in whatever wording."""
    return (row.relation, row.subject) if row.relation and row.subject else (row.text,)


def leaks(train: Questions, later: Questions) -> list[Finding]:
    """Questions of `later` that training asks too.

    With the same answer that is a leak, an error: the figure measured on `later` would be too good. With another answer
    it is a contradiction, most often a namesake. Without an answer in `later` nobody can tell, so it is a warning.
    """
    taught: dict[tuple[str, ...], tuple[int, set[str]]] = {}
    for row in train:
        taught.setdefault(_asked(row), (row.number, set()))[1].update(row.answers)
    notes = Notes(later.path)
    for row in later:
        if _asked(row) not in taught:
            continue
        number, answers = taught[_asked(row)]
        where = f"line {number} of {train.path.name if train.path else 'the train questions'}"
        theirs = shown(" / ".join(sorted(answers)), 40)
        if not row.answers or not answers:
            notes.warning("leak", f"{shown(row.text)} is {theirs if answers else 'asked'} on {where}", row.number)
        elif answers.isdisjoint(row.answers):
            message = f"{shown(row.text)} {shown(row.answers[0], 40)}, but {theirs} on {where}"
            notes.warning("contradiction", message, row.number)
        else:
            notes.error("leak", f"{shown(row.text)} {theirs}, the same on {where}", row.number)
    return notes.found


@dataclass(frozen=True)
class Lengths:
    """How long things are, in characters."""

    shortest: int
    median: float
    p90: float
    longest: int


def lengths_of(texts: Sequence[str]) -> Lengths | None:
    """The lengths of `texts`; None when there are none."""
    return _lengths(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))) if texts else None


def _lengths(sizes: NDArray[np.int64]) -> Lengths:
    median, p90 = np.percentile(sizes, [50, 90])
    return Lengths(int(sizes.min()), float(median), float(p90), int(sizes.max()))


@dataclass(frozen=True)
class CorpusFigures:
    """`symbols` counts the pad and the mask, as the vocabulary does; `no_subject` the lines without a subject."""

    lines: int
    subjects: int
    no_subject: int
    characters: int
    symbols: int
    lengths: Lengths | None


def corpus_figures(lines: Sequence[Line], raw: str) -> CorpusFigures:
    """The figures of a corpus as it stands on disk, special symbols and all."""
    symbols = len(set(raw) | {PAD, MASK})
    nowhere = sum(not line.subject and bool(line.text.strip()) for line in lines)
    subjects = {line.subject for line in lines} - {""}
    lengths = lengths_of([line.text for line in lines])
    return CorpusFigures(len(lines), len(subjects), nowhere, len(raw), symbols, lengths)


def mapped_figures(corpus: CompiledCorpus) -> CorpusFigures:
    """The same figures of a corpus in mapped arrays, without reading its text."""
    sizes = np.diff(corpus.offsets) - 1
    nameless = np.flatnonzero(np.diff(corpus.arrays["subject_offsets"]) == 0)
    nowhere = sum(bool(corpus.text(int(index)).strip()) for index in nameless)
    characters = int(corpus.offsets[-1]) - (not corpus.about_text.final_newline)
    subjects = len(corpus.by_subject)
    return CorpusFigures(len(corpus), subjects, nowhere, characters, len(corpus.vocab), _lengths(sizes))


@dataclass(frozen=True)
class QuestionFigures:
    """`in_own_line`: a line about the subject contains an answer. `taught`: some train question has that answer too."""

    questions: int
    answered: int
    distinct_answers: int
    top_answer: str | None
    top_count: int
    longest_example: int
    in_own_line: int | None
    taught: int | None


def question_figures(questions: Questions, corpus: Corpus | None, train: Sequence[Questions] = ()) -> QuestionFigures:
    """The figures of some questions, against the corpus and the train questions where there are any."""
    answered = questions.answered
    counts = Counter(row.answer for row in answered)
    top, top_count = next(iter(counts.most_common(1)), (None, 0))
    taught_answers = {answer for taught in train for row in taught.answered for answer in row.answers}
    return QuestionFigures(
        questions=len(questions),
        answered=len(answered),
        distinct_answers=len(counts),
        top_answer=top,
        top_count=top_count,
        longest_example=max((row.example_length() for row in questions), default=0),
        in_own_line=sum(corpus.tells(row.subject, row.answers) for row in answered) if corpus and answered else None,
        taught=sum(not taught_answers.isdisjoint(row.answers) for row in answered) if train and answered else None,
    )
