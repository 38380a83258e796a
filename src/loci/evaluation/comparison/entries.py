"""What is compared: run folders and prediction files, read into entries of one form.

A run may have been asked several files about people of one split, say the dev questions and a slice set aside for
choosing. Only one of them speaks for the split, the same one for all runs where they have it: together they would count
people twice who stand in both, and mix what was chosen on with what is reported. Files of other relations that the run
was taught, whose names say the same of their people, speak with it. Knows where a run keeps its rows and curves; knows
nothing of scoring.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loci.errors import LociError
from loci.evaluation.metrics import scorable
from loci.evaluation.rows import HELD_OUT, TAUGHT, Row, read_rows, split_of, with_splits, words_of
from loci.evaluation.scorecard import Context
from loci.text.taught import Taught
from loci.training.run import holds_run, read_run

_VALIDATION = "validation"
# Which file speaks for held-out people: the one whose name has the earlier word.
_PREFERRED = (HELD_OUT, "dev", "test")


@dataclass(frozen=True)
class Entry:
    """One system of the comparison."""

    name: str
    path: Path
    rows: tuple[Row, ...]
    """Of every split the rows of one file, or of one for each relation."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Split → the name of the file that its rows are of, or the names of several."""
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Split → other files that ask about it too and do not count."""
    metrics: tuple[Mapping[str, Any], ...] = ()
    """Rows of the loss curve; empty where there is none."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """What the run says of the data it was trained on."""
    context: Context = field(default_factory=Context)
    """What is known apart from the rows."""
    remarks: tuple[str, ...] = ()
    """What a reader of the comparison should know."""


Asked = dict[str, dict[str, list[Row]]]
"""Split → file → rows; "all" for no split, as in `by_split`."""


def read_entries(paths: Sequence[str | Path]) -> list[Entry]:
    """Read every path; names are the files' or folders' own, with the parent's in front where two are alike."""
    data = [_data(Path(path)) for path in paths]
    asked = [_read_files(Path(path), about) for path, about in zip(paths, data, strict=True)]
    ranks = _ranks(asked)
    entries = [_entry(Path(path), files, about, ranks) for path, files, about in zip(paths, asked, data, strict=True)]
    alike, met = Counter(entry.name for entry in entries), Counter[str]()
    for index, entry in enumerate(entries):
        name = f"{entry.path.resolve().parent.name}/{entry.name}" if alike[entry.name] > 1 else entry.name
        met[name] += 1
        entries[index] = replace(entry, name=f"{name} ({met[name]})" if met[name] > 1 else name)
    return entries


def _data(path: Path) -> Mapping[str, Any]:
    """What a run's folder says of its data; nothing for a file of rows."""
    return read_run(path).data if holds_run(path) else {}


def _read_files(path: Path, data: Mapping[str, Any]) -> Asked:
    files = prediction_files(path) if path.is_dir() else [path]
    if not files:
        raise LociError("holds no predictions", path=path, remedy=f"ask first: loci evaluate {path} --questions FILE")
    found: Asked = {}
    for file in files:
        told = split_of(file.stem)
        if path.is_dir() and told is None:
            told = file.stem
        for row in with_splits(read_rows(file), told, taught_by(data, told)):
            found.setdefault(row.split or "all", {}).setdefault(file.stem, []).append(row)
    return found


def taught_by(data: Mapping[str, Any], told: str | None) -> Taught | None:
    """Whom a run with this data was taught, for rows of a file that is told to be of a split; None if nobody knows."""
    if not data.get("taught") and data.get("questions_hash") is None:
        return None  # a model that was brought from elsewhere
    taught = Taught.from_data(data["taught"]) if "taught" in data else None
    if taught is not None and not taught.by_relation and len(data.get("relations") or ()) > 1 and told == HELD_OUT:
        return None  # a run of an earlier version does not tell whom it was taught in which relation; the file does
    return taught


def _ranks(asked: Sequence[Asked]) -> dict[str, list[str]]:
    """The files of every split, the one that should speak for it first."""
    ranks: dict[str, list[str]] = {}
    for split in dict.fromkeys(split for files in asked for split in files):
        having = [files[split] for files in asked if split in files]
        stems = dict.fromkeys(stem for files in having for stem in files)
        ranks[split] = sorted(stems, key=lambda stem: _preference(split, stem, [f[stem] for f in having if stem in f]))
    return ranks


def _preference(split: str, stem: str, asked: Sequence[Sequence[Row]]) -> tuple[object, ...]:
    """What can be scored before what cannot, what was set aside for choosing last; then what more runs were asked.

    A dev file may hold a question of train too: it does not speak for taught people.
    """
    words = words_of(stem)
    word = next((rank for rank, word in enumerate(_PREFERRED) if word in words), len(_PREFERRED))
    others = split == TAUGHT and split_of(stem) == HELD_OUT
    unscored = not any(scorable(rows) for rows in asked)
    return unscored, others, _VALIDATION in words, -len(asked), word, -max(map(len, asked)), stem


def _entry(path: Path, asked: Asked, data: Mapping[str, Any], ranks: Mapping[str, Sequence[str]]) -> Entry:
    relations = frozenset(str(relation.get("name")) for relation in data.get("relations") or ())
    chosen = {
        split: _together(found, [stem for stem in ranks[split] if stem in found], relations)
        for split, found in asked.items()
    }
    rows = [row for split, stems in chosen.items() for stem in stems for row in asked[split][stem]]
    files = {split: " and ".join(stems) for split, stems in chosen.items()}
    left_out = {
        split: others
        for split, found in asked.items()
        if (others := tuple(stem for stem in found if stem not in chosen[split]))
    }
    if not path.is_dir():
        return Entry(path.stem, path, tuple(rows), files, left_out)
    from loci.training.run import read_metrics  # brings torch, which a file of rows does not need

    return Entry(path.resolve().name, path, tuple(rows), files, left_out, tuple(read_metrics(path)), data)


def _together(asked: Mapping[str, list[Row]], ranked: Sequence[str], taught: frozenset[str]) -> list[str]:
    """The file that speaks for a split, and those with its word for the split (dev, test) about other relations."""
    chosen, told = [ranked[0]], _word(ranked[0])
    met = {row.relation for row in asked[ranked[0]]}
    for stem in ranked[1:]:
        own = {row.relation for row in asked[stem]}
        if own <= taught and met <= taught and met.isdisjoint(own) and _word(stem) == told is not None:
            chosen.append(stem)
            met |= own
    return chosen


def _word(stem: str) -> str | None:
    """The word of a file's name that tells its split."""
    return next((word for word in words_of(stem) if split_of(word) is not None), None)


def prediction_files(folder: Path) -> list[Path]:
    """The files of prediction rows in a run's folder."""
    return sorted((folder / "predictions").glob("*.jsonl")) or sorted(folder.glob("predictions.jsonl"))
