"""What the demo found: several systems asked about the same people.

Pure functions of rows. Knows nothing of trainings or pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loci.answering.evidence import Evidence
from loci.evaluation.abstention import abstention_rate
from loci.evaluation.metrics import Rate, exact_match
from loci.evaluation.rows import HELD_OUT, NEVER_READ, TAUGHT, Row


@dataclass(frozen=True)
class SystemResult:
    """One system of the comparison."""

    name: str
    explanation: str
    taught: Rate
    """People of the train questions answered rightly."""
    held_out: Rate
    """People it only read about answered rightly."""
    never_read: Rate
    """People no line is about to whom it gives an answer, at its own threshold."""
    metrics: Sequence[Mapping[str, Any]] = ()
    """Rows of metrics.jsonl; empty for a system that learns nothing."""


@dataclass(frozen=True)
class Example:
    """An answer of the best model, and the sentence of the corpus behind it."""

    row: Row
    evidence: Evidence | None


@dataclass(frozen=True)
class DemoResult:
    """The whole demo."""

    systems: tuple[SystemResult, ...]
    """The one that is expected to know most comes last."""
    examples: tuple[Example, ...]
    people: Mapping[str, int]
    lines: int
    seed: int
    characters: int
    """Read in all trainings together."""
    minutes: float
    """Spent in all trainings together."""
    quick: bool


def system_result(
    name: str, explanation: str, rows: Sequence[Row], metrics: Sequence[Mapping[str, Any]] = ()
) -> SystemResult:
    """The figures of one system from its rows about everybody."""
    taught, held_out, never_read = (
        [row for row in rows if row.split == split] for split in (TAUGHT, HELD_OUT, NEVER_READ)
    )
    answered = abstention_rate(never_read).complement()
    return SystemResult(name, explanation, exact_match(taught), exact_match(held_out), answered, metrics)
