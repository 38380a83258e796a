"""Questions with their answers, read from files of any known form.

Many are kept as columns (`loci.text.question`), which is the same to whoever uses them. Knows no corpus. What a model
must be able to read of them is asked with a vocabulary and a block size handed in.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import overload

import numpy as np

from loci.errors import LociError
from loci.files import sha256_text, write_text
from loci.text.findings import Finding, Notes, raise_first_error, shown
from loci.text.formats.base import Row
from loci.text.formats.table import quote
from loci.text.layout import Role, find_questions, split_of, without_split
from loci.text.parsed_questions import ParsedQuestions, asked_again, asked_by, parse_questions, repeated, repetitions
from loci.text.question import PACKED_FROM, PackedQuestions, Question
from loci.text.relations import Forms, Placed, Relation, place, read_relations
from loci.text.source import Source, load
from loci.text.vocab import Vocab

__all__ = ["Question", "Questions", "misfits", "read_parsed", "read_together"]


@dataclass(frozen=True)
class Questions:
    """The questions of one file, or of all files of a split: either all of them have an answer, or none."""

    path: Path | None
    rows: Sequence[Question]
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
        mapped: bool = True,
    ) -> Questions:
        """Read a file of any known form, or the question files of a folder (those of `split`).

        The relations are those given here, those of a relations.toml next to the file, and what the questions share.
        `subjects`, those of the corpus, help to find the forms. Repairs made are in `repairs`. Large files without any
        are kept as arrays next to them, to be mapped next time (`loci.text.question_store`), unless `mapped` is False.
        """
        return read_parsed(Path(path), split, relations, subjects, mapped=mapped)

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str | None]], *, relations: Sequence[Relation] = ()) -> Questions:
        """Questions in memory from (question, answer or None)."""
        rows = [
            Row(number, text, () if answer is None else (answer,), None, "")
            for number, (text, answer) in enumerate(pairs, start=1)
        ]
        placed, found = place(rows, relations)
        return cls(None, _kept(map(_question, rows, placed), len(rows)), found)

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
    def answered(self) -> Sequence[Question]:
        """The rows with an answer."""
        if isinstance(self.rows, PackedQuestions):
            return self.rows.answered()
        return tuple(row for row in self.rows if row.answers)

    @cached_property
    def subjects(self) -> tuple[str, ...]:
        """The subjects asked about, each once, in the file's order."""
        rows = self.rows
        names = rows.subjects if isinstance(rows, PackedQuestions) else (row.subject for row in rows)
        return tuple(dict.fromkeys(filter(None, names)))

    @cached_property
    def answers(self) -> frozenset[str]:
        """All that is accepted as an answer to some question."""
        if isinstance(self.rows, PackedQuestions):
            rest = {told.partition("\t")[2] for told in self.rows.told}
            return frozenset(answer for answers in rest for answer in answers.split("\t") if answer)
        return frozenset(answer for row in self.rows for answer in row.answers)

    @cached_property
    def characters(self) -> str:
        """The characters of all questions and answers, each once."""
        if isinstance(self.rows, PackedQuestions):
            return "".join(sorted(self.rows.told.characters() - {"\t"}))
        return "".join(sorted(set().union(*(text for row in self.rows for text in (row.text, *row.answers)))))

    @cached_property
    def hash(self) -> str:
        """Short name of exactly these questions and answers."""
        if isinstance(self.rows, PackedQuestions):
            return self.rows.told.sha256()[:16]
        return sha256_text("".join("\t".join((row.text, *row.answers)) + "\n" for row in self.rows))[:16]

    def by_relation(self) -> dict[str, Questions]:
        """The questions of each relation, in the order met; those without one under the empty name."""
        if isinstance(self.rows, PackedQuestions):
            return {name: replace(self, rows=rows) for name, rows in self.rows.by_relation().items()}
        grouped: dict[str, list[Question]] = {}
        for row in self.rows:
            grouped.setdefault(row.relation, []).append(row)
        return {name: replace(self, rows=tuple(rows)) for name, rows in grouped.items()}

    def merged(self) -> Questions:
        """Each question once, where it first stands, with the answers of all rows that ask it: all are accepted.

        To ask with, since several answers may be true. Rows teach each answer of its own.
        """
        twice = repeated(np.fromiter((hash(asked_by(row)) for row in self.rows), np.int64, len(self.rows)))
        if not twice.any():
            return self
        answers: dict[tuple[str | None, ...], dict[str, None]] = {}
        for row in itertools.compress(self.rows, twice):
            answers.setdefault(asked_by(row), {}).update(dict.fromkeys(row.answers))

        def rows() -> Iterator[Question]:
            for row, several in zip(self.rows, twice, strict=True):
                if not several:
                    yield row
                elif (every := answers.pop(asked_by(row), None)) is not None:
                    yield replace(row, answers=tuple(every))

        return replace(self, rows=_kept(rows(), int((~twice).sum()) + len(answers)))

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


