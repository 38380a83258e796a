"""What training tells of itself: reports, who listens, when checkpoints are written, how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from loci.errors import LociError

SMOOTHING = 0.95


@dataclass(frozen=True)
class StepReport:
    """One step, as told to observers and written to metrics.jsonl."""

    stage: str
    step: int
    total_steps: int
    progress: float
    """Part of the stage's budget used up, 0 to 1."""
    loss: float
    """Mean cross-entropy, in nats per character."""
    shaping: float
    """What the shaping terms added to it."""
    lr: float
    characters: int
    """Useful characters (padding not counted) since the start of the run."""
    seconds: float
    """Training time since the start of the run, earlier parts of a resumed one included."""
    held_out: float | None = None
    """Mean loss of what the stage holds out, at the steps where it was measured."""


class SmoothedLoss:
    """A running mean that forgets; of a few losses it is their own mean, not one that leans to the first."""

    def __init__(self) -> None:
        self.total = self.weight = 0.0

    def add(self, loss: float) -> float:
        """The mean with one more loss."""
        self.total = SMOOTHING * self.total + (1 - SMOOTHING) * loss
        self.weight = SMOOTHING * self.weight + (1 - SMOOTHING)
        return self.total / self.weight


class Observer(Protocol):
    """Something that wants to know how training goes: a progress bar, a metrics file, TensorBoard."""

    def on_step(self, report: StepReport) -> None:
        """After every step."""

    def on_checkpoint(self, total_steps: int) -> None:
        """Before a checkpoint is written: whatever is buffered must reach the disk first."""
        return None  # most buffer nothing

    def close(self) -> None:
        """At the end, also after an error."""


@dataclass(frozen=True)
class CheckpointPolicy:
    """When checkpoints are written and how many stay."""

    every_minutes: float = 1.0
    every_steps: int | None = None
    keep: int = 2

    def __post_init__(self) -> None:
        if self.every_minutes <= 0 or (self.every_steps is not None and self.every_steps < 1) or self.keep < 1:
            raise LociError(
                "checkpoints are written after 1 step or more and at least one is kept, "
                f"not every {self.every_steps or self.every_minutes} and {self.keep}"
            )


@dataclass(frozen=True)
class Outcome:
    """How training ended: with a finished model, or stopped with a checkpoint to resume from."""

    run: Path
    finished: bool
    total_steps: int
    seconds: float
