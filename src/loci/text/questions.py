"""Questions with their answers, read from files of any known form.

Knows rows and how they relate (duplicates, contradictions, missing answers); knows no corpus. What a model must be able
to read of them is asked with a vocabulary and a block size handed in.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import overload

from loci.errors import LociError
from loci.files import sha256_text, write_text
from loci.text.findings import Finding, Notes, raise_first_error, shown
from loci.text.formats import question_format
from loci.text.formats.base import Row, Rows
from loci.text.formats.table import quote
from loci.text.layout import Role, find_questions, split_of
from loci.text.relations import Placed, Relation, place, read_relations
from loci.text.source import Source, load
from loci.text.vocab import Vocab

_SEPARATORS = 2  # question ⁇ answer ⁇


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `answers` are all accepted, the first is the canonical one; () when unknown."""

    text: str
    answers: tuple[str, ...]
    subject: str | None
    number: int
    relation: str = ""
    """What is asked about the subject; empty when that cannot be told."""
    path: Path | None = field(default=None, compare=False)
    degree: int | None = None
    """Of a pseudo-label: how sure the labeler was (`loci.data.degrees`)."""

    def __post_init__(self) -> None:
        for name, text in (("question", self.text), *(("answer", answer) for answer in self.answers)):
            if not text.strip() or "\t" in text or "\r" in text or "\n" in text:
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
    """The questions of one file, or of all files of a split: either all of them have an answer, or none."""

    path: Path | None
    rows: tuple[Question, ...]
    relations: tuple[Relation, ...] = ()
    findings: tuple[Finding, ...] = ()

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        split: Role | None = None,
        relations: Sequence[Relation] = (),
        subjects: Collection[str] = (),
    ) -> Questions:
        """Read a file of any known form, or the question files of a folder (those of `split`).

        The relations are those given here, those of a relations.toml next to the file, and what the questions share.
        `subjects`, those of the corpus, help to find the forms. Repairs made are in `repairs`.
        """
        files = [parse_questions(load(file)) for file in find_questions(path, split)]
        read = read_together(files, [*relations, *read_relations(Path(path))], subjects)
        for questions in read:
            raise_first_error(questions.findings)
        return read[0] if len(read) == 1 else _merged(Path(path), read)

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str | None]], *, relations: Sequence[Relation] = ()) -> Questions:
        """Questions in memory from (question, answer or None)."""
        rows = [
            Row(number, text, () if answer is None else (answer,), None, "")
            for number, (text, answer) in enumerate(pairs, start=1)
        ]
        placed, found = place(rows, relations)
        return cls(None, tuple(map(_question, rows, placed)), found)

    def __repr__(self) -> str:
        name = f"{self.path.name!r}: " if self.path is not None else ""
        return f"Questions({name}{len(self.rows):,} questions, {len(self.answered):,} with answers)"

    def write(self, path: str | Path) -> None:
        """Write a file that reads back the same: plain TSV where that can hold it, else a table with a header."""
        plain = "".join(f"{row.text}\t{row.answer}\n" if row.answers else f"{row.text}\n" for row in self.rows)
        (reread,) = read_together([parse_questions(Source(Path(path), plain))])
        same = [replace(row, number=0) for row in reread] == [replace(row, number=0) for row in self.rows]
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

    def by_relation(self) -> dict[str, Questions]:
        """The questions of each relation, in the order met; those without one under the empty name."""
        grouped: dict[str, list[Question]] = {}
        for row in self.rows:
            grouped.setdefault(row.relation, []).append(row)
        return {name: replace(self, rows=tuple(rows)) for name, rows in grouped.items()}

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
        return replace(self, rows=self.rows[index]) if isinstance(index, slice) else self.rows[index]


def subject_hash(subject: str) -> str:
    """What a run keeps of everybody it was taught about: enough to recognise a name, too little to read it."""
    return sha256_text(subject)[:12]


@dataclass(frozen=True)
class ParsedQuestions:
    """A question file as found, errors and all. `clean` is its text as a repaired copy has it."""

    path: Path | None
    form: str
    rows: Sequence[Row]
    clean: str | None
    findings: tuple[Finding, ...]


def parse_questions(source: Source) -> ParsedQuestions:
    """Find the rows of a question file and everything that is wrong with them; raises nothing."""
    notes = Notes(source.path, source.findings)
    name, form = question_format(source)
    assert form.questions is not None
    rows = form.questions(source, notes)
    kept = _related(rows, notes, plain=name == "tsv")
    return ParsedQuestions(source.path, name, rows.rows, rows.clean(kept), tuple(notes.found))


def read_together(
    files: Sequence[ParsedQuestions], given: Sequence[Relation] = (), subjects: Collection[str] = ()
) -> list[Questions]:
    """The questions of each file. Their forms are found from all of them together."""
    names = [name for file, name in zip(files, _named(files), strict=True) for _ in file.rows]
    placed, relations = place([row for file in files for row in file.rows], given, subjects, names)
    found, begin = [], 0
    for file in files:
        own = placed[begin : begin + len(file.rows)]
        begin += len(file.rows)
        notes = Notes(file.path, file.findings)
        for row, where in zip(file.rows, own, strict=True):
            if where.subject is None:
                forms = " · ".join(relation.templates[0].text for relation in relations[:4])
                message = f"{shown(where.question)} fits no form{f' of {forms}' if forms else ''}"
                notes.warning("no-subject", message, row.number)
        asked = {where.relation for where in own}
        rows = tuple(_question(row, where, file.path) for row, where in zip(file.rows, own, strict=True))
        named = tuple(relation for relation in relations if relation.name in asked)
        found.append(Questions(file.path, rows, named, tuple(notes.found)))
    return found


