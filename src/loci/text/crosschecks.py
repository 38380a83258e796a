"""What is wrong between files: questions against their corpus, and against the questions of training.

Pure functions from what was read to findings. Knows nothing of bytes or forms.
"""

from __future__ import annotations

from collections.abc import Iterable

from loci.text.corpus import Corpus
from loci.text.findings import Finding, finding, shown
from loci.text.questions import Questions


def long_lines(corpus: Corpus, block_size: int) -> list[Finding]:
    """One note when lines are longer than the block."""
    count = sum(len(line.text) > block_size for line in corpus)
    if not count:
        return []
    message = f"{count:,} of {len(corpus):,} lines are longer than the block of {block_size}"
    return [finding("long-line", "note", message, corpus.path)]


def several_lines(corpus: Corpus) -> list[Finding]:
    """A note for each subject that different lines are about."""
    found = []
    for subject, lines in corpus.by_subject.items():
        first_lines = {line.text: line for line in reversed(lines)}
        if len(first_lines) > 1 and subject != lines[0].text:
            numbers = ", ".join(str(line.number) for line in lines[:6]) + (", …" if len(lines) > 6 else "")
            message = f"{shown(subject, 40)} has {len(lines)} lines: {numbers}"
            found.append(finding("several-lines", "note", message, corpus.path, lines[0].number))
    return found


def subjects_asked(questions: Questions, corpus: Corpus | None) -> list[Finding]:
    """Questions whose subject cannot be told, and subjects that no line is about."""
    found = []
    for row in questions:
        if row.subject is None:
            message = f"{shown(row.text)} does not fit «{questions.template.text}»"
            found.append(finding("no-subject", "warning", message, questions.path, row.number))
        elif corpus is not None and not corpus.about(row.subject):
            message = f"no line is about {shown(row.subject, 50)}"
            found.append(finding("unseen-subject", "warning", message, questions.path, row.number))
    return found


def unasked(corpus: Corpus, asked: Iterable[Questions]) -> list[Finding]:
    """One note when no file asks about some of the subjects: a question file that lost rows shows here."""
    subjects = {row.subject for questions in asked for row in questions}
    missing = [lines[0] for subject, lines in corpus.by_subject.items() if subject not in subjects]
    if not missing:
        return []
    some = f"{len(missing):,} of {len(corpus.by_subject):,} subjects, the first is {shown(missing[0].subject, 40)}"
    return [finding("unasked-subject", "note", some, corpus.path, missing[0].number)]


def leaks(train: Questions, later: Questions) -> list[Finding]:
    """Questions of `later` that training asks too.

    With the same answer that is a leak, an error: the figure measured on `later` would be too good. With another answer
    it is a contradiction, most often a namesake. Without an answer in `later` nobody can tell, so it is a warning.
    """
    taught: dict[str, tuple[int, set[str]]] = {}
    for row in train:
        taught.setdefault(row.text, (row.number, set()))[1].update(row.answers)
    found = []
    for row in later:
        if row.text not in taught:
            continue
        number, answers = taught[row.text]
        where = f"line {number} of {train.path.name if train.path else 'the train questions'}"
        theirs = shown(" / ".join(sorted(answers)), 40)
        if not row.answers or not answers:
            message = f"{shown(row.text)} is {theirs + ' ' if answers else 'asked '}on {where}"
            found.append(finding("leak", "warning", message, later.path, row.number))
        elif answers.isdisjoint(row.answers):
            message = f"{shown(row.text)} {shown(row.answers[0], 40)}, but {theirs} on {where}"
            found.append(finding("contradiction", "warning", message, later.path, row.number))
        else:
            message = f"{shown(row.text)} {theirs}, the same on {where}"
            found.append(finding("leak", "error", message, later.path, row.number))
    return found
