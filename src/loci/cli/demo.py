"""The whole experiment on the embedded world: a baseline, a small model taught in three ways, and a report.

examples:
  loci demo
  loci demo --out demo --seed 1 --json
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loci.training.reports import Observer


def demo(out: Path = Path("demo"), minutes: float | None = None, seed: int = 0, json: bool = False) -> None:
    """Run the demo.

    Args:
        out: Where everything goes: the world, the runs, report.html. An earlier demo there is replaced.
        minutes: Training time of all models together (default: 3.5).
        seed: Seed of the world and of the training.
        json: Print JSON instead of tables.
    """
    from rich.console import Console
    from rich.table import Table

    from loci import machine
    from loci.cli.progress import ProgressBar
    from loci.cli.threads import choose_threads
    from loci.experiments.demo.run import as_json, run_demo

    console = Console(stderr=json)

    running = choose_threads()

    def observers(name: str, run: Path) -> list[Observer]:
        running.announce()
        return [ProgressBar()]

    with machine.threads(running.count):
        result = run_demo(out, minutes=minutes, seed=seed, observers=observers, say=console.print)
    if json:
        print(as_json(result))
        return
    table = Table("system", "exact match", "95 % interval", "what it is", title="held-out people, one seed")
    for row in result.rows:
        rate = row.rate
        interval = f"{100 * rate.low:.1f}–{100 * rate.high:.1f} %"
        table.add_row(row.name, f"{100 * rate.value:.1f} % ({rate.successes}/{rate.n})", interval, row.explanation)
    console.print(table)
    answers = Table("", "question", "answer", "truth", "probability", title=f"ten answers of {result.rows[-1].name}")
    for example in result.examples:
        said = example.prediction
        sign = "[green]✓" if said.correct else "[red]✗"
        answers.add_row(sign, said.question, said.prediction, said.answers[0], f"{said.probability or 0:.2f}")
    console.print(answers)
    console.print(f"{result.minutes:.1f} minutes; with figures and evidence: {result.report}", markup=False)
