"""Rows as arrays: was the answer right, and how sure was the model.

What a threshold would withhold is counted as said here, so that every threshold can be judged. Knows nothing of what is
computed from the arrays.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loci.errors import LociError
from loci.evaluation.metrics import scorable
from loci.evaluation.rows import Row


@dataclass(frozen=True)
class ScoreArrays:
    """One entry a row that can be scored."""

    right: NDArray[np.bool_]
    """Whether the answer is accepted, said or withheld."""
    confidence: NDArray[np.float64]
    withheld: NDArray[np.bool_] | None = None
    """Whether the row abstained; None when none did."""

    def __post_init__(self) -> None:
        assert self.right.shape == self.confidence.shape
        assert self.withheld is None or self.withheld.shape == self.right.shape
        assert self.right.ndim == 1

    def __len__(self) -> int:
        return len(self.right)


def score_arrays(rows: Sequence[Row]) -> ScoreArrays:
    """The arrays of the scorable rows; a row without a probability is a `LociError`."""
    scored = scorable(rows)
    if not scored:
        raise LociError("no row with a known truth, so nothing can be scored")
    for row in scored:
        if row.probability is None:
            raise LociError(
                f"the answer to {row.question!r} has no probability",
                remedy="calibration and abstention need a probability in every row",
            )
    right = np.fromiter((row.correct is True for row in scored), dtype=np.bool_, count=len(scored))
    confidence = np.fromiter((row.probability for row in scored), dtype=np.float64, count=len(scored))
    withheld = np.fromiter((row.abstained for row in scored), dtype=np.bool_, count=len(scored))
    return ScoreArrays(right, confidence, withheld if withheld.any() else None)


def has_probabilities(rows: Sequence[Row]) -> bool:
    """Whether `score_arrays` will succeed."""
    scored = scorable(rows)
    return bool(scored) and all(row.probability is not None for row in scored)


def validation_slice(rows: Sequence[Row], share: float = 0.5) -> tuple[list[Row], list[Row]]:
    """Rows to fit on and rows to judge on. All rows of a person fall on one side, and on the same side in every run."""
    fit: list[Row] = []
    rest: list[Row] = []
    for row in rows:
        # A checksum deals people out evenly without a generator, whatever the order or the number of the rows.
        name = row.subject or row.question
        (fit if zlib.crc32(name.encode()) < share * 2**32 else rest).append(row)
    return fit, rest
