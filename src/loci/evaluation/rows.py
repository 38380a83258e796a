"""Answers as rows on disk: one JSON object per line.

A row holds all that a metric may want, so any model's answers can be scored again without the model. Its split says
which people it is about: taught, held out, unstated or never read about. A run keeps a short hash of everybody whose
question it was taught (`data.taught` in run.json). Where a row has no split, one who is among them, of several
relations among those of the row's, is *taught*, whatever the question file is called; of others the file's name tells.
Used to judge answers, never to give them. Knows nothing of models or metrics.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from loci.errors import LociError, naming
from loci.files import atomic_file, atomic_writer, parse_json
from loci.text.match import is_accepted
from loci.text.source import LARGEST, has_surrogate, numbered_lines
from loci.text.taught import Taught

TAUGHT, HELD_OUT, UNSTATED, NEVER_READ = "taught", "held-out", "unstated", "never-read"
"""Splits of people: asked about in training; only read about; read about, but not the fact; never read about. Rows may
use other names as well."""
SPLITS = (TAUGHT, HELD_OUT, UNSTATED, NEVER_READ)
UNKNOWABLE = frozenset({UNSTATED, NEVER_READ})
"""Splits of which nobody could know the answer: the only good answer is none."""
_REMEDY = "a row is a JSON object with at least question and prediction; see docs/formats.md"


@dataclass(frozen=True, slots=True)
class Row:
    """One question, what was expected, and what a model said."""

    question: str
    prediction: str
    """What the model said; the empty string when it said nothing."""
    answers: tuple[str, ...] = ()
    """Accepted answers, the canonical one first; empty when the truth is unknown."""
    subject: str | None = None
    probability: float | None = None
    """The model's confidence in the whole answer, its end included."""
    alternatives: tuple[tuple[str, float], ...] = ()
    """Other answers with their probabilities, the most probable first."""
    abstained: bool = False
    """The model itself said "I don't know"; `prediction` keeps what it would have said."""
    group: str | None = None
    """A group to compare by, such as the origin of a name."""
    split: str | None = None
    """Which people this is about: one of `SPLITS`, or a name of the user's."""
    model: str | None = None
    """Hash of the weights."""
    data: str | None = None
    """Hash of the corpus."""
    questions_hash: str | None = None
    """Hash of the question file."""
    relation: str | None = None
    """Which relation the question is about, such as "birthplace"."""
    silence: str | None = None
    """Why no answer was given, by the model itself or at the run's threshold: "never read about", "not told", "unsure"
    or "unreadable"; None for an answer that was given."""
    reasons: tuple[tuple[str, float], ...] = ()
    """Each reason for silence with its probability, also where an answer was given."""

    def __post_init__(self) -> None:
        for p in (self.probability, *(p for _, p in (*self.alternatives, *self.reasons))):
            if p is not None and not 0 <= p <= 1:  # NaN is not either
                raise LociError(f"probability {p!r} is not between 0 and 1")

    @property
    def silent(self) -> bool:
        """Whether no answer was given: the model abstained, or its answer was below the run's threshold."""
        return self.abstained or self.silence is not None

    @property
    def correct(self) -> bool | None:
        """Whether the answer is one of the accepted ones, to the letter; None when the truth is unknown."""
        return is_accepted(self.prediction, self.answers) if self.answers else None


def write_rows(path: str | Path, rows: Iterable[Row]) -> None:
    """Write rows as JSON lines, or as Parquet where the file's name ends so; atomically."""
    if Path(path).suffix == ".parquet":
        rows = list(rows)
        table = _pyarrow().Table.from_pylist([_as_columns(row) for row in rows])
        with atomic_file(path) as temporary:
            _pyarrow("pyarrow.parquet").write_table(table, temporary)
        return
    with atomic_writer(path) as handle:
        for row in rows:
            handle.write(json.dumps(_values(row), ensure_ascii=False) + "\n")


def read_rows(path: str | Path) -> list[Row]:
    """Read JSON lines or Parquet; a bad row is named by its line."""
    if Path(path).suffix == ".parquet":
        rows = _rows_of_parquet(Path(path))
    else:
        rows = [row for _, row in numbered_rows(Path(path), numbered_lines(path))]
    if not rows:
        raise LociError("holds no prediction rows", path=path, remedy=_REMEDY)
    return rows


def rows_file(folder: Path, name: str, questions_hash: str) -> Path:
    """Where rows of these questions go: under a name, and their hash where that name means other questions already."""
    place = folder / f"{name}.jsonl"
    if place.is_file() and {row.questions_hash for row in read_rows(place)} != {questions_hash}:
        return place.with_name(f"{name}-{questions_hash[:8]}.jsonl")
    return place


def _pyarrow(module: str = "pyarrow") -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        remedy = "pip install 'loci-lab[parquet]', or give a name that ends in .jsonl"
        raise LociError("Parquet files need pyarrow", remedy=remedy) from None


def _values(row: Row) -> dict[str, Any]:
    """A row is flat, so this says all that `asdict` would, several times sooner."""
    return {name: getattr(row, name) for name in _FIELDS}


def _as_columns(row: Row) -> dict[str, Any]:
    """A row with its pairs as records: a column has one kind of value."""
    pairs = {name: [{"text": text, "probability": p} for text, p in getattr(row, name)] for name in _PAIRS}
    return {**_values(row), "answers": list(row.answers), **pairs}


