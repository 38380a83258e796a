"""What is known apart from the rows of an entry: its corpus, the train questions, groups, places, a calibration and the
model's own vectors of names.

What is not given is taken from the run's own notes, or from the corpus's folder. A file that a run names is used only
if its hash agrees; a calibration and vectors belong to exact weights, and rows of other weights get neither. A remark
says what was left aside. The one module of evaluation that loads a model. Knows nothing of scoring.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from loci.answering.confidence import FILE, RunCalibration, read_calibration
from loci.errors import LociError
from loci.evaluation.comparison.entries import Entry, prediction_files, read_entries
from loci.evaluation.metrics import is_right
from loci.evaluation.rows import TAUGHT, Row, read_rows
from loci.evaluation.scorecard import Context
from loci.text.corpus import Corpus
from loci.text.layout import find_split
from loci.text.questions import Question, Questions
from loci.text.source import load_sound
from loci.training.named import named_corpus, named_questions

PEOPLE = "people.jsonl"
"""The file in which a world tells the origin of every name, and its places."""
Known = dict[str, tuple[str, str]]
"""Subject → question and answer, of the people a model was taught about."""
T = TypeVar("T", Corpus, Questions)
U = TypeVar("U")


@dataclass(frozen=True)
class Sources:
    """Files to use instead of those that the runs name."""

    corpus: Path | None = None
    train: Path | None = None
    groups: Path | None = None
    places: Path | None = None
    window: int | None = None
    """Characters of a line that the models were ever shown."""


def load_entries(paths: Sequence[str | Path], sources: Sources = Sources()) -> list[Entry]:
    """The entries of a comparison with all that is known about each."""
    folder = sources.corpus
    if sources.train is None and folder is not None and folder.is_dir() and find_split(folder, "train"):
        sources = replace(sources, train=folder)
    entries = read_entries(paths)
    if not entries:
        raise LociError("nothing to compare", remedy="name at least one run or prediction file")
    loader = _Loader(sources, {})
    return [loader.complete(entry) for entry in entries]


@dataclass(frozen=True)
class _Loader:
    sources: Sources
    read: dict[tuple[Any, Path], Any]

    def complete(self, entry: Entry) -> Entry:
        """The entry with its context and remarks."""
        sources, remarks = self.sources, list[str]()
        corpus = self._either(Corpus.read, sources.corpus, named_corpus, entry, "corpus", remarks)
        train = self._either(_train_questions, sources.train, named_questions, entry, "questions", remarks)
        people = _people(sources.corpus or (corpus.path if corpus is not None else None))
        groups = sources.groups or people
        if groups is not None:
            entry = with_groups(entry, self._once(read_groups, groups))
        known = _known(entry.rows, train)
        calibration, fitted_on = _calibration(entry, remarks)
        if any(row.model and not row.reasons and not row.silent for row in entry.rows):  # of an earlier version
            remarks.append("rows do not tell what its threshold withholds, so that counts as given: evaluate again")
        context = Context(
            known={subject: answer for subject, (_, answer) in known.items()},
            corpus=corpus,
            vectors=_vectors(entry, {subject: question for subject, (question, _) in known.items()}, remarks),
            window=sources.window,
            places=frozenset().union(*(self._once(read_places, file) for file in (sources.places, people) if file)),
            calibration=calibration,
            fitted_on=fitted_on,
        )
        return replace(entry, context=context, remarks=tuple(f"{entry.name}: {remark}" for remark in remarks))

    def _either(
        self,
        read: Callable[[Path], T],
        given: Path | None,
        read_named: Callable[[Mapping[str, Any]], T | None],
        entry: Entry,
        name: str,
        remarks: list[str],
    ) -> T | None:
        """The file that was given, or else the one the run names, if it is still the same."""
        if given is not None:
            return self._once(read, given)
        named = entry.data.get(name)
        if named is None or not Path(named).exists():
            return None
        # Of several runs that name one file, each says what it was.
        key = f"{name}_hash"
        found: T | None = self._once(lambda path: read_named(entry.data), Path(named), key=(name, entry.data.get(key)))
        if found is None:
            remarks.append(f"{named} is not, or no longer, the {name} it was trained on, and is not used")
        return found

    def _once(self, read: Callable[[Path], U], path: Path, key: object = None) -> U:
        if (kept := (key or read, path)) not in self.read:
            self.read[kept] = read(path)
        found: U = self.read[kept]
        return found


def _people(corpus: Path | None) -> Path | None:
    """The people of the world that a corpus, or the folder of one, belongs to."""
    folder = corpus if corpus is None or corpus.is_dir() else corpus.parent
    return folder / PEOPLE if folder is not None and (folder / PEOPLE).is_file() else None


def _train_questions(path: Path) -> Questions:
    return Questions.read(path, split="train")


def _known(rows: Sequence[Row], train: Questions | None) -> Known:
    """From the train questions, or else from the rows about people who were taught."""
    if train is not None:
        return {q.subject: (q.text, q.answers[0]) for q in train if q.subject and q.answers}
    taught = [row for row in rows if row.split == TAUGHT]
    return {row.subject: (row.question, row.answers[0]) for row in taught if row.subject and row.answers}


def _weights(entry: Entry) -> set[str]:
    return {row.model for row in entry.rows if row.model is not None}


def _calibration(entry: Entry, remarks: list[str]) -> tuple[RunCalibration | None, frozenset[str]]:
    """The calibration in the entry's folder, and those of the rows' questions that it was fitted on."""
    found = read_calibration(entry.path) if entry.path.is_dir() else None
    if found is None:
        return None, frozenset()
    if _weights(entry) != {found.model}:
        remarks.append(f"the calibration in {FILE} belongs to other weights than the rows and is not used")
        return None, frozenset()
    files = (read_rows(file) for file in prediction_files(entry.path))
    return found, frozenset(row.question for rows in files if _hash(rows) == found.questions_hash for row in rows)


def _hash(rows: Sequence[Row]) -> str | None:
    """The hash of the question file that the rows answer, if they answer one as it stands."""
    if rows[0].questions_hash is not None:
        return rows[0].questions_hash
    try:
        asked = (Question(row.question, row.answers, row.subject, number) for number, row in enumerate(rows, start=1))
        return Questions(None, tuple(asked)).hash
    except LociError:
        return None


def _vectors(entry: Entry, taught: Mapping[str, str], remarks: list[str]) -> Mapping[str, NDArray[np.floating]] | None:
    # Only a wrong answer can be the nearest name's; and without people taught about nothing is near anything.
    asked = {row.subject: row.question for row in entry.rows if row.subject and not row.silent and not is_right(row)}
    weights = _weights(entry)
    if not entry.path.is_dir() or not taught or not asked or not weights:
        return None
    from loci.answering.name_vectors import name_vectors
    from loci.training.checkpoint import load_model

    try:
        loaded = load_model(entry.path)
    except LociError:
        return None  # rows were kept, the model was not
    if weights != {loaded.hash}:
        remarks.append("the rows are of other weights than the model now there: names are compared by spelling alone")
        return None
    return name_vectors(loaded, {**asked, **taught})


def read_groups(path: str | Path) -> dict[str, str]:
    """Subject → group: a table (subject, tab, group), or JSON lines with name and origin as a world writes them."""
    groups: dict[str, str] = {}
    for number, line in enumerate(load_sound(path).lines(), start=1):
        if not line.strip():
            continue
        try:
            if line.startswith("{"):
                record = json.loads(line)
                subject, group = record["name"], record["origin"]
            else:
                subject, group = line.split("\t")
        except (ValueError, KeyError, TypeError, RecursionError):
            remedy = "write subject, tab, group on each line"
            raise LociError("tells no subject and group", path=path, line=number, remedy=remedy) from None
        groups[str(subject).strip()] = str(group).strip()
    return groups


def read_places(path: str | Path) -> frozenset[str]:
    """Places, one a line; or every "place" of JSON lines, as a world's people.jsonl tells them."""
    found: set[str] = set()
    for number, line in enumerate(load_sound(path).lines(), start=1):
        if line.startswith("{"):
            try:
                found.update(_places_in(json.loads(line)))
            except (ValueError, RecursionError):
                remedy = "write one place, or one JSON object, a line"
                raise LociError("not valid JSON", path=path, line=number, remedy=remedy) from None
        else:
            found.add(line.strip())
    return frozenset(found - {""})


def _places_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            if name == "place" and isinstance(part, str):
                yield part
            else:
                yield from _places_in(part)


def with_groups(entry: Entry, groups: Mapping[str, str]) -> Entry:
    """The entry with a group for every row whose subject has one; a row's own group stays."""
    rows = tuple(
        replace(row, group=groups[row.subject]) if row.group is None and row.subject and row.subject in groups else row
        for row in entry.rows
    )
    return replace(entry, rows=rows)
