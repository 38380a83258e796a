"""What the experiment on growth found: one row per trained model, and power laws through them.

Knows nothing of trainings or pages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

KNOWN = 0.9
"""The share of people that must be known."""
PUBLISHED = ((1000, 2.0), (100, 1.0))
"""Exposures of each fact, and the bits a parameter then holds (Physics of Language Models 3.3)."""


@dataclass(frozen=True)
class Grown:
    """One model that memorized a world until most of it was known, or until its budget was spent."""

    people: int
    seed: int
    width: int
    parameters: int
    reached: bool
    """Whether 90 % are known; otherwise the figures are those at the end of the budget."""
    known: float
    asked: int
    """How many people the share is of."""
    characters: float
    exposures: float
    """How often each question and answer was seen."""
    flops: float
    bits: float
    """What it knows about everybody: the entropy of the answers less what the model is still surprised by."""
    entropy: float
    """Bits of one answer, if only the shares of the answers are known."""
    curve: tuple[tuple[float, float], ...] = ()
    """Characters, and the share known then."""

    @property
    def bits_per_parameter(self) -> float:
        """What each parameter holds."""
        return self.bits / self.parameters


@dataclass(frozen=True)
class PowerLaw:
    """y = factor · people ^ exponent."""

    factor: float
    exponent: float

    def __call__(self, people: float) -> float:
        """What it says for a number of people."""
        return float(self.factor * people**self.exponent)


@dataclass(frozen=True)
class GrowthResult:
    """The whole experiment."""

    grown: tuple[Grown, ...]
    seeds: int
    quick: bool

    def law(self, get: Callable[[Grown], float]) -> PowerLaw | None:
        """The power law through the models that got there; None with fewer than two sizes."""
        return power_law([(one.people, get(one)) for one in self.grown if one.reached])


def power_law(points: Sequence[tuple[float, float]]) -> PowerLaw | None:
    """Least squares of the logarithms."""
    if len({x for x, _ in points}) < 2 or any(y <= 0 for _, y in points):
        return None
    slope, intercept = np.polyfit(np.log([x for x, _ in points]), np.log([y for _, y in points]), 1)
    return PowerLaw(math.exp(intercept), float(slope))


def entropy(answers: Sequence[str]) -> float:
    """Bits of one answer by the shares of the answers."""
    _, counts = np.unique(np.array(answers), return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum())
