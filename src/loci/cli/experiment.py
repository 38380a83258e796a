"""Carry out an experiment: its worlds, its trainings, its tables and a page. Stopped, it goes on where it was.

examples:
  loci experiment                                      list them
  loci experiment abstain --out abstain --seeds 5      every seed a world of its own
  loci experiment names --quick                        all steps within a minute; proves nothing
"""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from loci.report.parts import ExperimentReport
    from loci.report.parts import Table as ResultTable
    from loci.training.reports import Observer

#: Wider than any table.
WIDEST = 10_000


def experiment(
    name: Annotated[str | None, tyro.conf.Positional] = None,
    /,
    *,
    out: Path | None = None,
    seeds: int | None = None,
    minutes: float | None = None,
    quick: bool = False,
    json: bool = False,
) -> int:
    """Carry out one experiment, or list them all.

    Args:
        name: Which one; without it they are listed.
        out: Where worlds, runs, results.json and report.html go (default: experiment-NAME). What an earlier call
            finished there is not done again.
        seeds: How many worlds and models of each kind (default: 3, quick: 1); more can be added later.
        minutes: Time for each training, instead of the recipe's own.
        quick: A small world and model for a few seconds: shows the steps, proves nothing.
        json: Print JSON instead of tables.
    """
    from rich.console import Console

    from loci.experiments import EXPERIMENTS, find_experiment

    if name is None:
        return _list(EXPERIMENTS, json)
    carry_out = find_experiment(name)
    from loci import machine
    from loci.cli.interrupt import InterruptFlag
    from loci.cli.progress import ProgressBar
    from loci.cli.threads import choose_threads
    from loci.experiments.trials import QUICK_SEEDS, SEEDS, Hooks, Settings, Stopped

    console = Console(stderr=json)
    settings = Settings(seeds if seeds is not None else QUICK_SEEDS if quick else SEEDS, minutes, quick)
    folder = out if out is not None else Path(f"experiment-{name}" + ("-quick" if quick else ""))

    running = choose_threads()

    def observers(label: str) -> list[Observer]:
        running.announce()
        return [ProgressBar(label)]

    with InterruptFlag() as interrupted, machine.threads(running.count):
        hooks = Hooks(observers, console.print, lambda: interrupted.raised)
        try:
            report = carry_out(folder, settings, hooks)
        except Stopped:
            console.print("stopped; the same command goes on from here")
            return 130
    if json:
        print(json_format.dumps(report.numbers, indent=2, ensure_ascii=False, allow_nan=False))
        return 0
    _show(console, report)
    console.print(f"page: {folder / 'report.html'}", highlight=False, markup=False)
    return 0


def _list(experiments: dict[str, str], json: bool) -> int:
    from rich.console import Console
    from rich.table import Table

    if json:
        print(json_format.dumps([{"experiment": name, "asks": asks} for name, asks in experiments.items()], indent=2))
        return 0
    table = Table("experiment", "what it asks")
    for name, asks in experiments.items():
        table.add_row(name, asks)
    Console().print(table)
    return 0


def _show(console: Console, report: ExperimentReport) -> None:
    from rich.text import Text

    console.print(Text(report.title, style="bold"), Text(report.subtitle), sep="\n")
    for section in report.sections:
        for index, part in enumerate(section.tables):
            title = section.title if index == 0 else None
            table = _table(part, title)
            if console.measure(table, options=console.options.update_width(WIDEST)).maximum > console.width:
                table = _table(part, title, stacked=True)
            console.print(table)


def _table(part: ResultTable, title: str | None, stacked: bool = False) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for header in part.headers:
        table.add_column(header, overflow="fold")
    for row in part.rows:
        table.add_row(*(Text(_cell(cell, stacked)) for cell in row))
    return table


def _cell(cell: object, stacked: bool) -> str:
    """A cell; `stacked` sets an interval below its number, so that a narrow terminal cuts nothing in two."""
    from loci.evaluation.metrics import Estimate, Rate, decimal

    if stacked and isinstance(cell, Rate | Estimate):
        return str(cell).replace(" (", "\n").replace(", ", "\n").rstrip(")")
    return "–" if cell is None else decimal(cell) if isinstance(cell, float) else str(cell)
