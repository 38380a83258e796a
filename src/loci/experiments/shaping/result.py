"""What the experiment on loss shaping found: one row per trained model.

Knows nothing of trainings or pages.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Condition:
    """One setting of the two λ."""

    name: str
    focus: float = 0.0
    near: float = 0.0

    @property
    def term(self) -> str:
        """Which term it has."""
        return "focus" if self.focus else "near" if self.near else "plain"

    @property
    def weight(self) -> float:
        """Its λ."""
        return self.focus or self.near


@dataclass(frozen=True)
class Measured:
    """What one trained model shows."""

    condition: str
    seed: int
    language_loss: float
    """Nats per character on the text of people it never read about."""
    parse: float
    """Arcs found by its best head, chosen and scored on different sentences."""
    parse_distance: float
    """The same for the best fixed distance."""
    trees: float
    """Undirected attachment of the spanning trees."""
    taught: float
    """Exact match on people of the train questions."""
    recall: float
    """Exact match on held-out people."""
    recall_n: int
    characters_per_second: float


@dataclass(frozen=True)
class ShapingResult:
    """The whole experiment."""

    conditions: tuple[Condition, ...]
    """The first one is plain."""
    measured: tuple[Measured, ...]
    seeds: int
    quick: bool

    def of(self, condition: Condition) -> list[Measured]:
        """The models of one condition, by seed."""
        return sorted((m for m in self.measured if m.condition == condition.name), key=lambda m: m.seed)
