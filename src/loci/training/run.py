"""A run: a folder with one recipe carried out.

    run.json         recipe, data files with their hashes, Loci's version
    metrics.jsonl    one row a step
    checkpoints/     the newest few, for resuming
    final/           the finished model
    predictions/     rows of answers
    pseudo_labels.tsv    questions and answers the model wrote itself, if its recipe has a labelling step
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
from loci.training.plan import LabelStep, Recipe, recipe_from_dict, to_dict

RUN, METRICS, PREDICTIONS, PSEUDO_LABELS = "run.json", "metrics.jsonl", "predictions", "pseudo_labels.tsv"
_HASHES = ("corpus_hash", "questions_hash")
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


def open_run(
    path: Path,
    recipe: Recipe,
    data: Mapping[str, Any],
    *,
    resume: bool,
    threads: int,
    first: bool = True,
    wait: Callable[[], None] = lambda: None,
) -> RunInfo:
    """Begin a new run, or (`resume`) go on with one if it is this very training. The first process makes the folder."""
    if not resume:
        if first:
            start_run(path, recipe, data, threads=threads)
        wait()
    info = read_run(path)
    if resume and (difference := other_training(info, recipe, data)) is not None:
        raise LociError(difference, path=path, remedy="restore what it was, or train anew with another --out")
    return info


def holds_run(path: Path) -> bool:
    """Whether there is a run in the folder."""
    return (path / RUN).is_file()


def other_training(info: RunInfo, recipe: Recipe, data: Mapping[str, Any]) -> str | None:
    """What makes a run another training than this recipe on this data; None when it is this one, and may go on."""
    for name in _HASHES:
        if info.data.get(name) != data[name]:
            return f"the data has changed since the run was started ({name} differs)"
    before, now = to_dict(info.recipe), to_dict(recipe)
    changed = [name for name in now if before.get(name) != now[name]]
    return f"holds another training ({', '.join(changed)} of the recipe differ)" if changed else None


def labels_file(path: Path, recipe: Recipe, step: LabelStep) -> Path:
    """Where a labelling step writes: pseudo_labels.tsv, the second one of a recipe pseudo_labels-2.tsv."""
    number = [one for one in recipe.steps if isinstance(one, LabelStep)].index(step)
    name = Path(PSEUDO_LABELS)
    return path / (f"{name.stem}-{number + 1}{name.suffix}" if number else name)


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


def run_folder(path: Path) -> Path | None:
    """The run that `path` is or lies in, as a checkpoint does; None when there is none."""
    places = (path, *path.resolve().parents[:2])
    return next((place for place in places if (place / RUN).is_file()), None)


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
