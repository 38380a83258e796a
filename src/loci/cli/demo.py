"""The whole experiment on the embedded world: a baseline, a small model taught in three ways, and a report.

examples:
  loci demo                               about five minutes on two cores
  loci demo --quick                       all steps within a minute; proves nothing
  loci demo --out demo-1 --seed 1 --json
"""

from __future__ import annotations

from pathlib import Path


def demo(out: Path = Path("demo"), seed: int = 0, quick: bool = False, json: bool = False) -> int:
    """Run the demo.

    Args:
        out: Where everything goes: the world, the runs, results.json, report.html. What an earlier call finished there
            is not done again, and nothing is ever replaced: another seed needs another folder.
        seed: Seed of the world and of the trainings.
        quick: A small model for a few seconds: shows the steps, proves nothing.
        json: Print JSON instead of tables.
    """
    from loci.cli.experiment import watched
    from loci.experiments.demo.run import Options, run

    return watched(lambda hooks: run(out, Options(seed, quick), hooks), out / "report.html", json=json)