def read_parsed(
    path: Path,
    split: Role | None,
    relations: Sequence[Relation],
    subjects: Collection[str] = (),
    *,
    mapped: bool = True,
    parse: Callable[[Source], ParsedQuestions] = parse_questions,
) -> Questions:
    """As `Questions.read`, with the rows that `parse` finds in each file."""
    from loci.text import question_store  # later: it builds on this module

    files, given = find_questions(path, split), [*relations, *read_relations(path)]

    def read() -> Questions:
        found = read_together([parse(load(file)) for file in files], given, subjects)
        for questions in found:
            raise_first_error(questions.findings)
        return found[0] if len(found) == 1 else _joined(path, found)

    if mapped and question_store.are_large(files):
        own = files[0] if len(files) == 1 else path
        return question_store.read_kept(own, files, given, subjects, read)
    return read()


def read_together(
    files: Sequence[ParsedQuestions], given: Sequence[Relation] = (), subjects: Collection[str] = ()
) -> list[Questions]:
    """The questions of each file. Their forms are found from all of them together."""
    forms = Forms([file.rows for file in files], given, subjects, _named(files))
    nowhere: list[list[Question]] = []
    asked: list[set[str]] = []

    def placed(number: int) -> Iterator[Question]:
        for row, where in zip(files[number].rows, forms.placed(number), strict=True):
            found = _question(row, where, files[number].path)
            asked[number].add(found.relation)
            if found.subject is None:
                nowhere[number].append(found)
            yield found

    rows: list[Sequence[Question]] = []
    for number, file in enumerate(files):
        nowhere.append([])
        asked.append(set())
        rows.append(_kept(placed(number), len(file.rows)))
    relations = forms.used()
    known = " · ".join(relation.templates[0].text for relation in relations[:4])
    read = []
    for number, file in enumerate(files):
        notes = Notes(file.path, file.findings)
        for row in nowhere[number]:
            message = f"{shown(row.text)} fits no form{f' of {known}' if known else ''}"
            notes.warning("no-subject", message, row.number)
        named = tuple(relation for relation in relations if relation.name in asked[number])
        read.append(Questions(file.path, rows[number], named, tuple(notes.found)))
    return read


def _named(files: Sequence[ParsedQuestions]) -> list[str]:
    """What the names of question files side by side call their relations: made_in_train.tsv made_in; else nothing."""
    splits = [split_of(file.path) if file.path is not None else "questions" for file in files]
    names = [without_split(file.path) if file.path is not None else "" for file in files]
    several = any(split != "questions" and splits.count(split) > 1 for split in splits)
    return names if several else [""] * len(files)


def _question(row: Row, placed: Placed, path: Path | None = None) -> Question:
    return Question(placed.question, row.answers or (), placed.subject, row.number, placed.relation, path)


def _kept(rows: Iterable[Question], count: int) -> Sequence[Question]:
    return PackedQuestions.of(rows) if count >= PACKED_FROM else tuple(rows)


def _joined(folder: Path, files: Sequence[Questions]) -> Questions:
    """The questions of several files as one; what an earlier file asks and answers alike is left out, with a note."""
    if len({bool(questions.answered) for questions in files}) > 1:
        without = next(questions for questions in files if not questions.answered)
        raise LociError("has no answers, unlike the files next to it", path=without.path, remedy="name one file")
    again = list(asked_again(files))
    kept = np.ones(sum(map(len, files)), dtype=bool)
    kept[[at for at, row, first in again if row.answers == first.answers]] = False
    relations = {relation.name: relation for questions in files for relation in questions.relations}
    every = itertools.chain.from_iterable(files)
    rows = _kept(itertools.compress(every, kept) if again else every, int(kept.sum()))
    findings = [found for questions in files for found in questions.findings] + repetitions(again)
    return Questions(folder, rows, tuple(relations.values()), tuple(findings))


def misfits(questions: Questions, vocab: Vocab | None, block_size: int) -> list[Finding]:
    """What a model cannot take: characters the vocabulary (if given) lacks, examples longer than the block."""
    found: list[Finding] = []
    if vocab is not None and not vocab.missing(questions.characters):
        vocab = None  # every row can be read: none need be looked at
    rows = questions.rows
    for row in rows.longer_than(block_size) if vocab is None and isinstance(rows, PackedQuestions) else rows:
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
