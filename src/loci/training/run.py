"""A run: a folder with one recipe carried out.

    run.json         recipe, data files with their hashes, Loci's version
    manifest.json    the version of the format, and hashes of what must not change
    metrics.jsonl    one row per step
    checkpoints/     the newest few, for resuming
    final/           the finished model
    best/            the weights with the lowest held-out loss, if a stage holds anything out
    predictions/     rows of answers
    pseudo_labels.tsv    questions and answers the model wrote itself, if its recipe has a labelling step
    train_questions.tsv  what `loci learn` taught it: the folder's train questions without those it held back
    calibration.json how its probabilities are to be read, if it was calibrated

Knows where things lie, not how they are made.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec

from loci import __version__
from loci.errors import LociError, naming
from loci.files import atomic_writer, is_leftover, read_struct, remove_leftovers, sha256_file, sha256_text, write_text
from loci.manifest import MANIFEST, read_manifest, require_files, write_manifest
from loci.text.corpus import Corpus
from loci.training.checkpoint import BEST, CHECKPOINTS, CONFIG, FINAL, checkpoints
from loci.training.lock import LOCK, OWNER
from loci.training.named import named_corpus
from loci.training.plain_data import to_dict
from loci.training.plan import LabelStep, Recipe, Stage, recipe_from_dict
from loci.training.reports import StepReport

RUN, METRICS, PREDICTIONS, PSEUDO_LABELS = "run.json", "metrics.jsonl", "predictions", "pseudo_labels.tsv"
TRAIN_QUESTIONS, LINE_HASHES = "train_questions.tsv", "line_hashes.txt"
_HASHES = ("corpus_hash", "questions_hash")
_WRITTEN = (METRICS, CHECKPOINTS, FINAL, BEST, PREDICTIONS, PSEUDO_LABELS, TRAIN_QUESTIONS, LINE_HASHES)
FILES = (RUN, MANIFEST, *_WRITTEN, "calibration.json")
"""What a run may write; a folder that holds one of them and is no run is somebody's."""
LONGEST_ROW = 1 << 16
FORMAT = 3
_REMEDY = "restore it, or train again"


class RunFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What run.json says."""

    loci: str
    created: str
    threads: Annotated[int, msgspec.Meta(ge=1, le=10**6)] | None
    recipe: dict[str, Any]
    data: DataFile


class DataFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What taught: where it lay (as seen from the run's folder) and what exactly it was."""

    corpus: str | None
    corpus_hash: str
    questions: str | None = None
    questions_hash: str | None = None
    relations: tuple[dict[str, Any], ...] = ()
    """What the train questions ask, and in which forms: read again, they are taken apart in the same way."""
    taught: tuple[str, ...] | dict[str, tuple[str, ...]] = ()
    """Hashes of the subjects that train questions ask about; of several relations, those of each."""


_decode_row = msgspec.json.Decoder(StepReport).decode


@dataclass(frozen=True)
class RunInfo:
    """What run.json says; the paths of its data are absolute here."""

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

    def corpus(self) -> Corpus | None:
        """The corpus it was trained on; None if that is not where it was, or no longer the same."""
        return named_corpus(self.data)


def start_run(path: Path, recipe: Recipe, data: Mapping[str, Any], *, threads: int | None = None) -> None:
    """Write what a new run is into its folder."""
    path.mkdir(parents=True, exist_ok=True)
    moved = {name: _seen_from(path, data.get(name)) for name in ("corpus", "questions")}
    created = datetime.now(UTC).isoformat(timespec="seconds")
    made = RunFile(__version__, created, threads, to_dict(recipe), DataFile(**{**data, **moved}))
    text = json.dumps(msgspec.to_builtins(made), indent=2, ensure_ascii=False) + "\n"
    # The manifest first: a run killed between the two writes has no run.json, and so is none.
    write_manifest(path, "run", FORMAT, {RUN: sha256_text(text)})
    write_text(path / RUN, text)


def _seen_from(folder: Path, path: str | None) -> str | None:
    """A path relative to a folder, so that both can be moved together; on another drive it stays absolute."""
    try:
        return None if path is None else Path(os.path.relpath(path, folder.resolve())).as_posix()
    except ValueError:
        return path


def require_folder(path: Path, *, resume: bool) -> None:
    """Make the folder that a run is to be written to, or refuse it; one that holds a run already is for resuming."""
    if resume:
        read_run(path)
        return
    if holds_run(path):
        raise LociError("holds a run already", path=path, remedy="choose another --out, or continue it with --resume")
    if path.exists() and not path.is_dir():
        raise LociError("is a file, a run is a folder", path=path, remedy="choose another --out")
    for name in FILES:
        if (path / name).exists() and not (name == MANIFEST and _of_a_run(path)):
            raise LociError(f"holds {name} already, and no run", path=path, remedy="choose another --out")
    path.mkdir(parents=True, exist_ok=True)


