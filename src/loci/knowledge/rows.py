"""Predictions as rows on disk: one JSON object a line.

A row holds all that a metric may want, so any model's answers can be re-scored without the model. Knows nothing of
models or metrics.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from loci.errors import LociError
from loci.files import atomic_writer


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
    """Which people this is about: seen, held-out, unseen, …"""
    model: str | None = None
    """Hash of the weights."""
    data: str | None = None
    """Hash of the corpus."""

    def __post_init__(self) -> None:
        for p in (self.probability, *(p for _, p in self.alternatives)):
            if p is not None and not (isinstance(p, int | float) and math.isfinite(p) and 0 <= p <= 1):
                raise LociError(f"probability {p!r} is not between 0 and 1")

    @property
    def correct(self) -> bool | None:
        """Whether the answer is one of the accepted ones, to the letter; None when the truth is unknown."""
        return self.prediction in self.answers if self.answers else None


def write_predictions(path: str | Path, rows: Iterable[Prediction]) -> None:
    """Write rows as JSON lines, atomically."""
    with atomic_writer(path) as handle:
        for row in rows:
            handle.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")


def read_predictions(path: str | Path) -> list[Prediction]:
    """Read JSON lines; a bad row is named by its line."""
    return list(_rows(Path(path)))


def _rows(path: Path) -> Iterator[Prediction]:
    try:
        handle = open(path, encoding="utf-8")
    except OSError as error:
        raise LociError(f"cannot be read: {error.strerror}", path=path) from None
    with handle:
        try:
            for number, line in enumerate(handle, 1):
                if line.strip():
                    yield _row(path, number, line)
        except UnicodeDecodeError as error:
            raise LociError(f"is not UTF-8 text: {error.reason}", path=path) from None


_FIELDS = {field.name for field in fields(Prediction)}


def _row(path: Path, number: int, line: str) -> Prediction:
    try:
        data: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise LociError(f"not valid JSON: {error.msg}", path=path, line=number) from None
    if not isinstance(data, dict):
        raise LociError("a prediction row is a JSON object", path=path, line=number)
    for name in ("question", "prediction"):
        if not isinstance(data.get(name), str):
            raise LociError(f"field {name!r} is missing or not a text", path=path, line=number)
    data = {name: value for name, value in data.items() if name in _FIELDS}  # other systems may write more
    try:
        data["answers"] = tuple(data.get("answers") or ())
        data["alternatives"] = tuple((str(text), float(p)) for text, p in data.get("alternatives") or ())
        return Prediction(**data)
    except (TypeError, ValueError):
        raise LociError("a field has the wrong type", path=path, line=number, remedy="see docs/formats") from None
    except LociError as error:
        raise LociError(error.message, path=path, line=number) from None
