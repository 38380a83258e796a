"""What is wrong between files: questions are held against their corpus, and against the train questions.

Pure functions of what was read. Knows nothing of bytes; counts nothing (`loci.text.figures`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from loci.errors import LociError
from loci.text.corpus import Corpus, line_lengths
from loci.text.findings import Finding, Notes, name_seen_from, shown
from loci.text.match import any_stands_in, stands_in
from loci.text.questions import Question, Questions
from loci.text.relations import Relation
from loci.text.spans import longest_and_joiners, word_spans
from loci.text.template import SLOT, SMALL_WORDS, Template

REFUSED_FROM = 3
"""So many train questions of a relation that nothing teaches to read make learning refuse; fewer are an oversight."""


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


def untold(train: Sequence[Questions], corpus: Corpus) -> list[Finding]:
    """What cannot be learned by reading: questions without a form or with a doubtful one, relations that no line tells,
    answers that are no quotation. The files of training are looked at together, as they are learned from.
    """
    return (
        _formless(train)
        + _doubtful_forms(train)
        + _untold_relations(train, corpus)
        + [one for file in train for one in _unquotable(file, corpus)]
    )


def _formless(train: Sequence[Questions]) -> list[Finding]:
    """An error where train questions are all of no known form."""
    answered = [row for questions in train for row in questions.answered[:1]]
    if not answered or any(questions.subjects for questions in train):
        return []
    notes = Notes(answered[0].path or train[0].path)
    message = f"no subject is found in any train question, such as {shown(answered[0].text)}"
    notes.error("no-form", message, answered[0].number)
    return notes.found


def shared_forms(given: Iterable[Relation], path: Path) -> list[Finding]:
    """A warning for each form that `path` gives to several relations: the last of them would be taken."""
    notes = Notes(path)
    _note_shared(_names_by_form(given), notes)
    return notes.found


def _names_by_form(relations: Iterable[Relation]) -> dict[Template, dict[str, None]]:
    asked: dict[Template, dict[str, None]] = {}
    for relation in relations:
        for form in relation.templates:
            asked.setdefault(form, {})[relation.name] = None
    return asked


def _note_shared(asked: Mapping[Template, Iterable[str]], notes: Notes) -> None:
    for form, names in asked.items():
        if len(several := list(names)) > 1:
            message = f"{shown(form.text)} asks {' and '.join(several)}: nobody can tell which is meant"
            notes.warning("shared-form", message)


def _doubtful_forms(train: Sequence[Questions]) -> list[Finding]:
    """Warnings about a form that asks several relations, and about forms that seem to hold a part of the names."""
    notes = Notes(train[0].path if train else None)
    asked = _names_by_form(relation for questions in train for relation in questions.relations)
    _note_shared(asked, notes)
    alike: dict[str, list[Template]] = {}
    for form in asked:
        for rest in _but_a_word(form):
            alike.setdefault(rest, []).append(form)
    for forms in alike.values():
        if len(forms) > 1:
            some = " and ".join(shown(form.text) for form in forms[:2])
            message = f"{len(forms)} forms differ in a word that may belong to the names, such as {some}"
            notes.warning("alike-forms", message)
    return notes.found


def _but_a_word(form: Template) -> Iterator[str]:
    """A form without the word next to its subject, where that may be of a name: «the delta {subject}»."""
    before, after = form.prefix.split(), form.suffix.split()
    if len(before) > 1 and before[-1] not in SMALL_WORDS and before[-2].lower() in SMALL_WORDS:
        yield f"{' '.join(before[:-1])} … {SLOT}{form.suffix}"
    if len(after) > 1 and after[0] not in SMALL_WORDS and form.suffix[0] == " ":
        yield f"{form.prefix}{SLOT} … {' '.join(after[1:])}"


def _untold_relations(train: Sequence[Questions], corpus: Corpus) -> list[Finding]:
    """A finding for each relation none of whose train questions has its answer in a line about its subject.

    An error where learning refuses: where the relation has several questions, or nothing else is told.
    """
    asked: dict[str, list[Questions]] = {}
    for questions in train:
        for name, rows in questions.by_relation().items():
            if name and rows.answered:
                asked.setdefault(name, []).append(rows)
    found: list[Finding] = []
    for name, files in asked.items():
        if any(corpus.tells(row.subject, row.answers) for rows in files for row in rows.answered):
            continue
        first, count = files[0].answered[0], sum(len(rows.answered) for rows in files)
        notes = Notes(first.path or files[0].path)
        message = f"{name}: no line tells the answer to any of its {count:,} train questions"
        note = notes.error if count >= REFUSED_FROM else notes.warning
        message += f", such as {shown(first.text)}{_told_of_another(first, corpus)}"
        note("untold-relation", message, first.number)
        found += notes.found
    return [replace(one, severity="error") for one in found] if len(found) == len(asked) else found


def _told_of_another(row: Question, corpus: Corpus) -> str:
    """Words for a message, where a line names the subject and the answer, but is about something else."""
    for line in corpus.lines if row.subject else ():
        if line.subject and stands_in(line.text, row.subject or "") and any_stands_in([line.text], row.answers):
            return f": line {line.number} names it, but is about {shown(line.subject, 40)}"
    return ""


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
    for found in _formless([questions]) + _untold_relations([questions], corpus):
        if found.severity == "error":
            raise LociError(found.message, path=found.path, line=found.line, remedy=found.remedy)


def untaught(train: Sequence[Questions], later: Questions) -> list[Finding]:
    """A warning for each relation of dev or test questions that no train question asks."""
    taught = {name for questions in train for name in questions.by_relation()}
    notes = Notes(later.path)
    for name, rows in later.by_relation().items():
        if taught and name and name not in taught:
            message = f"{name}: {len(rows):,} questions, such as {shown(rows[0].text)}, and no train question asks it"
            notes.warning("untaught-relation", message, rows[0].number)
    return notes.found


def unused_forms(given: Iterable[Relation], asked: Sequence[Questions], path: Path) -> list[Finding]:
    """A warning for each form given in `path` that no question has: nothing comes of it."""
    used = {form for questions in asked for relation in questions.relations for form in relation.templates}
    notes = Notes(path)
    for relation in given if any(map(len, asked)) else ():
        for form in relation.templates:
            if form not in used:
                notes.warning("unused-form", f"{relation.name}: no question has the form {shown(form.text)}")
    return notes.found


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
        where = f"line {number} of {name_seen_from(train.path, later.path) if train.path else 'the train questions'}"
        theirs = shown(" / ".join(sorted(answers)), 40)
        if not row.answers or not answers:
            notes.warning("leak", f"{shown(row.text)} is {theirs if answers else 'asked'} on {where}", row.number)
        elif answers.isdisjoint(row.answers):
            message = f"{shown(row.text)} {shown(row.answers[0], 40)}, but {theirs} on {where}"
            notes.warning("contradiction", message, row.number)
        else:
            notes.error("leak", f"{shown(row.text)} {theirs}, the same on {where}", row.number)
    return notes.found
