"""The runs a visitor may reach: those named at the start and those the page trained, by short names of our own.

A client never names a path. Models are loaded when first asked and the last few are kept. Knows nothing of HTTP.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from loci.errors import LociError

if TYPE_CHECKING:
    from loci.answering.ask import Asker

KEPT = 4
"""Models kept in memory."""
PEOPLE = 12
"""Names of each kind offered to try."""


class UnknownRun(LociError):
    """No run of that name is offered."""


class Library:
    """Runs by name."""

    def __init__(self, runs: Iterable[Path], out: Path):
        self.out = out
        self._named: dict[str, Path] = {}
        self._loaded: OrderedDict[str, Asker] = OrderedDict()
        self._lock = Lock()
        for run in runs:
            self._add(run)

    def refresh(self) -> None:
        """Find the runs that trainings have written below `out` since."""
        from loci.training.run import find_runs

        if self.out.is_dir():
            for info in find_runs(self.out, broken=lambda error: None):
                self._add(info.path)

    def _add(self, run: Path) -> str:
        run = run.resolve()
        with self._lock:
            for name, path in self._named.items():
                if path == run:
                    return name
            inside = run.is_relative_to(self.out.resolve())
            parts = run.relative_to(self.out.resolve()).parts if inside else (run.name,)
            base = re.sub(r"[^\w.-]+", "-", "-".join(parts)).strip("-.") or "run"
            name = base
            for number in range(2, 10_000):
                if name not in self._named:
                    break
                name = f"{base}-{number}"
            self._named[name] = run
            return name

    def names(self) -> list[str]:
        """The names of all runs, oldest first."""
        return list(self._named)

    def path(self, name: str) -> Path:
        """Where a run lies."""
        if name not in self._named:
            raise UnknownRun(f"no run {name[:100]!r} here", remedy=f"one of: {', '.join(self._named) or 'none yet'}")
        return self._named[name]

    def load(self, name: str) -> Asker:
        """The run, ready to be asked. Called by the one worker that owns the models."""
        from loci.answering.ask import load

        path = self.path(name)
        if name in self._loaded:
            self._loaded.move_to_end(name)
            return self._loaded[name]
        run = self._loaded[name] = load(path)
        while len(self._loaded) > KEPT:
            self._loaded.popitem(last=False)
        return run

    def forget(self, name: str) -> None:
        """Load anew next time: the run was trained further."""
        self._loaded.pop(name, None)

    def summary(self, name: str) -> dict[str, Any]:
        """What a list of runs shows, from the run's own files."""
        from loci.training.run import describe, read_run

        info = read_run(self.path(name))
        row = describe(info)
        row["run"] = name
        row["note"] = info.recipe.note
        row["model"] = {
            key: info.recipe.model.get(key)
            for key in ("n_layer", "n_head", "n_embd", "block_size", "attention", "trunk")
        }
        row["reports"] = [report.stem for report in self.reports(name)]
        return row

    def reports(self, name: str) -> list[Path]:
        """The pages that lie next to a run or in the folder above it."""
        run = self.path(name)
        folders = [run, run.parent] if run.parent != self.out.resolve().parent else [run]
        return [page for folder in folders for page in sorted(folder.glob("*.html"))][:20]

    def people(self, name: str) -> dict[str, list[str]]:
        """Questions to try, by what the run knows of their subjects. Needs the run's data next to it."""
        import numpy as np

        from loci.text.questions import Questions
        from loci.text.strangers import Strangers
        from loci.training.run import read_run

        run = self.load(name)
        if run.index is None:
            return {}
        subjects = sorted(run.index.corpus.by_subject)
        rng = np.random.default_rng(0)
        file = read_run(self.path(name)).data.get("questions")
        taught = set(Questions.read(file).subjects) if isinstance(file, str) and Path(file).is_file() else set()
        strangers = Strangers(subjects)

        def some(names: list[str]) -> list[str]:
            chosen = rng.permutation(len(names))[:PEOPLE]
            return [names[int(index)] for index in sorted(chosen)]

        kinds = {
            "asked about in training": some([subject for subject in subjects if subject in taught]),
            "only read about": some([subject for subject in subjects if subject not in taught]),
            "never read about": strangers.names("recombined", PEOPLE, rng),
            "one letter changed": strangers.names("one_letter", PEOPLE, rng),
        }
        relation = run.loaded.relations[0]
        return {kind: [relation.ask(one) for one in names] for kind, names in kinds.items() if names}
