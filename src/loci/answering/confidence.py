"""How sure is sure enough: a run's calibration and threshold, read and applied.

A calibration maps the model's probability of an answer to the chance that it is right. It belongs to exact weights and
lies in the run's folder; the threshold comes from it, else from the model's own config. Fitting is not done here
(`loci.evaluation.calibration`). Knows nothing of how a run is asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from loci.answering.familiarity import Familiarity
from loci.errors import LociError, naming
from loci.files import read_struct, write_json
from loci.training.checkpoint import Count, LoadedModel
from loci.training.run import run_folder

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
THRESHOLD = 0.5
"""Below this probability a run that says nothing else does not answer."""
FILE = "calibration.json"
FORMAT = 1
NEVER = math.inf
"""The threshold that answers nothing."""
_AGAIN = "fit it again: loci evaluate RUN --calibrate"
EDGE = 1e-6
"""A probability of exactly 0 or 1 has infinite log-odds."""


@dataclass(frozen=True)
class Temperature:
    """Divides the log-odds of every probability: above 1 it humbles, below 1 it emboldens."""

    value: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.value) and self.value > 0):
            raise LociError(f"a temperature is a positive number, not {self.value!r}")

    def apply(self, confidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """The calibrated probabilities."""
        return np.asarray(1 / (1 + np.exp(-log_odds(confidence) / self.value)), dtype=np.float64)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data; `calibrator_from_dict` reads it back."""
        return {"kind": "temperature", "value": self.value}


@dataclass(frozen=True)
class Isotonic:
    """A rising line through knots: the probability claimed → the share found right."""

    claimed: tuple[float, ...]
    found: tuple[float, ...]

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip(self.claimed, self.claimed[1:], strict=False)) and all(
            a <= b for a, b in zip(self.found, self.found[1:], strict=False)
        )
        inside = all(0 <= value <= 1 for value in (*self.claimed, *self.found))
        if not (rising and inside and len(self.claimed) == len(self.found) > 0):
            raise LociError("an isotonic calibration is a rising line of knots between 0 and 1")

    def apply(self, confidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """The calibrated probabilities; beyond the outer knots the line is level."""
        return np.asarray(np.interp(confidence, self.claimed, self.found), dtype=np.float64)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data; `calibrator_from_dict` reads it back."""
        return {"kind": "isotonic", "claimed": list(self.claimed), "found": list(self.found)}


Calibrator = Temperature | Isotonic


def log_odds(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """log p/(1 − p), finite everywhere."""
    p = np.clip(confidence, EDGE, 1 - EDGE)
    return np.asarray(np.log(p) - np.log1p(-p), dtype=np.float64)


def calibrator_from_dict(data: Any) -> Calibrator:
    """The calibrator that `as_dict` wrote."""
    try:
        if data["kind"] == "temperature":
            return Temperature(float(data["value"]))
        if data["kind"] == "isotonic":
            return Isotonic(tuple(map(float, data["claimed"])), tuple(map(float, data["found"])))
    except (KeyError, TypeError, ValueError):
        pass
    raise LociError("not a calibration: a kind of temperature (value) or isotonic (claimed, found) is wanted")


@dataclass(frozen=True)
class Confidence:
    """What turns the model's probability into the chance of being right, and how much of it an answer needs."""

    threshold: float = THRESHOLD
    calibrator: Calibrator | None = None
    familiarity: Familiarity | None = None
    """How familiar a subject must be, where the model has learned to tell: else nothing is said."""

    def apply(self, probabilities: Sequence[float]) -> list[float]:
        """The calibrated probabilities; without a calibrator the probabilities themselves."""
        if self.calibrator is None:
            return list(probabilities)
        found: list[float] = self.calibrator.apply(np.array(probabilities, dtype=np.float64)).tolist()
        return found


def confidence_of(loaded: LoadedModel, *, threshold: float | None = None) -> Confidence:
    """The confidence of a run: its calibration, if it belongs to these weights, and its threshold unless one is given.

    The threshold is the calibration's, else the one in the model's config, else one half.
    """
    if threshold is not None and not 0 <= threshold <= 1:
        raise LociError(f"a threshold is a probability between 0 and 1, not {threshold}")
    learned = loaded.config.get("familiarity")
    familiarity = None if learned is None else Familiarity(**learned)
    home = run_folder(loaded.path)
    calibration = read_calibration(home) if home is not None else None
    if calibration is not None and calibration.model == loaded.hash:
        return Confidence(
            calibration.threshold if threshold is None else threshold, calibration.calibrator, familiarity
        )
    own = loaded.config.get("threshold")
    chosen = threshold if threshold is not None else THRESHOLD if own is None else float(own)
    return Confidence(chosen, familiarity=familiarity)


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


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What calibration.json says."""

    format: int
    calibrator: dict[str, Any]
    temperature: dict[str, Any]
    isotonic: dict[str, Any] | None
    level: Share
    threshold: Share | None
    model: str
    questions: str
    questions_hash: str
    n: Count
    right: Count
    brier_before: Share
    brier_after: Share


def write_calibration(run: Path, calibration: RunCalibration) -> Path:
    """Keep a calibration in the run's folder; an older one is replaced."""
    write_json(run / FILE, calibration.as_dict())
    return run / FILE


def read_calibration(run: Path) -> RunCalibration | None:
    """The calibration in a run's folder; None when it has none."""
    file = run / FILE
    if not file.is_file():
        return None
    raw = read_struct(file, _File, remedy=_AGAIN)
    with naming(file, remedy=_AGAIN):
        if raw.format != FORMAT:
            raise LociError(f"calibration format {raw.format}, this Loci reads {FORMAT}")
        temperature = calibrator_from_dict(raw.temperature)
        isotonic = calibrator_from_dict(raw.isotonic) if raw.isotonic is not None else None
        if not isinstance(temperature, Temperature) or not (isotonic is None or isinstance(isotonic, Isotonic)):
            raise LociError("temperature and isotonic fit are exchanged")
        fits = (calibrator_from_dict(raw.calibrator), temperature, isotonic)
    return RunCalibration(
        *fits,
        raw.level,
        NEVER if raw.threshold is None else raw.threshold,
        raw.model,
        raw.questions,
        raw.questions_hash,
        raw.n,
        raw.right,
        raw.brier_before,
        raw.brier_after,
    )
