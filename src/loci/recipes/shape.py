"""What a recipe may know of the data before it is made: how much there is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DataShape:
    """Sizes of the data a recipe is made for."""

    n_lines: int
    n_questions: int = 0
