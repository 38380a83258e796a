"""What lies beside a run's rows: the calibration it keeps, and its model's own vectors of names.

Both belong to exact weights: rows of other weights get neither, and a remark says so. Knows nothing of scoring.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from loci.errors import LociError
from loci.evaluation.comparison.entries import Entry, prediction_files
from loci.evaluation.metrics import is_right
from loci.evaluation.rows import Prediction, read_predictions
from loci.evaluation.run_calibration import FILE, RunCalibration, read_calibration
from loci.text.questions import Question, Questions


@dataclass(frozen=True)
class Beside:
    """What was found beside the rows of one entry."""

    calibration: RunCalibration | None = None
    fitted_on: frozenset[str] = frozenset()
    """Those of the rows' questions that the calibration was fitted on."""
    vectors: Mapping[str, NDArray[np.floating]] | None = None
    remarks: tuple[str, ...] = ()
    """What a reader of the comparison should know."""


def look_beside(entry: Entry, taught: Mapping[str, str]) -> Beside:
    """Look into the entry's folder. `taught`: subject → question, of the people the model was taught about."""
    if not entry.path.is_dir():
        return Beside()
    weights = {row.model for row in entry.rows if row.model is not None}
    remarks: list[str] = []
    calibration, fitted_on = _calibration(entry, weights, remarks)
    vectors = _vectors(entry, weights, taught, remarks)
    return Beside(calibration, fitted_on, vectors, tuple(f"{entry.name}: {remark}" for remark in remarks))


def _calibration(entry: Entry, weights: set[str], remarks: list[str]) -> tuple[RunCalibration | None, frozenset[str]]:
    found = read_calibration(entry.path)
    if found is None:
        return None, frozenset()
    if weights != {found.model}:
        remarks.append(f"the calibration in {FILE} belongs to other weights than the rows and is not used")
        return None, frozenset()
    fitted_on = frozenset(
        row.question for rows in _files(entry.path) if _hash(rows) == found.questions_hash for row in rows
    )
    return found, fitted_on


def _files(folder: Path) -> Iterable[list[Prediction]]:
    return (read_predictions(file) for file in prediction_files(folder))


def _hash(rows: Iterable[Prediction]) -> str | None:
    """The hash of the question file that the rows answer, if they answer one as it stands."""
    try:
        asked = (Question(row.question, row.answers, row.subject, number) for number, row in enumerate(rows, start=1))
        return Questions(None, tuple(asked)).hash
    except LociError:
        return None


def _vectors(
    entry: Entry, weights: set[str], taught: Mapping[str, str], remarks: list[str]
) -> Mapping[str, NDArray[np.floating]] | None:
    # Only a wrong answer can be a look-alike's; and without people to look like nothing is near anything.
    asked = {row.subject: row.question for row in entry.rows if row.subject and not row.abstained and not is_right(row)}
    if not taught or not asked or not weights:
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
