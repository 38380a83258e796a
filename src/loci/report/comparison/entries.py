"""What is compared: run folders and prediction files, read into entries of one form.

Knows where a run keeps its rows and curves; knows nothing of scoring.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from loci.errors import LociError
from loci.files import read_json
from loci.knowledge.rows import HELD_OUT, SEEN, UNSEEN, UNSTATED, Prediction, read_predictions
from loci.text.findings import raise_first_error
from loci.text.source import load

# What a question file's name says about its people, in the course's words and the world's.
_SPLIT_WORDS = {
    "train": SEEN,
    "dev": HELD_OUT,
    "test": HELD_OUT,
    "validation": HELD_OUT,
    "unstated": UNSTATED,
    "outside": UNSEEN,
    SEEN: SEEN,
    HELD_OUT: HELD_OUT,
    UNSEEN: UNSEEN,
}


@dataclass(frozen=True)
class Entry:
    """One system of the comparison."""

    name: str
    path: Path
    rows: tuple[Prediction, ...]
    metrics: tuple[Mapping[str, Any], ...] = ()
    """Rows of the loss curve; empty where there is none."""
    corpus: Path | None = None
    """The corpus the run says it was trained on, if it is still there."""
    questions: Path | None = None
    """The train questions the run says it was trained on, if they are still there."""


def split_of(stem: str) -> str | None:
    """The split that a file's name tells: birth_dev → held-out; None when it tells none."""
    words = stem.lower().replace("held_out", HELD_OUT).replace("-", "_").split("_")
    found = [_SPLIT_WORDS[word] for word in (*words, stem.lower().replace("_", "-")) if word in _SPLIT_WORDS]
    return found[0] if found else None


def read_entries(paths: Sequence[str | Path]) -> list[Entry]:
    """Read every path; names are the files' or folders' own, with the parent's in front where two are alike."""
    entries = [read_entry(path) for path in paths]
    names = [entry.name for entry in entries]
    for index, entry in enumerate(entries):
        if names.count(entry.name) > 1:
            name = f"{entry.path.resolve().parent.name}/{entry.name}"
            entries[index] = replace(entry, name=name)
    seen: dict[str, int] = {}
    for index, entry in enumerate(entries):
        seen[entry.name] = seen.get(entry.name, 0) + 1
        if seen[entry.name] > 1:
            entries[index] = replace(entry, name=f"{entry.name} ({seen[entry.name]})")
    return entries


def read_entry(path: str | Path) -> Entry:
    """A run folder with predictions, or one file of prediction rows."""
    path = Path(path)
    if not path.is_dir():
        return Entry(path.stem, path, tuple(_with_split(read_predictions(path), split_of(path.stem))))
    files = prediction_files(path)
    if not files:
        raise LociError("holds no predictions", path=path, remedy=f"ask first: loci evaluate {path} --questions FILE")
    rows = [row for file in files for row in _with_split(read_predictions(file), split_of(file.stem) or file.stem)]
    return Entry(path.resolve().name, path, tuple(rows), _metrics(path), **_sources(path))


def prediction_files(folder: Path) -> list[Path]:
    """The files of prediction rows in a run's folder."""
    return sorted((folder / "predictions").glob("*.jsonl")) or sorted(folder.glob("predictions.jsonl"))


def _with_split(rows: Iterable[Prediction], split: str | None) -> list[Prediction]:
    return [row if row.split is not None or split is None else replace(row, split=split) for row in rows]


def _metrics(folder: Path) -> tuple[Mapping[str, Any], ...]:
    if not (folder / "metrics.jsonl").is_file():
        return ()
    from loci.training.run import read_metrics

    return tuple(read_metrics(folder))


def _sources(folder: Path) -> dict[str, Path]:
    if not (folder / "run.json").is_file():
        return {}
    raw = read_json(folder / "run.json")
    data = raw.get("data") if isinstance(raw, dict) else None
    named = {name: data.get(name) for name in ("corpus", "questions")} if isinstance(data, dict) else {}
    return {name: Path(value) for name, value in named.items() if isinstance(value, str) and Path(value).is_file()}


def read_groups(path: str | Path) -> dict[str, str]:
    """Subject → group: a table (subject, tab, group), or JSON lines with name and origin as a world writes them."""
    source = load(path)
    raise_first_error(source.findings)
    groups: dict[str, str] = {}
    for number, line in enumerate(source.lines(), start=1):
        if not line.strip():
            continue
        try:
            if line.startswith("{"):
                record = json.loads(line)
                subject, group = record["name"], record["origin"]
            else:
                subject, group = line.split("\t")
        except (ValueError, KeyError, TypeError):
            raise LociError(
                "tells no subject and group", path=path, line=number, remedy="write subject, tab, group on each line"
            ) from None
        groups[str(subject).strip()] = str(group).strip()
    return groups


def read_places(path: str | Path) -> frozenset[str]:
    """Places, one a line; or every "place" of JSON lines, as a world's people.jsonl tells them."""
    source = load(path)
    raise_first_error(source.findings)
    found: set[str] = set()
    for number, line in enumerate(source.lines(), start=1):
        if line.startswith("{"):
            try:
                found.update(_places_in(json.loads(line)))
            except ValueError:
                raise LociError("not valid JSON", path=path, line=number) from None
        else:
            found.add(line.strip())
    return frozenset(found - {""})


def _places_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            if name == "place" and isinstance(part, str):
                yield part
            else:
                yield from _places_in(part)


def with_groups(entry: Entry, groups: Mapping[str, str]) -> Entry:
    """The entry with a group for every row whose subject has one; a row's own group stays."""
    rows = tuple(
        replace(row, group=groups[row.subject]) if row.group is None and row.subject and row.subject in groups else row
        for row in entry.rows
    )
    return replace(entry, rows=rows)
