"""Questions with their answers, read from any known form.

Knows rows and how they relate (duplicates, contradictions, missing answers); knows no corpus. What a model must be able
to read of them is asked with a vocabulary and a block size handed in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import overload

from loci.errors import LociError
from loci.files import sha256_text, write_text
from loci.text.findings import Finding, finding, raise_first_error, shown
from loci.text.formats import parse_questions
from loci.text.layout import Role, find_questions
from loci.text.rows import ParsedQuestions, Row
from loci.text.source import Source, load
from loci.text.tables import quote
from loci.text.template import BIRTHPLACE, Template, infer_template
from loci.text.vocab import Vocab

_SEPARATORS = 2  # question ⁇ answer ⁇


@dataclass(frozen=True)
class Question:
    """One question. `answers` are all accepted, the first is the canonical one; () when unknown."""

    text: str
    answers: tuple[str, ...]
    subject: str | None
    number: int
    relation: str = ""
    """What is asked about the subject; empty when that cannot be told."""

    def __post_init__(self) -> None:
        for name, text in (("question", self.text), *(("answer", answer) for answer in self.answers)):
            if not text.strip() or any(character in text for character in "\t\r\n"):
                raise LociError(f"a {name} is one line of text without tabs, not {text!r}", line=self.number)

    @property
    def answer(self) -> str | None:
        """The canonical answer, if one is known."""
        return self.answers[0] if self.answers else None

    def example_length(self) -> int:
        """How many symbols question and answer take in the block: `question⁇answer⁇`."""
        return len(self.text) + _SEPARATORS + len(self.answer or "")


@dataclass(frozen=True)
class Questions:
    """The questions of one file: either all of them have an answer, or none."""

    path: Path | None
    rows: tuple[Question, ...]
    template: Template = BIRTHPLACE
    findings: tuple[Finding, ...] = ()

    @classmethod
    def read(cls, path: str | Path, *, split: Role | None = None, template: Template = BIRTHPLACE) -> Questions:
        """Read a file of any known form, or a folder's only question file (of `split`). Repairs are in `repairs`.

        Questions that fit the template nowhere and tell no subjects are taken to share a form of their own.
        """
        parsed = parse_questions(load(find_questions(path, split)), template)
        related, _ = relate(parsed)
        findings = parsed.findings + related
        raise_first_error(findings)
        rows = parsed.rows
        if all(row.subject is None for row in rows) and (own := infer_template(row.question for row in rows)):
            template, rows = own, tuple(replace(row, subject=own.subject_of(row.question)) for row in rows)
        return cls(parsed.path, tuple(question_of(row, template) for row in rows), template, findings)

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str | None]], *, template: Template = BIRTHPLACE) -> Questions:
        """Questions in memory from (question, answer or None)."""
        rows = (
            Row(number, text, () if answer is None else (answer,), template.subject_of(text), "")
            for number, (text, answer) in enumerate(pairs, start=1)
        )
        return cls(None, tuple(question_of(row, template) for row in rows), template)

    def write(self, path: str | Path) -> None:
        """Write a file that reads back the same: plain TSV where that can hold it, else a table with a header."""
        plain = "".join(f"{row.text}\t{row.answer}\n" if row.answers else f"{row.text}\n" for row in self.rows)
        reread = parse_questions(Source(Path(path), plain), self.template).rows
        same = [replace(row, number=0) for row in self.rows] == [
            replace(question_of(row, self.template), number=0) for row in reread
        ]
        write_text(path, plain if same else self._with_header())

    def _with_header(self) -> str:
        lines = [["question", "subject", "relation", *(["answers"] if self.answered else [])]]
        for row in self.rows:
            answers = [json.dumps(row.answers, ensure_ascii=False)] if self.answered else []
            lines.append([row.text, row.subject or "", row.relation, *answers])
        return "".join("\t".join(map(quote, cells)) + "\n" for cells in lines)

    @property
    def repairs(self) -> tuple[Finding, ...]:
        """What reading put right."""
        return tuple(found for found in self.findings if found.repaired)

    @cached_property
    def answered(self) -> tuple[Question, ...]:
        """The rows with an answer."""
        return tuple(row for row in self.rows if row.answers)

    @cached_property
    def subjects(self) -> tuple[str, ...]:
        """The subjects asked about, each once, in the file's order."""
        return tuple(dict.fromkeys(row.subject for row in self.rows if row.subject is not None))

    @cached_property
    def hash(self) -> str:
        """Short name of exactly these questions and answers."""
        return sha256_text("".join("\t".join((row.text, *row.answers)) + "\n" for row in self.rows))[:16]

    def require(self, vocab: Vocab, block_size: int) -> None:
        """Raise a `LociError` that names the first question a model with this vocabulary and block cannot take."""
        raise_first_error(misfits(self, vocab, block_size))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.rows)

    @overload
    def __getitem__(self, index: int) -> Question: ...
    @overload
    def __getitem__(self, index: slice) -> Questions: ...
    def __getitem__(self, index: int | slice) -> Question | Questions:
        if isinstance(index, slice):
            return Questions(self.path, self.rows[index], self.template, self.findings)
        return self.rows[index]


