"""Kinds of targets: a reader of a file, and a command line with whatever its output goes to.

Each carries out one case in a private copy of the home folder and says how it ended. Knows no particular reader.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fuzz_commands import TYPED
from fuzz_home import FORMAT_SAMPLES
from fuzz_mutator import damaged, damaged_arguments, damaged_weights

from loci.errors import LociError
from run_files import record

STREAMS = ("file", "file", "file", "file", "full", "closed", "ascii", "pipe", "narrow")
EXIT_CODES = (0, 1, 2, 130)


@dataclass(frozen=True)
class Reader:
    """A function that reads a file."""

    file: str
    """The file that is damaged, as seen from the home folder."""
    read: Callable[[Path], object]
    """Called with the path of the damaged file."""
    covers: tuple[str, ...] = ()
    """The modules whose reading this is."""
    place: str = "path"
    """What a refusal must name beside its remedy."""

    def carry_out(self, folder: Path, rng: random.Random) -> tuple[str, str]:
        """Damage the file, read it."""
        file = folder / self.file
        damage(file, rng)
        try:
            self.read(file)
        except LociError as error:
            wanting = [what for what in (self.place, "remedy") if getattr(error, what) is None]
            text = str(error)
            if "\n" in text:
                wanting.append("one line")
            return ("unclear", f"no {' and no '.join(wanting)}: {text}") if wanting else ("refused", text)
        return "answered", ""


@dataclass(frozen=True)
class Command:
    """A command line; every file of the home folder may be damaged as well, and the output may go anywhere."""

    arguments: tuple[str, ...]
    stop: float | None = None
    """Seconds after which a command that works as long as it is asked to gets a ctrl-C."""

    def carry_out(self, folder: Path, rng: random.Random) -> tuple[str, str]:
        """Damage words, files or neither; call the command; look at its exit code and what it said."""
        files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        arguments = list(self.arguments)
        how = rng.random()
        if how < 0.75:
            arguments = damaged_arguments(arguments, rng, [*rng.sample(files, 4), "world", "run", "nowhere"])
        if how > 0.5:
            named = [file for file in files if any(word and file.startswith(word) for word in self.arguments[1:])]
            for _ in range(rng.choice((1, 1, 2))):
                damage(folder / rng.choice(named or files), rng)
        stream = rng.choice(STREAMS)
        code, said = _call(arguments, stream, self.stop)
        shown = [word[:200] for word in arguments]
        about = f"{shown} (stdout: {stream})\nexit {code}\n{said[-1500:]}"
        if "Traceback (most recent call last)" in said or code not in EXIT_CODES:
            return "traceback", about
        if "memory is not enough" in said:
            return "excess", about
        shown_there = Path("stdout.txt").is_file() and Path("stdout.txt").stat().st_size  # a table names what is wrong
        if code == 2 and not shown_there and _is_unclear(said):
            return "unclear", about
        return ("answered" if code in (0, 1) else "refused" if code == 2 else "stopped"), about


def _is_unclear(said: str) -> bool:
    """Whether a refusal is neither one line of ours at its end nor the help about a flag."""
    lines = said.strip().splitlines()
    return not lines or not (lines[-1].startswith("loci") or any(word in said for word in ("╰", "usage:", "helptext")))


def damage(file: Path, rng: random.Random) -> None:
    """Damage a file; one of a run is often entered into its manifest as if it had always been so."""
    others = [sample.encode() for sample in FORMAT_SAMPLES.values()]
    data = file.read_bytes()
    if file.suffix == ".safetensors":
        data = damaged_weights(data, rng)
    else:
        data = damaged(data, rng, others, json_like=file.suffix in (".json", ".jsonl"))
    file.write_bytes(data)
    if (file.parent / "manifest.json").is_file() and file.name != "manifest.json" and rng.random() < 0.8:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            record(file)


def _call(arguments: list[str], stream: str, stop: float | None) -> tuple[int, str]:
    """Call the command line as the interpreter would, with standard output of some kind; exit code and errors."""
    from loci.cli.main import main

    errors = open("stderr.txt", "w+b")
    os.dup2(errors.fileno(), 2)
    sys.stderr = io.TextIOWrapper(
        open(2, "wb", closefd=False), encoding="utf-8", errors="backslashreplace", line_buffering=True
    )
    _open_output(stream)
    Path("stdin.txt").write_text(TYPED, encoding="utf-8")
    os.dup2(os.open("stdin.txt", os.O_RDONLY), 0)
    sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False), encoding="utf-8")
    if stream == "narrow":
        os.environ["COLUMNS"] = "3"
    os.environ["BROWSER"] = "/bin/true"
    if stop is not None:
        # Seconds of the processor, so that a busy machine stops it at the same place; one that waits is stopped as well.
        for which, sent, times in ((signal.ITIMER_PROF, signal.SIGPROF, 1), (signal.ITIMER_REAL, signal.SIGALRM, 5)):
            signal.signal(sent, lambda number, frame: signal.raise_signal(signal.SIGINT))
            signal.setitimer(which, times * stop, 5.0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code = int(main(arguments) or 0)
    except SystemExit as error:  # tyro and argparse end so
        code = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    for which in (signal.ITIMER_PROF, signal.ITIMER_REAL):
        signal.setitimer(which, 0)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()  # as the interpreter does at its end, where nobody catches what it raises
    except (OSError, ValueError):
        traceback.print_exc()
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    errors.seek(0)
    return code, errors.read().decode("utf-8", "replace")


def _open_output(stream: str) -> None:
    if stream == "closed":
        os.close(1)
        sys.stdout = None  # as the interpreter has it then
        return
    if stream == "pipe":
        read, write = os.pipe()
        os.close(read)
    else:
        write = os.open("/dev/full" if stream == "full" else "stdout.txt", os.O_WRONLY | os.O_CREAT)
    os.dup2(write, 1)
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), encoding="ascii" if stream == "ascii" else "utf-8")
