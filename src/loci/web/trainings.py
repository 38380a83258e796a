"""Small trainings started from the page: each a `loci` process of its own below one folder, stopped and resumed.

Processes, not threads: ctrl-C, checkpoints and resume then are those of the command line, and a crash stays theirs. All
end with the server. Knows nothing of HTTP.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from loci.errors import LociError
from loci.training.run import METRICS, read_metrics

AT_ONCE = 1
"""Trainings share the machine's cores with the answers: one at a time."""
PATIENCE = 20.0
"""Seconds a process has to write its checkpoint when it is stopped."""

State = Literal["running", "stopped", "finished", "failed"]


@dataclass
class Training:
    """One training and its process."""

    name: str
    folder: Path
    commands: list[list[str]]
    """Arguments of `loci`, carried out in order."""
    state: State = "running"
    message: str = ""
    process: subprocess.Popen[str] | None = None
    wanted: bool = True
    lock: threading.Lock = field(default_factory=threading.Lock)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data, with how far the run trained last is."""
        files = [file for pattern in ("*/", "*/*/") for file in self.folder.glob(f"{pattern}{METRICS}")]
        runs = [file.parent for file in sorted(files, key=lambda file: file.stat().st_mtime)]
        last = read_metrics(runs[-1])[-1:] if runs else []
        row = {"run": runs[-1].name, **{key: last[0].get(key) for key in ("stage", "progress")}} if last else {}
        return {"name": self.name, "state": self.state, "message": self.message, **row}


class Trainings:
    """The trainings of one server."""

    def __init__(self, out: Path):
        self.out = out
        self.all: dict[str, Training] = {}

    def start_demo(self, *, quick: bool, seed: int) -> Training:
        """The demo: a world, three ways of teaching, a report."""
        folder = self._new_folder("demo")
        flags = ["--quick"] if quick else []
        return self._begin(folder, [["demo", "--out", str(folder), "--seed", str(seed), *flags]])

    def start_course(self) -> Training:
        """The course's table on the embedded world."""
        folder = self._new_folder("course")
        return self._begin(folder, [["experiment", "course", "--quick", "--out", str(folder)]])

    def start_run(self, *, recipe: str, people: int, characters: int, seed: int) -> Training:
        """A world of so many people, and one recipe on it within a budget."""
        from loci.recipes import RECIPES

        if recipe not in RECIPES:
            raise LociError(f"unknown recipe {recipe[:60]!r}", remedy=f"one of: {', '.join(RECIPES)}")
        folder = self._new_folder(recipe)
        world, run = folder / "world", folder / "run"
        make = ["world", "--people", str(people), "--seed", str(seed), "--out", str(world)]
        train = ["train", "--recipe", recipe, "--data", str(world), "--out", str(run), "--seed", str(seed)]
        return self._begin(folder, [make, [*train, "--characters", str(characters)]])

    def stop(self, name: str) -> Training:
        """Ask a training to write its checkpoint and end."""
        training = self._named(name)
        with training.lock:
            training.wanted = False
        if training.process is not None and training.process.poll() is None:
            training.process.send_signal(signal.SIGINT)
        return training

    def resume(self, name: str) -> Training:
        """Continue a stopped training from its checkpoint."""
        training = self._named(name)
        if training.state not in ("stopped", "failed"):
            raise LociError(f"{name} is {training.state}", remedy="only a stopped training can be resumed")
        run = training.folder / "run"
        if (run / "run.json").is_file():
            training.commands = [["train", "--resume", "--out", str(run)]]
        self._require_free()
        self._launch(training)
        return training

    def close(self) -> None:
        """End every process: first asked, then made to."""
        for one in self.all.values():
            with one.lock:  # or the next of its commands would start behind our back
                one.wanted = False
        running = [one.process for one in self.all.values() if one.process is not None and one.process.poll() is None]
        for process in running:
            process.send_signal(signal.SIGINT)
        for process in running:
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _begin(self, folder: Path, commands: list[list[str]]) -> Training:
        self._require_free()
        self.out.mkdir(parents=True, exist_ok=True)
        training = self.all[folder.name] = Training(folder.name, folder, commands)
        self._launch(training)
        return training

    def _launch(self, training: Training) -> None:
        training.state, training.wanted, training.message = "running", True, ""
        threading.Thread(target=self._carry_out, args=(training,), daemon=True).start()

    def _carry_out(self, training: Training) -> None:
        for command in training.commands:
            with training.lock:
                if not training.wanted:
                    training.state = "stopped"
                    return
                training.process = subprocess.Popen(
                    [sys.executable, "-m", "loci", *command],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                    errors="replace",
                )
            _, errors = training.process.communicate()
            if training.process.returncode:
                training.state = "failed" if training.wanted else "stopped"
                training.message = (errors or "").strip().splitlines()[-1][-300:] if errors and training.wanted else ""
                return
        training.state = "finished"

    def _named(self, name: str) -> Training:
        if name not in self.all:
            raise LociError(f"no training {name[:100]!r} here")
        return self.all[name]

    def _require_free(self) -> None:
        running = [one.name for one in self.all.values() if one.state == "running"]
        if len(running) >= AT_ONCE:
            raise LociError(f"{running[0]} is still training", remedy="wait for it, or stop it")

    def _new_folder(self, base: str) -> Path:
        taken = {path.name for path in self.out.iterdir()} if self.out.is_dir() else set()
        return next(self.out / f"{base}-{n}" for n in range(1, 10_000) if f"{base}-{n}" not in taken | set(self.all))


def read_new_metrics(run: Path, start: int) -> tuple[list[dict[str, Any]], int]:
    """The rows of a run's metrics behind byte `start`, and where to go on; a half-written row waits."""
    file = run / "metrics.jsonl"
    if not file.is_file() or file.stat().st_size <= start:
        return [], min(start, file.stat().st_size) if file.is_file() else 0
    with open(file, "rb") as handle:
        handle.seek(start)
        data = handle.read(1 << 20)
    whole, newline, _ = data.rpartition(b"\n")
    rows = []
    for line in whole.split(b"\n") if newline else ():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            rows.append({key: row.get(key) for key in ("stage", "total_steps", "progress", "loss", "characters")})
    return rows, start + len(whole) + len(newline)