def _named(files: Sequence[ParsedQuestions]) -> list[str]:
    """What the names of question files side by side call their relations: made_in_train.tsv made_in; else nothing."""
    splits = [split_of(file.path) if file.path is not None else "questions" for file in files]
    names = []
    for file, split in zip(files, splits, strict=True):
        stem = file.path.name.partition(".")[0].lower() if file.path is not None else ""
        names.append(stem.replace(split, "", 1).strip("_- ."))
    several = any(split != "questions" and splits.count(split) > 1 for split in splits)
    return names if several else [""] * len(files)


def _question(row: Row, placed: Placed, path: Path | None = None) -> Question:
    return Question(placed.question, row.answers or (), placed.subject, row.number, placed.relation, path)


def _merged(folder: Path, files: Sequence[Questions]) -> Questions:
    """The questions of several files as one; the same question and answer in two of them is a `LociError`."""
    first_seen: dict[tuple[str, tuple[str, ...]], Question] = {}
    for row in (row for questions in files for row in questions):
        earlier = first_seen.setdefault((row.text, row.answers), row)
        if earlier.path != row.path and earlier.path is not None:
            message = f"{shown(row.text)} is also on line {earlier.number} of {earlier.path.name}"
            remedy = "the files of a folder that ask the same are not read together: name one of them"
            raise LociError(message, path=row.path, line=row.number, remedy=remedy)
    if len({bool(questions.answered) for questions in files}) > 1:
        without = next(questions for questions in files if not questions.answered)
        raise LociError("has no answers, unlike the files next to it", path=without.path, remedy="name one file")
    relations = {relation.name: relation for questions in files for relation in questions.relations}
    rows = tuple(row for questions in files for row in questions)
    findings = tuple(found for questions in files for found in questions.findings)
    return Questions(folder, rows, tuple(relations.values()), findings)


def misfits(questions: Questions, vocab: Vocab | None, block_size: int) -> list[Finding]:
    """What a model cannot take: characters the vocabulary (if given) lacks, examples longer than the block."""
    found: list[Finding] = []
    asked = set().union(*(row.text + (row.answer or "") for row in questions))
    if vocab is not None and not vocab.missing("".join(asked)):
        vocab = None  # every row can be read: none need be looked at
    for row in questions:
        if vocab is None and row.example_length() <= block_size:
            continue
        notes = Notes(row.path or questions.path)
        if vocab is not None and (missing := vocab.missing(row.text + (row.answer or ""))):
            names = ", ".join(f"{character!r} (U+{ord(character):04X})" for character in missing[:4])
            notes.error("unknown-character", f"{shown(row.text)} contains {names}, which nothing taught", row.number)
        if (length := row.example_length()) > block_size:
            message = f"{length} symbols with answer and masks, the block has {block_size}: {shown(row.text)}"
            notes.error("too-long", message, row.number)
        found += notes.found
    return found


def _related(rows: Rows, notes: Notes, *, plain: bool) -> list[Row]:
    """The rows a clean copy keeps; what is wrong between the rows of one file is noted.

    A repeated question with the same answer is dropped from the clean copy. One with another answer is kept: which of
    the two is right cannot be told from the file.
    """
    if not rows.rows:
        if not notes.failed:
            notes.error("empty", "contains no questions")
        return []
    if plain and not any(row.answers is not None or (row.question or "").endswith("?") for row in rows.rows):
        first = rows.rows[0]
        message = f"no tab and no question mark on any line; the first is {shown(first.question or '')}"
        notes.error("not-questions", message, first.number)
        return list(rows.rows)
    answered = any(row.answers for row in rows.rows)
    first_seen: dict[tuple[str | None, ...], dict[tuple[str, ...], Row]] = {}
    kept = []
    for row in rows.rows:
        asked = row.question or row.subject or ""
        if "??" in asked:
            notes.warning("typed-mask", f"«??» in {shown(asked)}", row.number)
        if answered and not row.answers:
            column = row.answers is not None
            kind, what = ("empty-answer", "the answer is empty") if column else ("no-answer", "no tab and answer")
            notes.error(kind, f"{what}: {shown(asked)}", row.number, before=row.clean)
            continue
        earlier = first_seen.setdefault((row.question, row.subject, row.relation), {})
        if (same := earlier.get(row.answers or ())) is not None:
            message = f"the same as line {same.number}: {shown(asked, 48)}"
            notes.warning("duplicate", message, row.number, before=row.clean)
            continue
        if earlier and row.answers:
            first = next(iter(earlier.values()))
            here, there = (shown(" / ".join(one.answers or ()), 40) for one in (row, first))
            notes.warning("contradiction", f"{shown(asked)} {here}, but {there} on line {first.number}", row.number)
        earlier[row.answers or ()] = row
        kept.append(row)
    return kept
