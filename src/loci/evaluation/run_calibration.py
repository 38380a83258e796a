"""Fitting a run's calibration on a slice of questions.

It belongs to exact weights and says on which questions it was fitted: judging it by the same questions would flatter
it. Knows nothing of how a run is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from loci.answering.confidence import Calibrator, RunCalibration, Temperature
from loci.errors import LociError
from loci.evaluation.abstention import best_threshold, wrong_cost
from loci.evaluation.calibration import (
    brier,
    fit_isotonic,
    fit_temperature,
    recalibrated,
)
from loci.evaluation.rows import Row
from loci.evaluation.score_arrays import ScoreArrays, score_arrays

LEVEL = 0.5
"""The default confidence target: an answer is worth giving when it is more likely right than wrong."""
ENOUGH = 100
"""Rows from which on an isotonic fit, which bends anywhere, is considered at all."""
FOLDS = 5
AS_IT_IS: Calibrator = Temperature(1.0)


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
