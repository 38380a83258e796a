"""What is compared: run folders and prediction files, read into entries of one form.

A run may have been asked several files about people of one split, say the dev questions and a slice set aside for
choosing. Only one of them speaks for the split, the same one for all runs where they have it: together they would count
people twice who stand in both, and mix what was chosen on with what is reported. Knows where a run keeps its rows and
curves; knows nothing of scoring.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loci.errors import LociError
from loci.evaluation.metrics import scorable
from loci.evaluation.rows import HELD_OUT, SEEN, UNSEEN, UNSTATED, Prediction, read_predictions
from loci.files import read_object
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
_VALIDATION = "validation"
# Which file speaks for held-out people: the one whose name has the earlier word.
_PREFERRED = (HELD_OUT, "dev", "test")


@dataclass(frozen=True)
class Entry:
    """One system of the comparison."""

    name: str
    path: Path
    rows: tuple[Prediction, ...]
    """Of every split the rows of one file."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Split → the name of the file that its rows are of."""
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Split → other files that ask about it too and do not count."""
    metrics: tuple[Mapping[str, Any], ...] = ()
    """Rows of the loss curve; empty where there is none."""
    corpus: Path | None = None
    """The corpus the run says it was trained on, if it is still there."""
    questions: Path | None = None
    """The train questions the run says it was trained on, if they are still there."""


def split_of(stem: str) -> str | None:
    """The split that a file's name tells: birth_dev → held-out; None when it tells none."""
    found = [_SPLIT_WORDS[word] for word in _words(stem) if word in _SPLIT_WORDS]
    return found[0] if found else None


def _words(stem: str) -> list[str]:
    name = stem.lower()
    return [*name.replace("held_out", HELD_OUT).replace("-", "_").split("_"), name.replace("_", "-")]


def read_entries(paths: Sequence[str | Path]) -> list[Entry]:
    """Read every path; names are the files' or folders' own, with the parent's in front where two are alike."""
    asked = [_read_files(Path(path)) for path in paths]
    ranks = _ranks(asked)
    entries = [_entry(Path(path), files, ranks) for path, files in zip(paths, asked, strict=True)]
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
    return read_entries([path])[0]


Asked = dict[str, dict[str, list[Prediction]]]
"""Split → file → rows; "all" for no split, as in `by_split`."""


def _read_files(path: Path) -> Asked:
    files = prediction_files(path) if path.is_dir() else [path]
    if not files:
        raise LociError("holds no predictions", path=path, remedy=f"ask first: loci evaluate {path} --questions FILE")
    found: Asked = {}
    for file in files:
        told = split_of(file.stem)
        if path.is_dir() and told is None:
            told = file.stem
        for row in _with_split(read_predictions(file), told):
            found.setdefault(row.split or "all", {}).setdefault(file.stem, []).append(row)
    return found


def _ranks(asked: Sequence[Asked]) -> dict[str, list[str]]:
    """The files of every split, the one that should speak for it first."""
    ranks: dict[str, list[str]] = {}
    for split in dict.fromkeys(split for files in asked for split in files):
        having = [files[split] for files in asked if split in files]
        stems = dict.fromkeys(stem for files in having for stem in files)
        ranks[split] = sorted(stems, key=lambda stem: _preference(stem, [f[stem] for f in having if stem in f]))
    return ranks


def _preference(stem: str, asked: Sequence[Sequence[Prediction]]) -> tuple[object, ...]:
    """What can be scored before what cannot, what was set aside for choosing last; then what more runs were asked."""
    words = _words(stem)
    word = next((place for place, word in enumerate(_PREFERRED) if word in words), len(_PREFERRED))
    unscored = not any(scorable(rows) for rows in asked)
    return unscored, _VALIDATION in words, -len(asked), word, -max(map(len, asked)), stem


def _entry(path: Path, asked: Asked, ranks: Mapping[str, Sequence[str]]) -> Entry:
    files = {split: next(stem for stem in ranks[split] if stem in found) for split, found in asked.items()}
    rows = [row for split, stem in files.items() for row in asked[split][stem]]
    left_out = {
        split: tuple(stem for stem in found if stem != files[split]) for split, found in asked.items() if len(found) > 1
    }
    if not path.is_dir():
        return Entry(path.stem, path, tuple(rows), files, left_out)
    return Entry(path.resolve().name, path, tuple(rows), files, left_out, _metrics(path), **_sources(path))


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
    raw = read_object(folder / "run.json")
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
