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
from loci.text.spans import longest_and_joiners, word_spans
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
    unseen = {name for name in questions.subjects if not corpus.about(name)}
    for row in questions if unseen else ():
        if row.subject in unseen:
            notes.warning("unseen-subject", f"no line is about {shown(row.subject, 50)}", row.number)
    return notes.found


def unasked(corpus: Corpus, asked: Iterable[Questions]) -> list[Finding]:
    """One note when no file asks about some of the subjects: a question file that lost rows shows here."""
    notes = Notes(corpus.path)
    firsts = corpus.first_lines
    numbers = np.fromiter((line.number for line in firsts), dtype=np.int64, count=len(firsts))
    open_lines = np.zeros(numbers.max(initial=0) + 1, dtype=bool)
    open_lines[numbers] = True
    for line in (line for questions in asked for name in questions.subjects for line in corpus.about(name)):
        if line.number < len(open_lines):
            open_lines[line.number] = False
    if count := int(open_lines.sum()):
        first = next(line for line in firsts if open_lines[line.number])
        some = f"{count:,} of {len(firsts):,} subjects, the first is {shown(first.subject, 40)}"
        notes.note("unasked-subject", some, first.number)
    return notes.found


def untold(questions: Questions, corpus: Corpus) -> list[Finding]:
    """Warnings about what cannot be learned by reading: relations that no line tells, answers that are no quotation."""
    return _untold_relations(questions, corpus) + _unquotable(questions, corpus)


def _untold_relations(questions: Questions, corpus: Corpus) -> list[Finding]:
    """A warning for each relation none of whose train questions has its answer in a line about its subject."""
    found: list[Finding] = []
    for name, rows in questions.by_relation().items():
        if rows.answered and name and not any(corpus.tells(row.subject, row.answers) for row in rows.answered):
            first = rows.answered[0]
            notes = Notes(first.path or questions.path)
            message = f"{name}: no line tells the answer to any of its {len(rows.answered):,} train questions"
            notes.warning("untold-relation", f"{message}, such as {shown(first.text)}", first.number)
            found += notes.found
    return found


def _unquotable(questions: Questions, corpus: Corpus) -> list[Finding]:
    """A warning for each relation with train answers that stand in their line, but not as a run of words.

    A reader quotes runs of words, so an answer such as "Rome (Italy)" can only be given by heart.
    """
    found: list[Finding] = []
    for name, rows in questions.by_relation().items():
        longest, joiners = longest_and_joiners(rows.answers)
        signs = (answer for answer in rows.answers if not (answer.isascii() and answer.replace(" ", "").isalnum()))
        odd = {answer for answer in signs if answer not in word_spans(answer, longest, joiners)}
        told = [
            row
            for row in (rows.answered if odd else ())
            if odd.issuperset(row.answers) and row.subject and corpus.tells(row.subject, row.answers)
        ]
        if told:
            notes = Notes(told[0].path or questions.path)
            message = f"{len(told):,} answers stand in their lines, but are no runs of words that a reader can quote"
            some = f"{f'{name}: ' if name else ''}{message}, such as {shown(told[0].answers[0], 40)}"
            notes.warning("unquotable-answer", some, told[0].number)
            found += notes.found
    return found


def require_told(questions: Questions, corpus: Corpus) -> None:
    """Raise a `LociError` where no form was found, or for the first relation that nothing can teach to read."""
    if questions.answered and not questions.subjects:
        first = questions.answered[0]
        remedy = (
            'say where it stands: --template "Where was {subject} born?", or a relations.toml next to the questions'
        )
        message = f"no subject is found in any train question, such as {shown(first.text)}"
        raise LociError(message, path=first.path or questions.path, line=first.number, remedy=remedy)
    for found in _untold_relations(questions, corpus):
        raise LociError(found.message, path=found.path, line=found.line, remedy=found.remedy)


def two_roles(asked: Iterable[Questions]) -> list[Finding]:
    """One note when names are a subject here and an answer there."""
    files = list(asked)
    answers = frozenset[str]().union(*(questions.answers for questions in files))
    if all(answers.isdisjoint(questions.subjects) for questions in files):
        return []
    both = [row for questions in files for row in questions if row.subject in answers]
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
    again = {hash(_asked(row)) for row in later}
    taught: dict[tuple[str, ...], tuple[int, set[str]]] = {}
    for row in train:
        if hash(asked := _asked(row)) in again:  # most are not: it saves memory
            taught.setdefault(asked, (row.number, set()))[1].update(row.answers)
    notes = Notes(later.path)
    for row in later if taught else ():
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


def figures_by_relation(
    questions: Questions, corpus: Corpus | None, train: Sequence[Questions] = ()
) -> dict[str | None, QuestionFigures]:
    """The figures of each relation, in the order met, and of all together under None.

    Against the corpus, and against what the train questions of the relation have for answers, where there are any.
    """
    taught: dict[str | None, set[str]] = {None: set()}
    for one in train:
        taught[None] |= one.answers
        for name, own in one.by_relation().items():
            taught.setdefault(name, set()).update(own.answers)
    tallies: dict[str | None, _Tally] = {None: _Tally(taught[None])}
    for row in questions:
        told = corpus is not None and bool(row.answers) and corpus.tells(row.subject, row.answers)
        if row.relation not in tallies:
            tallies[row.relation] = _Tally(taught.get(row.relation, set()))
        tallies[None].add(row, told)
        tallies[row.relation].add(row, told)
    known = {name for name in tallies if name in taught} if train else set()
    return {name: tally.figures(corpus is not None, name in known) for name, tally in tallies.items()}


class _Tally:
    """Counts questions as they come."""

    def __init__(self, taught: set[str]):
        self.known = taught
        self.questions = self.longest = self.told = self.taught = 0
        self.answers: Counter[str] = Counter()

    def add(self, row: Question, told: bool) -> None:
        self.questions += 1
        self.longest = max(self.longest, row.example_length())
        if row.answers:
            self.answers[row.answers[0]] += 1
            self.told += told
            self.taught += not self.known.isdisjoint(row.answers)

    def figures(self, corpus: bool, train: bool) -> QuestionFigures:
        answered = self.answers.total()
        top, top_count = next(iter(self.answers.most_common(1)), (None, 0))
        return QuestionFigures(
            questions=self.questions,
            answered=answered,
            distinct_answers=len(self.answers),
            top_answer=top,
            top_count=top_count,
            longest_example=self.longest,
            in_own_line=self.told if corpus and answered else None,
            taught=self.taught if train and answered else None,
        )
