"""Two ways timed in turns, and a table of how many times faster the second one is. Knows nothing of what is timed."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One comparison: seconds of each repeat, the slow way scaled up where only a part of it was run."""

    what: str
    slow: str
    slow_seconds: list[float]
    loci_seconds: list[float]
    target: float | None = None
    """What the project set out to reach; None where it set nothing."""
    note: str = ""
    same_answers: bool | None = None
    """Whether both ways gave the same answers; None where answers are not compared."""

    @property
    def ratios(self) -> list[float]:
        """How many times faster Loci was, repeat by repeat."""
        return [slow / fast for slow, fast in zip(self.slow_seconds, self.loci_seconds, strict=True)]


class Times(TypedDict):
    """Seconds of each repeat, as `Row` takes them."""

    slow_seconds: list[float]
    loci_seconds: list[float]


@dataclass(frozen=True)
class Bench:
    """How much is measured, how often, and by which clock."""

    quick: bool
    repeats: int
    clock: Callable[[], float]

    def seconds(self, work: Callable[[], Any]) -> float:
        """How long some work takes."""
        begin = self.clock()
        work()
        return self.clock() - begin

    def in_turns(self, slow: Callable[[], Any], fast: Callable[[], Any], scale: float = 1) -> Times:
        """Both ways, alternating, after one run of the fast way to warm up."""
        fast()
        pairs = [(scale * self.seconds(slow), self.seconds(fast)) for _ in range(self.repeats)]
        return {"slow_seconds": [pair[0] for pair in pairs], "loci_seconds": [pair[1] for pair in pairs]}


def print_table(rows: Sequence[Row], console: Console) -> None:
    """Median seconds, and the ratio with its range."""
    table = Table("what", "the other way", "s", "Loci, s", "times faster (range)", "asked for", "")
    for row in rows:
        ratio = f"{statistics.median(row.ratios):.1f} ({min(row.ratios):.1f}–{max(row.ratios):.1f})"
        slow, fast = (statistics.median(times) for times in (row.slow_seconds, row.loci_seconds))
        table.add_row(
            row.what,
            row.slow,
            f"{slow:.2f}",
            f"{fast:.2f}",
            ratio,
            "" if row.target is None else f"≥ {row.target:g}",
            row.note,
        )
    console.print(table)
