"""List the runs of a folder: recipe, state, steps, last loss, time, predictions.

examples:
  loci runs
  loci runs experiments --json
"""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import Annotated

import tyro

from loci.errors import LociError


def runs(folder: Annotated[Path, tyro.conf.Positional] = Path("."), json: bool = False) -> None:
    """List runs.

    Args:
        folder: Where to look: the folder itself and two levels below.
        json: Print JSON instead of a table.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from loci.training.run import describe, find_runs

    broken: list[LociError] = []
    rows = [describe(info) for info in find_runs(folder, broken=broken.append)]
    for error in broken:
        print(f"loci runs: {error}", file=sys.stderr)
    if json:
        print(json_format.dumps(rows, indent=2, ensure_ascii=False))
        return
    if not rows:
        print(f"no runs in {folder} (loci train makes one)")
        return
    table = Table("run", "recipe", "state", "steps", "loss", "minutes", "predictions")
    for row in rows:
        loss = f"{row['loss']:.3f}" if row["loss"] is not None else "–"
        cells = (
            row["run"],
            row["recipe"],
            row["state"],
            row["steps"],
            loss,
            row["minutes"],
            ", ".join(row["predictions"]),
        )
        table.add_row(*(escape(str(cell)) for cell in cells))
    Console().print(table)
