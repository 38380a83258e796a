"""The fuzzer's driver: a server that imports everything once and forks a process for every case, with limits.

A case is a function of a seed and a number. Its process may take 30 s of the processor, 2 GB and a bounded file size;
how it ended is one of `OUTCOMES`. Everything in `FAILURES` fails the run and is kept for looking at.

    python tests/fuzz/fuzz_driver.py --cases 5000 --seed 7        the table of outcomes; exit 1 on any failure
    python tests/fuzz/fuzz_driver.py --seed 7 --only 123          one case again, with what it said

Knows nothing of what is read; `fuzz_targets` does.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

GOOD = ("answered", "refused", "stopped")
FAILURES = ("traceback", "hang", "excess", "unclear", "litter")
OUTCOMES = GOOD + FAILURES
SECONDS, WALL, MEMORY, FILE = 30, 600, 2 << 30, 1 << 30
"""Limits of a case: seconds of the processor, seconds in all (on a busy machine it waits for others), bytes."""


class Outcome(NamedTuple):
    """How a case ended."""

    number: int
    target: str
    kind: str
    said: str
    seconds: float
    megabytes: float


def run_cases(
    seed: int, numbers: Iterator[int], keep: Path | None = None, names: tuple[str, ...] = ()
) -> Iterator[Outcome]:
    """Carry out cases one after the other, each in a process of its own, forked from this one."""
    import fuzz_targets

    with tempfile.TemporaryDirectory(prefix="loci-fuzz-") as place:
        home = Path(place) / "home"
        home.mkdir()
        fuzz_targets.furnish(home)
        chosen = [name for name in fuzz_targets.TARGETS if not names or name in names]
        for number in numbers:
            folder = Path(place) / f"case-{number}"
            name = chosen[number % len(chosen)]
            yield _in_a_process(seed, number, name, home, folder, keep)


def _in_a_process(seed: int, number: int, name: str, home: Path, folder: Path, keep: Path | None) -> Outcome:
    read, write = os.pipe()
    started = time.monotonic()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(read)
        _case(seed, number, name, home, folder, write)
    os.close(write)
    status, usage = _wait(child, started + WALL)
    with os.fdopen(read, "rb") as handle:
        told = handle.read()
    for _ in range(2):  # what the case itself started goes with it
        try:
            os.killpg(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            break
    ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    kind, said = json.loads(told) if told else ("traceback", f"ended by signal {ended}")
    if ended in (signal.SIGXCPU, signal.SIGKILL):
        kind, said = "hang", f"over {SECONDS} s of the processor, or {WALL} s in all"
    megabytes = usage.ru_maxrss / 1024
    if megabytes > MEMORY / 2**20:
        kind, said = "excess", f"{megabytes:,.0f} MB"
    outcome = Outcome(number, name, kind, said, usage.ru_utime + usage.ru_stime, megabytes)
    if kind in FAILURES and keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        shutil.copytree(folder, keep / folder.name, dirs_exist_ok=True, symlinks=True)
        (keep / f"{folder.name}.txt").write_text(f"{outcome}\n{said}", encoding="utf-8", errors="backslashreplace")
    shutil.rmtree(folder, ignore_errors=True)
    return outcome


def _wait(child: int, deadline: float) -> tuple[int, resource.struct_rusage]:
    while True:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            return status, usage
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.002)


def _case(seed: int, number: int, name: str, home: Path, folder: Path, write: int) -> None:
    """In the forked process: prepare, limit, run, say how it went, end."""
    import fuzz_targets

    kind, said = "traceback", ""
    try:
        os.setsid()
        rng = random.Random(f"{seed}:{number}")
        shutil.copytree(home, folder)
        os.chdir(folder)
        _limit()
        kind, said = fuzz_targets.TARGETS[name].carry_out(folder, rng)
        left = [str(one.relative_to(folder)) for one in folder.rglob(".*.tmp")]
        if left and kind in ("answered", "refused"):
            kind, said = "litter", f"left behind: {left[:3]}"
    except MemoryError:
        kind, said = "excess", traceback.format_exc()
    except BaseException:
        kind, said = "traceback", traceback.format_exc()
        if "can't allocate memory" in said or "Unable to allocate" in said:
            kind = "excess"
    finally:
        os.write(write, json.dumps([kind, said[-3000:]]).encode())
        os._exit(0)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    if sys.platform == "linux":
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))


def table(outcomes: list[Outcome]) -> str:
    """Outcomes by kind of target, and the largest figures."""
    kinds = [kind for kind in OUTCOMES if any(one.kind == kind for one in outcomes) or kind in FAILURES[:3]]
    groups: dict[str, Counter[str]] = {}
    for one in outcomes:
        groups.setdefault(one.target.partition(" ")[0], Counter())[one.kind] += 1
    rows = [("cases of", *kinds), *((name, *(str(count[kind]) for kind in kinds)) for name, count in groups.items())]
    rows.append(("all", *(str(sum(count[kind] for count in groups.values())) for kind in kinds)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    slow, large = max(outcomes, key=lambda one: one.seconds), max(outcomes, key=lambda one: one.megabytes)
    lines.append(f"longest: {slow.seconds:.1f} s of the processor ({slow.target}, case {slow.number})")
    lines.append(f"largest: {large.megabytes:,.0f} MB ({large.target}, case {large.number})")
    return "\n".join(lines)


def main() -> int:
    """Run cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seed", type=int, default=None, help="default: one that was never used")
    parser.add_argument("--only", type=int, default=None, help="one case")
    parser.add_argument("--target", action="append", default=[], help="only these targets (other numbers, then)")
    parser.add_argument("--keep", type=Path, default=None, help="where the folders of failures go")
    parser.add_argument("--json", action="store_true", help="outcomes as JSON lines instead of the table")
    flags = parser.parse_args()
    seed = time.time_ns() % 10**9 if flags.seed is None else flags.seed
    numbers = range(flags.first, flags.first + flags.cases) if flags.only is None else [flags.only]
    outcomes = []
    for outcome in run_cases(seed, iter(numbers), flags.keep, tuple(flags.target)):
        outcomes.append(outcome)
        if flags.json:
            print(json.dumps(outcome), flush=True)
        elif outcome.kind in FAILURES or flags.only is not None:
            print(f"case {outcome.number} ({outcome.target}): {outcome.kind}\n{outcome.said}\n", flush=True)
    if not flags.json:
        print(f"seed {seed}, {len(outcomes)} cases\n{table(outcomes)}")
    return int(any(outcome.kind in FAILURES for outcome in outcomes))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the tests' own helpers
    sys.exit(main())
