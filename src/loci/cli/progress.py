"""How training looks in a terminal: one bar a stage with loss, useful characters a second and the time left."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from loci.training.reports import StepReport

SMOOTHING = 0.95
PLAIN_EVERY_SECONDS = 30.0
READING_EVERY_SECONDS = 5.0


class ProgressBar:
    """An observer that draws; where there is no terminal it prints a plain line now and then instead."""

    def __init__(self, label: str = "") -> None:
        self.label = f"{label} " if label else ""
        self.console = Console(stderr=True)
        self.bar: Progress | None = None
        self.tasks: dict[str, TaskID] = {}
        self.smooth: dict[str, float] = {}
        self.started: tuple[int, float] | None = None
        self.printed = 0.0

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def on_step(self, report: StepReport) -> None:
        """Move the bar."""
        before = self.smooth.get(report.stage, report.loss)
        self.smooth[report.stage] = SMOOTHING * before + (1 - SMOOTHING) * report.loss
        if self.started is None:
            self.started = (report.characters, report.seconds)
        characters, seconds = report.characters - self.started[0], report.seconds - self.started[1]
        rate = characters / seconds if seconds > 0 else 0.0
        if self.console.is_terminal:
            self._draw(report, rate)
        elif report.seconds - self.printed > PLAIN_EVERY_SECONDS or report.progress >= 1:
            self.printed = report.seconds
            text = f"{self.label}{report.stage} {100 * report.progress:.0f} % step {report.step}"
            print(f"{text} loss {self.smooth[report.stage]:.3f} {rate:,.0f} characters/s", file=sys.stderr, flush=True)

    def _draw(self, report: StepReport, rate: float) -> None:
        if self.bar is None:
            self.bar = Progress(
                TextColumn("{task.description:<22}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f} %"),
                TextColumn("loss {task.fields[loss]:.3f}"),
                TextColumn("{task.fields[rate]:>7,.0f} characters/s"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=self.console,
            )
            self.bar.start()
        if report.stage not in self.tasks:
            self.tasks[report.stage] = self.bar.add_task(self.label + report.stage, total=1.0, loss=0.0, rate=0.0)
        loss = self.smooth[report.stage]
        self.bar.update(self.tasks[report.stage], completed=report.progress, loss=loss, rate=rate)

    def on_checkpoint(self, total_steps: int) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """Leave the bar as it stands."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None


class ReadingLines:
    """Says how far a model has read its corpus, now and then; a bar that stands below moves down."""

    def __init__(self) -> None:
        self.said = 0.0

    def __call__(self, done: int, total: int) -> None:
        """So many lines of so many are read."""
        now = time.monotonic()
        if now - self.said > READING_EVERY_SECONDS or done == total:
            self.said = now
            print(f"reading the corpus: {done:,} of {total:,} lines", file=sys.stderr, flush=True)
