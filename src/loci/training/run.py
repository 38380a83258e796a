"""A run: a folder with one recipe carried out.

    run.json         recipe, data files with their hashes, Loci's version
    metrics.jsonl    one row a step
    checkpoints/     the newest few, for resuming
    final/           the finished model
    predictions/     rows of answers
    studied.tsv      questions and answers the model wrote itself, if its recipe lets it study
    calibration.json how its probabilities are to be read, if it was calibrated

Knows where things lie, not how they are made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loci import __version__
from loci.errors import LociError
from loci.files import atomic_writer, read_object, write_json
from loci.training.checkpoint import CONFIG, FINAL, checkpoints
from loci.training.plan import Recipe, recipe_from_dict, to_dict

RUN, METRICS, PREDICTIONS, STUDIED = "run.json", "metrics.jsonl", "predictions", "studied.tsv"
_ROW = {"total_steps", "loss"}


@dataclass(frozen=True)
class RunInfo:
    """What run.json says."""

    recipe: Recipe
    data: Mapping[str, Any]
    created: str
    path: Path
    threads: int | None = None
    """How many threads it was started with: sums of another number of threads round differently."""

    @property
    def finished(self) -> bool:
        """Whether every stage was carried out."""
        return (self.path / FINAL / CONFIG).is_file()


def start_run(path: Path, recipe: Recipe, data: Mapping[str, Any], *, threads: int | None = None) -> RunInfo:
    """Make the folder of a new run; one that holds a run already is not touched."""
    if (path / RUN).exists():
        raise LociError("holds a run already", path=path, remedy="choose another --out, or continue it with --resume")
    if path.exists() and not path.is_dir():
        raise LociError("is a file, a run is a folder", path=path, remedy="choose another --out")
    path.mkdir(parents=True, exist_ok=True)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    about = {"loci": __version__, "created": created, "threads": threads}
    write_json(path / RUN, {**about, "recipe": to_dict(recipe), "data": dict(data)})
    return RunInfo(recipe, data, created, path, threads)


def read_run(path: str | Path) -> RunInfo:
    """What a run folder says of itself."""
    path = Path(path)
    if not (path / RUN).is_file():
        raise LociError("is no run", path=path, remedy="give the folder that loci train --out wrote")
    remedy = "restore it, or train again"
    try:
        raw = read_object(path / RUN, {"recipe": dict, "data": dict, "created": str})
        recipe = recipe_from_dict(raw["recipe"])
    except LociError as error:
        raise LociError(error.message, path=path / RUN, line=error.line, remedy=error.remedy or remedy) from None
    except (KeyError, TypeError) as error:
        raise LociError(f"its recipe cannot be read ({error})", path=path / RUN, remedy=remedy) from None
    threads = raw.get("threads")
    return RunInfo(recipe, raw["data"], raw["created"], path, threads if isinstance(threads, int) else None)


def find_runs(folder: str | Path, *, broken: Callable[[LociError], None] | None = None) -> list[RunInfo]:
    """The runs in a folder and the folders just below it, oldest first. `broken` hears of those that cannot be read."""
    folder = Path(folder)
    if not folder.is_dir():
        raise LociError("no such folder", path=folder)
    found = []
    for file in (*folder.glob(RUN), *folder.glob(f"*/{RUN}"), *folder.glob(f"*/*/{RUN}")):
        try:
            found.append(read_run(file.parent))
        except LociError as error:
            if broken is None:
                raise
            broken(error)
    return sorted(found, key=lambda info: (info.created, str(info.path)))


def read_metrics(path: str | Path) -> list[dict[str, Any]]:
    """The rows of metrics.jsonl; a line cut short by a kill, or one that is no row, is left out."""
    file = Path(path) / METRICS
    if not file.exists():
        return []
    rows = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and row.keys() >= _ROW:
            rows.append(row)
    return rows


def rewind_metrics(path: Path, total_steps: int) -> None:
    """Drop rows after a checkpoint: a resumed run writes them again."""
    rows: Iterable[dict[str, Any]] = [row for row in read_metrics(path) if row["total_steps"] <= total_steps]
    with atomic_writer(path / METRICS) as handle:
        for row in rows:
            handle.write(json.dumps(row) + "\n")


def describe(info: RunInfo) -> dict[str, Any]:
    """A row for a list of runs."""
    rows = read_metrics(info.path)
    return {
        "run": str(info.path),
        "recipe": info.recipe.name,
        "created": info.created,
        "state": "finished" if info.finished else "resumable" if checkpoints(info.path) else "started",
        "steps": rows[-1]["total_steps"] if rows else 0,
        "loss": rows[-1]["loss"] if rows else None,
        "minutes": round(rows[-1].get("seconds", 0.0) / 60, 1) if rows else 0.0,
        "predictions": sorted(file.stem for file in (info.path / PREDICTIONS).glob("*.jsonl")),
    }
