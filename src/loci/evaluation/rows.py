"""Predictions as rows on disk: one JSON object a line.

A row holds all that a metric may want, so any model's answers can be re-scored without the model. Knows nothing of
models or metrics.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from loci.errors import LociError
from loci.files import atomic_writer, parse_json
from loci.text.findings import raise_first_error
from loci.text.match import is_accepted
from loci.text.records import has_surrogate
from loci.text.source import Source, load

SEEN, HELD_OUT, UNSTATED, UNSEEN = "seen", "held-out", "unstated", "unseen"
"""Splits of people: asked about in training; only read about; read about, but not the fact; never met at all. Rows may
use other names besides."""
UNKNOWABLE = frozenset({UNSTATED, UNSEEN})
"""Splits of which nobody could know the answer: the only good answer is none."""


@dataclass(frozen=True)
class Prediction:
    """One question, what was expected, and what a model said."""

    question: str
    prediction: str
    """What the model said; the empty string when it said nothing."""
    answers: tuple[str, ...] = ()
    """Accepted answers, the canonical one first; empty when the truth is unknown."""
    subject: str | None = None
    probability: float | None = None
    """The model's probability of the whole answer, its end included."""
    alternatives: tuple[tuple[str, float], ...] = ()
    """Other answers with their probabilities, likeliest first."""
    abstained: bool = False
    """The model (or a threshold) said "I don't know"; `prediction` keeps what it would have said."""
    group: str | None = None
    """A group to compare by, such as the origin of a name."""
    split: str | None = None
    """Which people this is about: `SEEN`, `HELD_OUT`, … or a name of the user's."""
    model: str | None = None
    """Hash of the weights."""
    data: str | None = None
    """Hash of the corpus."""

    def __post_init__(self) -> None:
        for p in (self.probability, *(p for _, p in self.alternatives)):
            if p is not None and not 0 <= p <= 1:  # NaN is not either
                raise LociError(f"probability {p!r} is not between 0 and 1")

    @property
    def correct(self) -> bool | None:
        """Whether the answer is one of the accepted ones, to the letter; None when the truth is unknown."""
        return is_accepted(self.prediction, self.answers) if self.answers else None


def write_predictions(path: str | Path, rows: Iterable[Prediction]) -> None:
    """Write rows as JSON lines, atomically."""
    with atomic_writer(path) as handle:
        for row in rows:
            # A row is flat, so `vars` says all that `asdict` would, several times sooner.
            handle.write(json.dumps(vars(row), ensure_ascii=False) + "\n")


def read_predictions(path: str | Path) -> list[Prediction]:
    """Read JSON lines; a bad row is named by its line."""
    rows = [row for _, row in numbered_rows(load(path))]
    if not rows:
        raise LociError("holds no prediction rows", path=path)
    return rows


def numbered_rows(source: Source) -> Iterator[tuple[int, Prediction]]:
    """The rows of a text of JSON lines, each with the number of its line."""
    raise_first_error(source.findings)
    for number, line in enumerate(source.lines(), start=1):
        if line.strip():
            try:
                yield number, row_from_json(line)
            except LociError as error:
                raise LociError(error.message, path=source.path, line=number, remedy=error.remedy) from None


def row_from_json(line: str, *, question: str | None = None) -> Prediction:
    """One row from its JSON text; fields that are not ours are passed over, since other systems may write more.

    `question` stands in where a row has none.
    """
    data = parse_json(line)
    if not isinstance(data, dict):
        raise LociError("a prediction row is a JSON object")
    if question is not None:
        data.setdefault("question", question)
    for name in ("question", "prediction"):
        if name not in data:
            raise LociError(
                f"field {name!r} is missing", remedy="a row needs at least question and prediction; see docs/formats.md"
            )
    values: dict[str, Any] = {}
    escaped = "\\u" in line  # only so can half a character be written
    for name, (wanted, fits) in _FIELDS.items():
        if name not in data:
            continue
        value = data[name]
        if not fits(value):
            raise LociError(f"field {name!r} is {wanted}, not {json.dumps(value)[:60]}")
        if escaped and has_surrogate(json.dumps(value, ensure_ascii=False)):
            raise LociError(f"field {name!r} holds half a character", remedy="write it anew: UTF-8 has no such thing")
        if value is not None:
            values[name] = value
    values["answers"] = tuple(values.get("answers", ()))
    values["alternatives"] = tuple((text, p) for text, p in values.get("alternatives", ()))
    return Prediction(**values)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_or_null(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_list_of_texts(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(text, str) for text in value))


def _is_list_of_pairs(value: object) -> bool:
    return value is None or (
        isinstance(value, list)
        and all(isinstance(v, list) and len(v) == 2 and isinstance(v[0], str) and _is_number(v[1]) for v in value)
    )


_FIELDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "question": ("a text", _is_text),
    "prediction": ("a text", _is_text),
    "answers": ("a list of texts", _is_list_of_texts),
    "subject": ("a text or null", _is_text_or_null),
    "probability": ("a number or null", lambda value: value is None or _is_number(value)),
    "alternatives": ("a list of [text, probability] pairs", _is_list_of_pairs),
    "abstained": ("true or false", lambda value: isinstance(value, bool)),
    "group": ("a text or null", _is_text_or_null),
    "split": ("a text or null", _is_text_or_null),
    "model": ("a text or null", _is_text_or_null),
    "data": ("a text or null", _is_text_or_null),
}
assert list(_FIELDS) == [field.name for field in fields(Prediction)]
