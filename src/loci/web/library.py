"""The runs and experiments a visitor may reach: those named at the start and those the page trained.

They have short names of our own; a client never names a path. Models are loaded when first asked and the last few are
kept. Knows nothing of HTTP.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from loci.errors import LociError
from loci.files import read_struct

if TYPE_CHECKING:
    from loci.answering.ask import Asker

SETTINGS, RESULTS, PAGE = "experiment.json", "results.json", "report.html"
"""The files of an experiment."""
KEPT = 4
"""Models kept in memory."""
PEOPLE = 12
"""Names of each kind offered to try."""


class UnknownRun(LociError):
    """No run of that name is offered."""


class Library:
    """Runs by name, and the experiments of the given folders."""

    def __init__(self, given: Iterable[Path], out: Path):
        from loci.training.run import RUN, find_runs, read_run

        self.out = out
        self._named: dict[str, Path] = {}
        self._folders: list[Path] = []
        self._loaded: OrderedDict[str, tuple[tuple[int, ...], Asker]] = OrderedDict()
        self._lock = Lock()
        for path in given:
            if (path / RUN).is_file():
                self._add(read_run(path).path)
            elif find_runs(path, broken=lambda error: None) or (path / SETTINGS).is_file():
                self._folders.append(path.resolve())
            else:
                remedy = "give a folder that loci train or loci experiment wrote"
                raise LociError("holds neither a run nor an experiment", path=path, remedy=remedy)
        self.refresh()

    def refresh(self) -> None:
        """Find the runs in the given folders, and those that trainings have written below `out` since."""
        from loci.training.run import find_runs

        for folder in (*self._folders, *self._trained()):
            for info in find_runs(folder, broken=lambda error: None):
                self._add(info.path)

    def _trained(self) -> list[Path]:
        return sorted(path for path in self.out.iterdir() if path.is_dir()) if self.out.is_dir() else []

    def _add(self, run: Path) -> None:
        run = run.resolve()
        with self._lock:
            if run not in self._named.values():
                self._name(run, self._named)

    def _name(self, path: Path, names: dict[str, Path]) -> None:
        """Give a folder a short name of our own: what follows the folder it was found in."""
        tops = (self.out.resolve(), *(folder.parent for folder in self._folders))
        top = next((top for top in tops if path.is_relative_to(top)), path.parent)
        base = re.sub(r"[^\w.-]+", "-", "-".join(path.relative_to(top).parts)).strip("-.") or "run"
        names[next(name for name in (base, *(f"{base}-{n}" for n in range(2, 10_000))) if name not in names)] = path

    def path(self, name: str) -> Path:
        """Where a run lies."""
        if name not in self._named:
            raise UnknownRun(f"no run {name[:100]!r} here", remedy=f"one of: {', '.join(self._named) or 'none yet'}")
        return self._named[name]

    def load(self, name: str) -> Asker:
        """The run, ready to be asked. Called by the one worker that owns the models."""
        from loci.answering.ask import load

        path = self.path(name)
        places = (path, path / "final", path / "checkpoints")
        version = tuple(place.stat().st_mtime_ns for place in places if place.exists())  # moves with further training
        if name in self._loaded and self._loaded[name][0] == version:
            self._loaded.move_to_end(name)
            return self._loaded[name][1]
        run = load(path)
        self._loaded[name] = version, run
        while len(self._loaded) > KEPT:
            self._loaded.popitem(last=False)
        return run

    def summaries(self) -> list[dict[str, Any]]:
        """What a list of runs shows, from the runs' own files."""
        self.refresh()
        found = []
        for name in list(self._named):
            try:
                found.append(self._summary(name))
            except LociError as error:
                found.append({"run": name, "state": "broken", "error": str(error)})
        return found

    def _summary(self, name: str) -> dict[str, Any]:
        from loci.training.lock import is_owned
        from loci.training.run import describe, read_run

        info = read_run(self.path(name))
        sizes = ("n_layer", "n_head", "n_embd", "block_size", "attention", "trunk")
        return {
            **describe(info),
            "run": name,
            "training": is_owned(info.path),
            "note": info.recipe.note,
            "model": {key: info.recipe.model.get(key) for key in sizes},
            "reports": [report.stem for report in self.reports(name)],
        }

    def reports(self, name: str) -> list[Path]:
        """The pages in a run's folder; a link to elsewhere is none of them."""
        run = self.path(name)
        return [page for page in sorted(run.glob("*.html")) if page.resolve().parent == run][:20]

    def experiments(self) -> list[dict[str, Any]]:
        """The experiments around the runs; of the course's the table."""
        found = []
        for name, folder in self._experiments().items():
            about = _read(folder / SETTINGS)
            kind = str(about.get("experiment", ""))
            table = _course_table(_read(folder / RESULTS)) if kind == "course" else []
            row = {"name": name, "experiment": kind, "quick": bool(about.get("quick")), "table": table}
            found.append({**row, "page": (folder / PAGE).is_file()})
        return found

    def experiment_page(self, name: str) -> Path | None:
        """The page of an experiment, if it has one."""
        folder = self._experiments().get(name)
        page = folder / PAGE if folder is not None else None
        return page if page is not None and page.is_file() and page.resolve().parent == folder else None

    def _experiments(self) -> dict[str, Path]:
        """Experiments by name: the given folders, those trained here, and those a given run belongs to."""
        self.refresh()
        around = [folder for run in list(self._named.values()) for folder in (run.parent, run.parent.parent)]
        names: dict[str, Path] = {}
        for folder in dict.fromkeys((*self._folders, *(path.resolve() for path in self._trained()), *around)):
            if (folder / SETTINGS).is_file():
                self._name(folder, names)
        return names

    def people(self, name: str) -> dict[str, list[dict[str, str]]]:
        """Questions to try, by what the run knows of their subjects. Needs the run's data next to it."""
        import numpy as np

        from loci.text.strangers import Strangers
        from loci.text.taught import Taught
        from loci.training.run import read_run

        run = self.load(name)
        if run.index is None:
            return {}
        subjects = sorted(run.index.corpus.by_subject)
        rng = np.random.default_rng(0)
        taught = Taught.from_data(read_run(self.path(name)).data["taught"])
        relation = run.loaded.relations[0]
        strangers = Strangers(subjects)

        def some(names: list[str]) -> list[str]:
            chosen = rng.permutation(len(names))[:PEOPLE]
            return [names[int(index)] for index in sorted(chosen)]

        kinds = {
            "asked about in training": some([one for one in subjects if taught.about(one, relation.name)]),
            "only read about": some([one for one in subjects if not taught.about(one, relation.name)]),
            "never read about": strangers.names("recombined", PEOPLE, rng),
            "one letter changed": strangers.names("one_letter", PEOPLE, rng),
        }
        return {
            kind: [{"subject": one, "question": relation.ask(one)} for one in names]
            for kind, names in kinds.items()
            if names
        }


def _read(file: Path) -> dict[str, Any]:
    """An object of an experiment's file; empty if it cannot be read."""
    try:
        return read_struct(file, dict[str, Any], remedy="carry the experiment out again")
    except LociError:
        return {}


def _course_table(results: dict[str, Any]) -> list[dict[str, Any]]:
    """System, what it is, exact match about held-out and train people, and what others report."""
    columns = ("name", "explanation", "held_out", "taught", "published", "training")
    rows = results.get("rows")
    return [
        {column: row.get(column) for column in columns}
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict)
    ]
