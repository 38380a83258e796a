"""What a data format is, and the rows that every format's questions become.

Each row also carries itself as a repaired copy writes it, so reading, checking and repairing can never disagree. Knows
no particular format, and nothing of how rows relate to one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from loci.text.findings import Notes
from loci.text.source import Source, controls_in, has_surrogate, note_specials, one_line, specials_in, without_specials
from loci.text.template import BIRTHPLACE, SLOT, Template

# Where a table's header or a record's fields put what; the first that is there counts.
ANSWER_FIELDS = ("possible_answers", "answers", "answer")
CANONICAL_FIELDS = ("obj", "object")
SUBJECT_FIELDS = ("subj", "subject")
RELATION_FIELDS = ("relation", "prop")
_ASKED = {
    "place_of_birth": BIRTHPLACE,
    "birthplace": BIRTHPLACE,
    "date_of_birth": Template(f"When was {SLOT} born?"),
    "place_of_death": Template(f"Where did {SLOT} die?"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One question as found. `answers` is None without an answer column, () when the column is empty."""

    number: int
    question: str | None
    """None for a fact without a question of its own: it is asked with the template of its relation."""
    answers: tuple[str, ...] | None
    subject: str | None
    clean: str
    relation: str | None = None
    template: Template | None = None
    """How a fact without a question is asked where no relation says it."""
    predicates: tuple[str, ...] = ()
    """What its source calls the relation of such a fact: a relation that is given under one of these names asks it."""
    sentences: tuple[str, ...] = ()
    """What its source says of such a fact, as a clean copy has it: a row that says more than others repeats none."""


@dataclass(frozen=True)
class Rows:
    """The questions of one file."""

    rows: Sequence[Row]
    frame: tuple[str, str, str] = ("", "\n", "\n")
    """What a clean copy has before, between and after its rows."""

    def clean(self, rows: Sequence[Row]) -> str | None:
        """`rows` as a clean file of the same form; None when there are none."""
        before, between, after = self.frame
        return before + between.join(row.clean for row in rows) + after if rows else None


class Passage(NamedTuple):
    """A line of a corpus; without a subject where the format does not say it."""

    number: int
    text: str
    subject: str | None = None


@dataclass(frozen=True)
class Format:
    """One form of data file: questions, a corpus, or both."""

    about: str
    suffixes: tuple[str, ...]
    fits: Callable[[Source], bool]
    """Whether a file has this form, told by its content; may be shown only the beginning of a file."""
    questions: Callable[[Source, Notes], Rows] | None = None
    passages: Callable[[Source, Notes], Sequence[Passage]] | None = None
    clean: Callable[[Source], str | None] | None = None
    """A clean copy of a corpus whose passages are not its lines; None where nothing of it can be saved."""


def asked_by_name(relation: str) -> Template:
    """The question about a fact of which only the relation's name is known."""
    if relation in _ASKED or not relation or SLOT in relation:
        return _ASKED.get(relation, BIRTHPLACE)
    return Template(f"What is the {relation.replace('_', ' ')} of {SLOT}?")


def fact_row(
    notes: Notes, row: Row, rewrite: Callable[[Row], str], others: Sequence[str] = (), *, names: tuple[str, ...] = ()
) -> Row | None:
    """The row of a fact without a question; `names` are what its source calls its relation, the plainest last."""
    asked = asked_by_name(names[-1] if names else "")
    return tidy_row(notes, replace(row, question=None, template=asked, predicates=names), rewrite, others)


def plain_name(relation: str) -> str:
    """The name of a relation on one line."""
    return without_specials(one_line(relation)).strip()


def tidy_row(notes: Notes, row: Row, rewrite: Callable[[Row], str], others: Sequence[str] = ()) -> Row | None:
    """A row whose fields may contain anything, made fit to use; None when it has no question.

    `row.clean` is the row as it stands in the file. `rewrite` writes it again where something was put right. `others`
    are strings that are only checked.
    """
    known, line, number = len(notes.found), row.clean, row.number
    texts = [row.question or "", *(row.answers or ())]
    used = [*texts, row.subject or "", row.relation or "", *others]
    joined = "".join(used)
    if specials_in(joined):
        note_specials(notes, number, line, without_specials(line))
    if has_surrogate(joined):
        notes.error("encoding", "a string contains half a character (a lone surrogate)", number, before=line, after="")
    elif controls_in(joined) or any(one_line(text) != text for text in texts):
        names = ", ".join(controls_in(joined) or ["a line end or tab"])
        notes.warning("control-character", f"contains {names}", number, before=line, after="", repaired=True)
    tidy = [without_specials(one_line(text)).strip() for text in used]
    question, answers, (subject, relation) = tidy[0], tidy[1 : len(texts)], tidy[len(texts) : len(texts) + 2]
    if any(text != text.strip() for text in texts):
        note_space(notes, number, line, question)
    if not question and row.question is not None:
        notes.error("empty-question", "the question is empty", number, before=line)
        return None
    kept = None if row.answers is None else tuple(dict.fromkeys(filter(None, answers)))
    asked = question if row.question is not None else None
    found = replace(row, question=asked, answers=kept, subject=subject or None, relation=relation or None)
    return found if len(notes.found) == known else replace(found, clean=rewrite(found))


def note_space(notes: Notes, number: int, before: str, after: str) -> None:
    """Note the space that reading takes off a question or answer."""
    message = "space around question or answer"
    notes.note("surrounding-space", message, number, before=before, after=after, repaired=True)


def filled_lines(source: Source, notes: Notes) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
    for number, line in enumerate(source.lines(), start=1):
        if line.strip():
            yield number, line
        else:
            notes.note("empty-line", "is blank", number, before=line, repaired=True)
