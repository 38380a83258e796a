"""List the runs of a folder: recipe, state, steps, last loss, time, accuracy, and in what they differ.

examples:
  loci runs
  loci runs experiments --json
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loci.errors import LociError

if TYPE_CHECKING:
    from loci.training.run import RunInfo


def runs(folder: Path = Path("."), /, *, json: bool = False) -> None:
    """List runs.

    Args:
        folder: Where to look: the folder itself and two levels below.
        json: Print JSON instead of a table.
    """
    from loci.cli.output import print_json, print_table
    from loci.training.run import describe, find_runs

    broken: list[LociError] = []
    found = find_runs(folder, broken=broken.append)
    for error in broken:
        print(f"loci runs: {error}", file=sys.stderr)
    differs = differences(found)
    rows = [
        {**describe(info), "accuracy": accuracy(info.path), "differs": own}
        for info, own in zip(found, differs, strict=True)
    ]
    if json:
        print_json(rows)
        return
    if not rows:
        print(f"no runs in {folder} (loci train makes one)")
        return
    headers = ("run", "recipe", "state", "steps", "loss", "minutes", "exact match", "differs in")
    print_table(headers, [_cells(row) for row in rows])


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    loss = f"{row['loss']:.3f}" if row["loss"] is not None else "–"
    if row["held_out_loss"] is not None:
        loss += f" (held out {row['held_out_loss']:.3f})"
    right = [f"{name} {100 * value:.1f} %" for name, value in row["accuracy"].items() if value is not None]
    unscored = [name for name, value in row["accuracy"].items() if value is None]
    named = [f"{name}={value}" for name, value in row["differs"].items()]
    plain = (row["run"], row["recipe"], row["state"], str(row["steps"]), loss, str(row["minutes"]))
    return *plain, ", ".join(right + unscored) or "–", ", ".join(named) or "–"


def accuracy(run: Path) -> dict[str, float | None]:
    """The exact match of every file of predictions that a run has; None where no answers are known."""
    from loci.evaluation.metrics import exact_match
    from loci.evaluation.rows import read_rows
    from loci.training.run import PREDICTIONS

    found: dict[str, float | None] = {}
    for file in sorted((run / PREDICTIONS).glob("*.jsonl")):
        try:
            scored = [row for row in read_rows(file) if row.answers]
        except LociError as error:
            print(f"loci runs: {error}", file=sys.stderr)
            continue
        found[file.stem] = round(exact_match(scored).value, 4) if scored else None
    return found


def differences(runs: Sequence[RunInfo]) -> list[dict[str, Any]]:
    """For each run the settings that are not the same in all runs of its recipe: data, seed, model, stages."""
    from loci.training.plain_data import to_dict

    settings = [
        {**_flat({**to_dict(info.recipe), "note": None}), "corpus": (info.data["corpus_hash"] or "")[:8]}
        for info in runs
    ]
    names = [info.recipe.name for info in runs]
    found = []
    for own, name in zip(settings, names, strict=True):
        others = [one for one, other in zip(settings, names, strict=True) if other == name]
        found.append({key: value for key, value in own.items() if any(one.get(key) != value for one in others)})
    return found


def _flat(value: Any, where: str = "") -> dict[str, Any]:
    """Nested plain data as one dictionary with dotted names; a step goes by its own name."""
    if isinstance(value, dict):
        parts = [part for key, one in value.items() for part in _flat(one, f"{where}.{key}").items()]
    elif isinstance(value, list) and all(isinstance(one, dict) for one in value):
        named = [(one.get("name") or one.get("objective") or str(at), one) for at, one in enumerate(value)]
        parent = where.rpartition(".")[0] if where.endswith((".steps", ".mixture")) else where
        parts = [part for name, one in named for part in _flat(one, f"{parent}.{name}").items()]
    else:
        return {where.lstrip("."): value}
    return dict(parts)