def subject_hash(subject: str) -> str:
    """What a run keeps of everybody it was taught about: enough to recognise a name, too little to read it."""
    return sha256_text(subject)[:12]


def question_of(row: Row, template: Template) -> Question:
    """A row of a file as a question. A file that does not name the relation asks what the template asks."""
    fits = row.subject is not None and template.subject_of(row.question) == row.subject
    relation = row.relation or (template.relation if fits else "")
    return Question(row.question, row.answers or (), row.subject, row.number, relation)


def misfits(questions: Questions, vocab: Vocab | None, block_size: int) -> list[Finding]:
    """What a model cannot take: characters the vocabulary (if given) lacks, examples longer than the block."""
    found = []
    for row in questions:
        if vocab is not None and (missing := vocab.missing(row.text + (row.answer or ""))):
            names = ", ".join(f"{character!r} (U+{ord(character):04X})" for character in missing[:4])
            message = f"{shown(row.text)} holds {names}, which the corpus lacks"
            found.append(finding("unknown-character", "error", message, questions.path, row.number))
        if row.example_length() > block_size:
            message = (
                f"{row.example_length()} symbols with answer and masks, the block holds {block_size}: {shown(row.text)}"
            )
            found.append(finding("too-long", "error", message, questions.path, row.number))
    return found


def relate(parsed: ParsedQuestions) -> tuple[tuple[Finding, ...], tuple[Row, ...]]:
    """What is wrong between the rows of one file, and the rows a clean copy keeps.

    A repeated question with the same answer is dropped from the clean copy. One with another answer is kept: which of
    the two is right cannot be told from the file.
    """
    path, rows = parsed.path, parsed.rows
    findings: list[Finding] = []
    if not rows and not any(found.severity == "error" for found in parsed.findings):
        return (finding("empty", "error", "holds no questions", path),), ()
    if parsed.form == "tsv" and rows and not any(_like_a_question(row) for row in rows):
        message = f"no tab and no question mark on any line; the first is {shown(rows[0].question)}"
        return (finding("not-questions", "error", message, path, rows[0].number),), rows
    answered = any(row.answers for row in rows)
    first_seen: dict[str, list[Row]] = {}
    kept = []
    for row in rows:
        if "??" in row.question:
            findings.append(finding("typed-mask", "warning", f"«??» in {shown(row.question)}", path, row.number))
        missing = _missing_answer(path, row, answered, parsed.form == "tsv")
        if missing:
            findings.append(missing)
        if missing and answered:
            continue
        earlier = first_seen.setdefault(row.question, [])
        same = next((other for other in earlier if (other.answers or ()) == (row.answers or ())), None)
        if same is not None:
            message = f"the same as line {same.number}: {shown(row.question, 48)}"
            findings.append(
                finding("duplicate", "warning", message, path, row.number, repairable=True, before=row.clean)
            )
            continue
        if earlier and row.answers:
            findings.append(_contradiction(path, row, earlier[0]))
        earlier.append(row)
        kept.append(row)
    return tuple(findings), tuple(kept)


def _like_a_question(row: Row) -> bool:
    return row.answers is not None or row.subject is not None or row.question.endswith("?")


def _missing_answer(path: Path | None, row: Row, answered: bool, table: bool) -> Finding | None:
    """The finding for a row without an answer; a file without any answer is a test file and right as it is."""
    if row.answers:
        return None
    if row.answers == () and not answered and table:
        message = "the answer column is empty throughout: read as questions without answers"
        clean = row.question
        return finding(
            "empty-answer", "warning", message, path, row.number, repaired=True, before=row.clean, after=clean
        )
    if not answered:
        return None
    kind, what = ("empty-answer", "the answer is empty") if row.answers == () else ("no-answer", "no tab and answer")
    message = f"{what}: {shown(row.question)}"
    return finding(kind, "error", message, path, row.number, repairable=True, before=row.clean)


def _contradiction(path: Path | None, row: Row, earlier: Row) -> Finding:
    here, there = shown(" / ".join(row.answers or ()), 40), shown(" / ".join(earlier.answers or ()), 40)
    message = f"{shown(row.question)} {here}, but {there} on line {earlier.number}"
    return finding("contradiction", "warning", message, path, row.number)


def answer_counts(rows: Sequence[Question]) -> dict[str, int]:
    """Canonical answer → how many questions have it, the most common first."""
    counts: dict[str, int] = {}
    for row in rows:
        if row.answer is not None:
            counts[row.answer] = counts.get(row.answer, 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: -pair[1]))
