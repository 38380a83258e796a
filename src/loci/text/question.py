"""One question with its answers, and many of them as columns. Knows nothing of files and forms."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import overload

import numpy as np

from loci.errors import LociError
from loci.text.mapped import Array
from loci.text.packed import Packer, Texts

_SEPARATORS = 2  # question ⁇ answer ⁇
PACKED_FROM = 50_000
"""So many questions are kept as columns; fewer as objects."""


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
        for text in (self.text, *self.answers):
            if not text.strip() or "\t" in text or "\r" in text or "\n" in text:
                name = "question" if text is self.text else "answer"
                raise LociError(f"a {name} is one line of text without tabs, not {text!r}", line=self.number)

    @property
    def answer(self) -> str | None:
        """The canonical answer, if one is known."""
        return self.answers[0] if self.answers else None

    def example_length(self) -> int:
        """How many symbols question and answer take in the block: `question⁇answer⁇`."""
        return len(self.text) + _SEPARATORS + len(self.answer or "")


class PackedQuestions(Sequence[Question]):
    """Questions as columns. Each is made when it is asked for; none has a degree."""

    def __init__(
        self,
        told: Texts,
        subjects: Texts,
        columns: Array,
        relations: tuple[str, ...],
        paths: tuple[Path | None, ...],
    ):
        """`told` is question, tab, answers; an empty subject is none. The columns are the questions' numbers, and the
        places of their relations and files in `relations` and `paths`.
        """
        self.told, self.subjects, self.columns, self.relations, self.paths = told, subjects, columns, relations, paths
        self.relation = columns[1]

    @classmethod
    def of(cls, questions: Iterable[Question]) -> PackedQuestions:
        """Pack questions as they come."""
        told, subjects = Packer(), Packer()
        columns = array("i")
        relations: dict[str, int] = {}
        paths: dict[Path | None, int] = {}
        for row in questions:
            told.add("\t".join((row.text, *row.answers)))
            subjects.add(row.subject or "")
            places = relations.setdefault(row.relation, len(relations)), paths.setdefault(row.path, len(paths))
            columns.extend((row.number, *places))
        three = np.ascontiguousarray(np.frombuffer(columns, dtype=np.int32).reshape(-1, 3).T)
        return cls(told.texts(), subjects.texts(), three, tuple(relations), tuple(paths))

    def is_sound(self) -> bool:
        """Whether the columns fit together: they may come from a stranger's file."""
        counts = np.array([[1 << 31], [len(self.relations)], [len(self.paths)]])
        return (
            self.columns.shape == (3, len(self.told)) == (3, len(self.subjects))
            and self.columns.dtype == np.int32
            and self.told.is_sound()
            and self.subjects.is_sound()
            and bool((self.told.data[self.told.offsets[:-1]] > ord(" ")).all() and (self.told.data != ord("\r")).all())
            and bool(((self.columns >= 0) & (self.columns < counts)).all())
        )

    def take(self, places: Array) -> PackedQuestions:
        """Some of them."""
        told, subjects = (Texts.of(texts[at] for at in places.tolist()) for texts in (self.told, self.subjects))
        return PackedQuestions(told, subjects, self.columns[:, places], self.relations, self.paths)

    def answered(self) -> PackedQuestions:
        """Those with an answer."""
        tabs: Array = np.logical_or.reduceat(self.told.data == ord("\t"), self.told.offsets[:-1])
        return self if tabs.all() else self.take(np.flatnonzero(tabs))

    def by_relation(self) -> dict[str, PackedQuestions]:
        """Those of each relation, in the order met."""
        which, firsts = np.unique(self.relation, return_index=True)
        if len(which) == 1:
            return {self.relations[which[0]]: self}
        ordered = which[np.argsort(firsts)].tolist()
        return {self.relations[one]: self.take(np.flatnonzero(self.relation == one)) for one in ordered}

    def longer_than(self, symbols: int) -> Iterator[Question]:
        """Those whose example may be longer; a byte is at most one symbol, and two separators are two line ends."""
        sizes = np.diff(self.told.offsets) + 1
        return (self[place] for place in np.flatnonzero(sizes > symbols).tolist())

    def __len__(self) -> int:
        return len(self.told)

    @overload
    def __getitem__(self, index: int) -> Question: ...
    @overload
    def __getitem__(self, index: slice) -> PackedQuestions: ...
    def __getitem__(self, index: int | slice) -> Question | PackedQuestions:
        if isinstance(index, slice):
            texts = self.told[index], self.subjects[index]
            return PackedQuestions(*texts, self.columns[:, index], self.relations, self.paths)
        text, *answers = self.told[index].split("\t")
        number, relation, file = self.columns[:, index].tolist()
        names = self.subjects[index] or None, number, self.relations[relation], self.paths[file]
        return Question(text, tuple(answers), *names)

    def __iter__(self) -> Iterator[Question]:
        relations, paths = self.relations, self.paths
        same: dict[str, tuple[str, ...]] = {}  # many questions share an answer
        columns = (column.data for column in map(np.ascontiguousarray, self.columns))
        for told, subject, number, relation, file in zip(self.told, self.subjects, *columns, strict=True):
            text, _, rest = told.partition("\t")
            if (answers := same.get(rest)) is None:
                answers = same[rest] = tuple(rest.split("\t")) if rest else ()
            # Without the checks of a new question, which take most of the time: it was one when it was packed.
            row = _new(Question)
            _set_text(row, text)
            _set_answers(row, answers)
            _set_subject(row, subject or None)
            _set_number(row, number)
            _set_relation(row, relations[relation])
            _set_path(row, paths[file])
            _set_degree(row, None)
            yield row


_new = object.__new__
_set_text, _set_answers, _set_subject, _set_number, _set_relation, _set_path, _set_degree = (
    getattr(Question, one.name).__set__ for one in fields(Question)
)