def _rows_of_parquet(path: Path) -> list[Row]:
    try:
        reader = _pyarrow("pyarrow.parquet")
        about = reader.read_metadata(path)
        size = sum(about.row_group(n).total_byte_size for n in range(about.num_row_groups))
        if max(size, about.num_rows) > LARGEST:  # a small file that says it is large is not unpacked to see
            raise LociError(f"unpacks to over {LARGEST >> 20:,} MB", path=path, remedy="split it into several files")
        found = reader.read_table(path).to_pylist()
    except LociError:
        raise
    except Exception as error:  # its readers raise many kinds
        reason = " ".join(str(error).split())[:200]
        raise LociError(f"cannot be read as Parquet: {reason}", path=path, remedy=_REMEDY) from None
    rows = []
    for number, data in enumerate(found, start=1):
        pairs = {name: [[*map(one.get, ("text", "probability"))] for one in data.get(name) or ()] for name in _PAIRS}
        try:
            rows.append(row_from_json(json.dumps({**data, **pairs}, ensure_ascii=False)))
        except (LociError, TypeError) as error:
            raise LociError(f"row {number}: {error}", path=path, remedy=_REMEDY) from None
    return rows


def numbered_rows(
    path: Path | None, lines: Iterable[tuple[int, str]], *, question: str | None = None
) -> Iterator[tuple[int, Row]]:
    """The rows of JSON lines, each with its line number; `question` stands in where a row has none."""
    for number, line in lines:
        if line.strip():
            with naming(path, line=number, remedy=_REMEDY):
                row = row_from_json(line, question=question)
            yield number, row


def row_from_json(line: str, *, question: str | None = None) -> Row:
    """One row from its JSON text; fields that are not ours are ignored, since other systems may write more."""
    data = parse_json(line)
    if not isinstance(data, dict):
        raise LociError("a prediction row is a JSON object")
    if question is not None:
        data.setdefault("question", question)
    for name in ("question", "prediction"):
        if name not in data:
            raise LociError(f"field {name!r} is missing")
    values: dict[str, Any] = {}
    escaped = "\\u" in line  # only so can half a character be written
    for name, (wanted, fits) in _FIELDS.items():
        if name not in data:
            continue
        value = data[name]
        if not fits(value):
            raise LociError(f"field {name!r} is {wanted}, not {json.dumps(value)[:60]}")
        if escaped and has_surrogate(json.dumps(value, ensure_ascii=False)):
            raise LociError(f"field {name!r} has half a character", remedy="write it anew: UTF-8 has no such thing")
        if value is not None:
            # Places, relations and hashes come again and again: a million rows hold each once.
            values[name] = sys.intern(value) if isinstance(value, str) and name != "question" else value
    values["answers"] = tuple(map(sys.intern, values.get("answers", ())))
    for name in _PAIRS:
        values[name] = tuple((sys.intern(text), p) for text, p in values.get(name, ()))
    return Row(**values)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list_of_texts(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(text, str) for text in value))


def _is_list_of_pairs(value: object) -> bool:
    return value is None or (
        isinstance(value, list)
        and all(isinstance(v, list) and len(v) == 2 and isinstance(v[0], str) and _is_number(v[1]) for v in value)
    )


_PAIRS = ("alternatives", "reasons")
_TEXT_OR_NULL = ("a text or null", lambda value: value is None or isinstance(value, str))
_OTHERS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "question": ("a text", lambda value: isinstance(value, str)),
    "prediction": ("a text", lambda value: isinstance(value, str)),
    "answers": ("a list of texts", _is_list_of_texts),
    "probability": ("a number or null", lambda value: value is None or _is_number(value)),
    **dict.fromkeys(_PAIRS, ("a list of [text, probability] pairs", _is_list_of_pairs)),
    "abstained": ("true or false", lambda value: isinstance(value, bool)),
}
_FIELDS = {field.name: _OTHERS.get(field.name, _TEXT_OR_NULL) for field in fields(Row)}


#: What a question file's name says about its people, in the course's words, the world's and our own.
_SPLIT_WORDS = {
    "train": TAUGHT,
    "dev": HELD_OUT,
    "test": HELD_OUT,
    "validation": HELD_OUT,
    "outside": NEVER_READ,
    **{split: split for split in (TAUGHT, HELD_OUT, UNSTATED, NEVER_READ)},
}


def words_of(stem: str) -> list[str]:
    """The words of a file's name: birth_held-out → birth, held-out."""
    name = stem.lower()
    for split in (HELD_OUT, NEVER_READ):
        name = name.replace(split, split.replace("-", "="))
        name = name.replace(split.replace("-", "_"), split.replace("-", "="))
    return [word.replace("=", "-") for word in name.replace("-", "_").split("_")]


def split_of(stem: str) -> str | None:
    """The split that a file's name tells: birth_dev → held-out; None when it tells none."""
    return next((_SPLIT_WORDS[word] for word in words_of(stem) if word in _SPLIT_WORDS), None)


def with_splits(rows: Iterable[Row], told: str | None, taught: Taught | None) -> list[Row]:
    """The rows with a split each. `told`: by the file's name. `taught`: whom the run was; None when nobody knows.

    A row's own split stays: whoever wrote it knew more than the subject, of whom another relation may be taught.
    """

    def split(row: Row) -> str | None:
        if taught is not None and row.subject is not None:
            is_taught = taught.about(row.subject, row.relation)
            if is_taught and row.split is None:
                return TAUGHT
            if not is_taught and (row.split or told) == TAUGHT:
                return HELD_OUT  # train questions, but of another training
        return row.split or told

    return [replace(row, split=split(row)) for row in rows]
