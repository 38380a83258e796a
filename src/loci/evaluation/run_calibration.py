"""A run's calibration: fitted on a slice of questions, kept in the run's folder, used when the run is asked.

It belongs to exact weights and says on which questions it was fitted: judging it by the same questions would flatter
it. Knows nothing of how a run is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loci.errors import LociError
from loci.evaluation.abstention import NEVER, best_threshold, wrong_cost
from loci.evaluation.calibration import (
    Calibrator,
    Isotonic,
    Temperature,
    brier,
    calibrator_from_dict,
    fit_isotonic,
    fit_temperature,
    recalibrated,
)
from loci.evaluation.rows import Row
from loci.evaluation.score_arrays import ScoreArrays, score_arrays
from loci.files import read_object, write_json

FILE = "calibration.json"
FORMAT = 1
LEVEL = 0.5
"""The default confidence target: an answer is worth giving when it is more likely right than wrong."""
ENOUGH = 100
"""Rows from which on an isotonic fit, which bends anywhere, is considered at all."""
FOLDS = 5
AS_IT_IS: Calibrator = Temperature(1.0)


@dataclass(frozen=True)
class RunCalibration:
    """How a run's probabilities are to be read, and below which it should say "I don't know"."""

    calibrator: Calibrator
    """What is used: the best on people it was not fitted on, which may be to leave the probabilities as they are."""
    temperature: Temperature
    isotonic: Isotonic | None
    """None when there were too few rows."""
    level: float
    threshold: float
    """On the calibrated scale: of highest cost score at `level`; infinite when no answer is worth giving."""
    model: str
    questions: str
    questions_hash: str
    n: int
    right: int
    brier_before: float
    brier_after: float
    """Of what is used, mean over folds, each judged by fits on the others."""

    def apply(self, probabilities: Sequence[float]) -> list[float]:
        """The calibrated probabilities."""
        found: list[float] = self.calibrator.apply(np.array(probabilities, dtype=np.float64)).tolist()
        return found

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data; `read_calibration` reads it back."""
        return {
            "format": FORMAT,
            "calibrator": self.calibrator.as_dict(),
            "temperature": self.temperature.as_dict(),
            "isotonic": self.isotonic.as_dict() if self.isotonic is not None else None,
            "level": self.level,
            "threshold": self.threshold if math.isfinite(self.threshold) else None,
            "model": self.model,
            "questions": self.questions,
            "questions_hash": self.questions_hash,
            "n": self.n,
            "right": self.right,
            "brier_before": self.brier_before,
            "brier_after": self.brier_after,
        }


def fit_calibration(
    rows: Sequence[Row], *, questions: str, questions_hash: str, model: str, level: float = LEVEL
) -> RunCalibration:
    """Fit on rows with answers and probabilities; all right or all wrong is a `LociError`."""
    wrong_cost(level)  # a level that is none is said before anything is fitted
    taken = score_arrays(rows)
    right = int(taken.right.sum())
    if not 0 < right < len(taken):
        raise LociError(
            f"{right} of {len(taken)} answers are right: nothing can be told from confidence",
            remedy="calibrate on questions of which the run gets some right and some wrong",
        )
    temperature = fit_temperature(taken)
    isotonic = fit_isotonic(taken) if len(taken) >= ENOUGH else None
    before = brier(taken).value
    # Few rows can teach a fit the wrong thing: then none is better.
    chosen, after = AS_IT_IS, before
    for fit, function in ((temperature, fit_temperature), (isotonic, fit_isotonic)):
        if fit is not None and (found := _over_folds(taken, function)) < after:
            chosen, after = fit, found
    threshold = best_threshold(recalibrated(taken, chosen), level)
    return RunCalibration(
        chosen,
        temperature,
        isotonic,
        level,
        threshold,
        model,
        questions,
        questions_hash,
        len(taken),
        right,
        before,
        after,
    )


def _over_folds(rows: ScoreArrays, fit: Callable[[ScoreArrays], Calibrator]) -> float:
    """Mean squared distance of claim and truth, every row judged by a fit on the other folds."""
    fold = np.arange(len(rows)) % min(FOLDS, len(rows))
    claimed = np.empty(len(rows))
    for index in range(int(fold.max()) + 1):
        held = fold == index
        rest = ScoreArrays(rows.right[~held], rows.confidence[~held])
        claimed[held] = fit(rest).apply(rows.confidence[held])
    return float(((claimed - rows.right) ** 2).mean())


def write_calibration(run: Path, calibration: RunCalibration) -> Path:
    """Keep a calibration in the run's folder; an older one is replaced."""
    write_json(run / FILE, calibration.as_dict())
    return run / FILE


def read_calibration(run: Path) -> RunCalibration | None:
    """The calibration in a run's folder; None when it has none."""
    file = run / FILE
    if not file.is_file():
        return None
    raw = read_object(file)
    try:
        if raw["format"] != FORMAT:
            raise LociError(f"calibration format {raw['format']!r}, this Loci reads {FORMAT}")
        temperature = calibrator_from_dict(raw["temperature"])
        isotonic = calibrator_from_dict(raw["isotonic"]) if raw["isotonic"] is not None else None
        if not isinstance(temperature, Temperature) or not (isotonic is None or isinstance(isotonic, Isotonic)):
            raise LociError("temperature and isotonic fit are exchanged")
        return RunCalibration(
            calibrator_from_dict(raw["calibrator"]),
            temperature,
            isotonic,
            float(raw["level"]),
            NEVER if raw["threshold"] is None else float(raw["threshold"]),
            str(raw["model"]),
            str(raw["questions"]),
            str(raw["questions_hash"]),
            int(raw["n"]),
            int(raw["right"]),
            float(raw["brier_before"]),
            float(raw["brier_after"]),
        )
    except (KeyError, TypeError, ValueError):
        raise LociError("is no calibration", path=file, remedy="fit it again: loci evaluate RUN --calibrate") from None
    except LociError as error:
        raise LociError(error.message, path=file, remedy="fit it again: loci evaluate RUN --calibrate") from None