def require_own(path: Path) -> None:
    """Refuse a folder that holds anything but a run: for commands that put more into it than a run."""
    if path.is_dir() and not holds_run(path) and (others := foreign_files(path)):
        raise LociError(f"holds {others[0]} already, and no run", path=path, remedy="choose another --out")


def _of_a_run(path: Path) -> bool:
    """Whether the manifest of a folder without run.json is left of a run that was killed in its first moment."""
    with contextlib.suppress(LociError):
        return read_manifest(path, "run", FORMAT, remedy=_REMEDY).sha256.keys() == {RUN}
    return False


def foreign_files(path: Path) -> list[str]:
    """What a run's folder holds that no run writes."""
    own = {*FILES, LOCK, OWNER, "tensorboard", "wandb"}
    others = (name for name in os.listdir(path) if name not in own and not name.startswith("pseudo_labels"))
    return sorted(name for name in others if not is_leftover(name))


def open_run(path: Path, recipe: Recipe, data: Mapping[str, Any], *, resume: bool, threads: int) -> None:
    """Begin a new run, or (`resume`) go on with one if it is this very training. Left-over temporaries are removed."""
    require_folder(path, resume=resume)
    if not resume:
        remove_leftovers(path)
        return start_run(path, recipe, data, threads=threads)
    if (difference := other_training(read_run(path), recipe, data)) is not None:
        raise LociError(difference, path=path, remedy="restore what it was, or train anew with another --out")
    for folder in (path, path / PREDICTIONS):
        remove_leftovers(folder)
    return None


def holds_run(path: Path) -> bool:
    """Whether there is a run in the folder."""
    return (path / RUN).is_file()


def keep(path: Path, file: Path) -> None:
    """Note the hash of a file of the run that must not change any more; one that has changed is a `LociError`."""
    manifest = read_manifest(path, "run", FORMAT, remedy=_REMEDY)
    if file.name in manifest.sha256:
        require_files(path, manifest, [file.name], remedy=_REMEDY)
    else:
        write_manifest(path, "run", FORMAT, {**manifest.sha256, file.name: sha256_file(file)})


def other_training(info: RunInfo, recipe: Recipe, data: Mapping[str, Any]) -> str | None:
    """What makes a run another training than this recipe on this data; None when it is this one, and may go on."""
    for name in _HASHES:
        if info.data.get(name) != data[name]:
            return f"the data has changed since the run was started ({name} differs)"
    before, now = _as_learned(info.recipe), _as_learned(recipe)
    changed = [name for name in now if before.get(name) != now[name]]
    return f"holds another training ({', '.join(changed)} of the recipe differ)" if changed else None


def _as_learned(recipe: Recipe) -> dict[str, Any]:
    """A recipe without what changes rounding alone: in how many parts a batch goes through the model."""
    steps = (replace(step, accumulate=1) if isinstance(step, Stage) else step for step in recipe.steps)
    return to_dict(replace(recipe, steps=tuple(steps)))


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
    require_files(path, read_manifest(path, "run", FORMAT, remedy=_REMEDY), [RUN], remedy=_REMEDY)
    raw = read_struct(path / RUN, RunFile, remedy=_REMEDY)
    with naming(path / RUN, remedy=_REMEDY):
        recipe = recipe_from_dict(raw.recipe)
    data = msgspec.structs.asdict(raw.data)
    for name in ("corpus", "questions"):
        data[name] = None if data[name] is None else os.path.normpath(path.resolve() / data[name])
    return RunInfo(recipe, data, raw.created, path, raw.threads)


def run_folder(path: Path) -> Path | None:
    """The run that `path` is or lies in, as a checkpoint does; None when there is none."""
    folders = (path, *path.resolve().parents[:2])
    return next((folder for folder in folders if (folder / RUN).is_file()), None)


def find_runs(folder: str | Path, *, broken: Callable[[LociError], None] | None = None) -> list[RunInfo]:
    """The runs in a folder and the folders just below it, oldest first. `broken` hears of those that cannot be read."""
    folder = Path(folder)
    if not folder.is_dir():
        raise LociError("no such folder", path=folder, remedy="give the folder that your runs are in")
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
    rows: list[dict[str, Any]] = []
    if not file.is_file():
        return rows
    with open(file, "rb") as handle:
        while line := handle.readline(LONGEST_ROW):  # a longer one comes in parts, none of which is a row
            with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                rows.append({name: value for name, value in vars(_decode_row(line)).items() if value is not None})
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
        "held_out_loss": min((row["held_out"] for row in rows if "held_out" in row), default=None),
        "characters": rows[-1]["characters"] if rows else 0,
        "minutes": round(rows[-1].get("seconds", 0.0) / 60, 1) if rows else 0.0,
        "predictions": sorted(file.stem for file in (info.path / PREDICTIONS).glob("*.jsonl")),
    }
