"""An exercise as data: how it is set, its settings, and what comes out: findings, a table and panels.

Knows nothing of how they are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from loci.attention_lab.parses import Parse

Numbers = Sequence[float] | Sequence[int] | NDArray[np.floating] | NDArray[np.integer]
Cell = str | int | float | None
Style = Literal["line", "dots", "dashes"]


@dataclass(frozen=True)
class Curve:
    """Points to be joined or not, from any numbers; `low` and `high` bound the uncertainty of each."""

    name: str
    x: Numbers
    y: Numbers
    style: Style = "line"
    low: Numbers | None = None
    high: Numbers | None = None

    def __post_init__(self) -> None:
        for name in ("x", "y", "low", "high"):
            if (values := getattr(self, name)) is not None:
                object.__setattr__(self, name, tuple(map(float, values)))
        assert len(self.x) == len(self.y), f"{self.name}: {len(self.x)} x, {len(self.y)} y"
        assert (self.low is None) == (self.high is None)
        assert all(len(bound) == len(self.x) for bound in (self.low, self.high) if bound is not None)


@dataclass(frozen=True)
class Panel:
    """One plot."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class MatrixPanel:
    """One heat map with named rows and columns."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Numbers] | NDArray[np.floating]
    x_label: str = ""
    y_label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(tuple(map(float, row)) for row in self.values))
        assert len(self.values) == len(self.rows)
        assert all(len(row) == len(self.columns) for row in self.values)


@dataclass(frozen=True)
class ArcPanel:
    """A parse drawn as arcs over its words."""

    title: str
    parse: Parse


@dataclass(frozen=True)
class LabSettings:
    """Settings of an exercise; each uses those that concern it."""

    seed: int = 0
    inputs: str | None = None
    outputs: str | None = None
    conllu: Path | None = None
    sentence: int = 1
    run: Path | None = None
    questions: Path | None = None
    train: bool = False

    def rng(self) -> np.random.Generator:
        """Where chance comes from."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True)
class LabResult:
    """What came out of an exercise."""

    findings: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    panels: tuple[Panel | MatrixPanel | ArcPanel, ...] = ()
    seed: int | None = None

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.rows), "a row has as many cells as there are columns"


@dataclass(frozen=True)
class Exercise:
    """An exercise as it is set, and the function that carries it out."""

    statement: str
    """The claim in one line of plain text."""
    question: str
    """What is asked, in plain text."""
    symbols: Mapping[str, str]
    """LaTeX of every symbol of the formulas, and what it means."""
    formulas: Mapping[str, str]
    """What each formula says, and its LaTeX."""
    run: Callable[[LabSettings], LabResult] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The exercise as plain data, for JSON."""
        return {name: value for name, value in vars(self).items() if name != "run"}
