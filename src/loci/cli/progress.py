"""How training looks in a terminal: a bar for each step of the recipe with loss or readings, speed and time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from loci.training.distributed import Group
from loci.training.reports import Observer, SmoothedLoss, StepReport

PLAIN_EVERY_SECONDS = 30.0


class ProgressBar(Observer):
    """An observer that draws; where there is no terminal it prints a plain line now and then instead."""

    def __init__(self, label: str = "") -> None:
        self.label = f"{label} " if label else ""
        self.console = Console(stderr=True)
        self.bar: Progress | None = None
        self.tasks: dict[str, TaskID] = {}
        self.smooth: dict[str, SmoothedLoss] = {}
        self.held_out = ""
        self.started: dict[str, tuple[float, float, float]] = {}
        self.printed = time.monotonic()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def on_step(self, report: StepReport) -> None:
        """Move the bar."""
        loss = self.smooth.setdefault(report.stage, SmoothedLoss()).add(report.loss)
        if report.held_out is not None:
            self.held_out = f" held out {report.held_out:.3f}"
        note = f"loss {loss:.3f}{self.held_out}"
        self._show(report.stage, report.progress, report.characters, report.seconds, note, "characters")

    def labelling(self, done: int, total: int) -> None:
        """Move the bar of a labelling step: so many readings, of a line for a relation, of so many are done."""
        note = f"{done:,} of {total:,} readings"
        self._show("label", done / max(total, 1), done, time.monotonic(), note, "readings")

    def asking(self, done: int, total: int) -> None:
        """Move the bar of a file of questions: so many of so many are answered."""
        self._show("ask", done / max(total, 1), done, time.monotonic(), f"{done:,} of {total:,}", "questions")

    def told_by(self, group: Group) -> Callable[[int, int], None]:
        """`asking`, for the first process of a group; the others draw nothing."""
        return self.asking if group.first else lambda done, total: None

    def _show(self, step: str, progress: float, amount: float, seconds: float, note: str, unit: str) -> None:
        """One bar, or one line: `amount` (characters, readings) and `seconds` give the speed since the step began."""
        begun, at, first = self.started.setdefault(step, (amount, seconds, progress))
        spent = seconds - at
        rate = (amount - begun) / spent if spent > 0 else 0.0
        note = f"{note} {rate:,.0f} {unit}/s"
        if self.console.is_terminal:
            self._draw(step, progress, note)
        elif time.monotonic() - self.printed > PLAIN_EVERY_SECONDS or progress >= 1:
            self.printed = time.monotonic()
            left = spent * (1 - progress) / (progress - first) if progress > first else None
            text = f"{self.label}{step} {100 * progress:.0f} % {note}"
            print(text if left is None else f"{text}, {duration(left)} left", file=sys.stderr, flush=True)

    def _draw(self, step: str, progress: float, note: str) -> None:
        if self.bar is None:
            self.bar = Progress(
                TextColumn("{task.description:<22}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f} %"),
                TextColumn("{task.fields[note]}"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=self.console,
            )
            self.bar.start()
        if step not in self.tasks:
            self.tasks[step] = self.bar.add_task(self.label + step, total=1.0, note="")
        self.bar.update(self.tasks[step], completed=progress, note=note)

    def close(self) -> None:
        """Leave the bar as it stands."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None


def duration(seconds: float) -> str:
    """A time as people say it: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
