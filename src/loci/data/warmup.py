"""Warm-up of the batches: shorter and fewer examples at first, as a pure function of the step.

Short sequences teach the common letters cheaply, and a small batch wastes little while every gradient says the same.
The step counts, not the clock: a batch must be the same whenever it is made. Knows nothing of records or objectives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from loci.errors import LociError

#: Lengths grow in steps of this many characters, so that objectives are made for few different lengths.
GRAIN = 8


@dataclass(frozen=True)
class Warmup:
    """How many steps until the full size, and the share of it at the first step; 0 steps is none at all."""

    steps: int = 0
    start: float = 0.25

    def __post_init__(self) -> None:
        if self.steps < 0 or not 0 < self.start <= 1:
            raise LociError(f"a warm-up has steps ≥ 0 and a start in (0, 1], it has {self.steps} and {self.start}")

    def share(self, step: int) -> float:
        """The share of the full size at a step: a straight line from `start` to 1."""
        if step >= self.steps:
            return 1.0
        return self.start + (1 - self.start) * step / self.steps

    def length(self, step: int, full: int) -> int:
        """The longest example at a step, a whole number of grains."""
        return min(full, max(GRAIN, round(full * self.share(step) / GRAIN) * GRAIN))

    def chosen(self, step: int, n: int) -> list[int]:
        """Which of the n examples of a batch are used: evenly spread, since a batch may be sorted by length."""
        count = max(1, round(n * self.share(step)))
        return [int(position) for position in np.linspace(0, n - 1, count).round()] if count < n else list(range(n))


NO_WARMUP = Warmup()
