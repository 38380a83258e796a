"""Several processes and large data: what one process does, two do, and what a million people take.

Three parts, each in processes of its own that take turns:

    engine    one process, and two with DDP, with FSDP and with one message after the backward pass, which is what DDP
              replaces: the same model and batch; share of the ideal speed, the message alone; and with 39 M
              parameters what a process holds of weights, gradients and moments, and its peak memory
    before    one process of this checkout and of another (`--before FOLDER`, a worktree): speed, and whether the
              weights are the same to the bit
    million   world, check, compile, first step, steps with their memory, and drawing, at `--people`

    python benchmarks/distributed.py [--quick] [--json]                                             engine alone
    python benchmarks/distributed.py --parts engine before million --before FOLDER                  all of it
"""

from __future__ import annotations

import json as json_format
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Literal

import tyro
from rich.console import Console
from rich.table import Table

from _distributed_work import RESULT

HERE = Path(__file__).resolve()
WORK = HERE.with_name("_distributed_work.py")
Part = Literal["engine", "before", "million"]


def child(name: str, *given: object, processes: int = 0, source: Path | None = None) -> list[dict[str, Any]]:
    """What a piece of work returns in each of its processes."""
    told = json_format.dumps([name, *given])
    paths = [str((source or HERE.parent.parent) / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable]
    if processes:
        command += ["-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1"]
        command += ["--nproc_per_node", str(processes)]
    done = subprocess.run([*command, str(WORK), told], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    # Lines of several processes may stand on one.
    return [json_format.JSONDecoder().raw_decode(text)[0] for text in done.stdout.split(RESULT)[1:]]


def command(*words: object) -> dict[str, float]:
    """Seconds and peak memory of a `loci` command."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent.parent / "src"), "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "loci", *map(str, words)], env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": time.perf_counter() - begun, "processor": processor, "peak_mb": after.ru_maxrss / 1e3}


def engine_rows(world: Path, steps: int, batch: int, repeats: int) -> list[dict[str, Any]]:
    """One and two processes in turns."""
    ways = [("one process", "alone", 1), *((f"two, {how}", how, 2) for how in ("one message", "ddp", "fsdp"))]
    found: dict[str, list[list[dict[str, Any]]]] = {name: [] for name, _, _ in ways}
    for _ in range(repeats):
        for name, how, processes in ways:
            found[name].append(child("engine", str(world), how, steps, batch, processes=processes))
            print(f"{name}: {_rate(found[name][-1]):,.0f} characters/s", file=sys.stderr, flush=True)
    large = {name: child("engine", str(world), how, 3, 4, True, processes=processes) for name, how, processes in ways}
    rates = {name: [_rate(turn) for turn in turns] for name, turns in found.items()}
    alone = statistics.median(rates["one process"])
    return [
        {
            "way": name,
            "characters_per_second": rates[name],
            "share_of_ideal": statistics.median(rates[name]) / (alone * processes),
            "message_ms": statistics.median(one["message_ms"] for turn in found[name] for one in turn),
            "state_mb": max(one["state_mb"] for one in large[name]),
            "peak_mb": max(one["peak_mb"] for one in large[name]),
        }
        for name, _, processes in ways
    ]


def _rate(turn: list[dict[str, Any]]) -> float:
    """Characters a second of all processes together."""
    return float(max(one["characters"] for one in turn) / max(one["seconds"] for one in turn))


def before_row(world: Path, before: Path, steps: int, batch: int, repeats: int) -> dict[str, Any]:
    """This checkout and another one in turns."""
    sides: dict[str, list[dict[str, Any]]] = {"before": [], "after": []}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(repeats):
            for name, source in (("before", before), ("after", HERE.parent.parent)):
                (one,) = child("train", str(world), f"{folder}/{name}{turn}", steps, batch, source=source)
                sides[name].append(one)
    ratios = [after["rate"] / old["rate"] for old, after in zip(sides["before"], sides["after"], strict=True)]
    hashes = {one["weights"] for side in sides.values() for one in side}
    return {
        "ratios": ratios,
        "same_weights": len(hashes) == 1,
        **{name: [x["rate"] for x in sides[name]] for name in sides},
    }


def million(folder: Path, people: int, steps: int) -> dict[str, Any]:
    """A world of many people, from writing it to training on it."""
    world = folder / "million"
    found: dict[str, Any] = {}
    if not world.is_dir():
        found["world"] = command("world", "--people", people, "--out", world)
    for compiled in world.glob("*.compiled"):
        shutil.rmtree(compiled)
    (found["compile"],) = child("read", str(world))
    (found["read again"],) = child("read", str(world))
    for processes in (1, 2, 8):
        (found[f"draw, one process of {processes}"],) = child("draw", str(world), processes, 64 * processes)
    with tempfile.TemporaryDirectory() as runs:
        (found["train"],) = child("large", str(world), f"{runs}/run", steps, 32)
        for name in ("first step, questions read", "first step, questions kept"):
            (found[name],) = child("large", str(world), f"{runs}/{name}", 1, 32, True)
    found["check"] = command("check", world, "--json")
    return found


def main(
    quick: bool = False,
    json: bool = False,
    parts: tuple[Part, ...] = ("engine",),
    before: Path | None = None,
    people: int = 1_000_000,
    folder: Path | None = None,
    repeats: int = 3,
    steps: int = 20,
) -> None:
    """Measure and print.

    Args:
        quick: Small sizes, to see that it works.
        json: Print JSON instead of tables.
        parts: What to measure.
        before: A checkout to hold this one against; without it that part is left out.
        people: The people of the large world.
        folder: Where worlds are kept; default: a temporary one.
        repeats: How often each way takes its turn.
        steps: Steps of a turn.
    """
    steps, batch, repeats = (6, 16, 1) if quick else (steps, 128, repeats)
    with tempfile.TemporaryDirectory() as temporary:
        place = folder or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        world = place / "small"
        if not world.is_dir():
            command("world", "--people", 500, "--out", world)
        found: dict[str, Any] = {}
        if "engine" in parts:
            found["engine"] = engine_rows(world, steps, batch, repeats)
        if "before" in parts and before is not None:
            found["before"] = before_row(world, before.resolve(), steps, batch, repeats)
        if "million" in parts:
            found["million"] = million(place, 3000 if quick else people, 20 if quick else 1000)
    if json:
        print(json_format.dumps({**found, "rows": ratio_rows(found)}))
        return
    show(found)


def ratio_rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows for the table of all benchmarks."""
    rates = {row["way"]: row["characters_per_second"] for row in found.get("engine", ())}
    pairs = (
        ("two, ddp", "two, one message"),
        ("two, fsdp", "two, ddp"),
        ("two, ddp", "one process"),
    )
    rows = [
        {
            "what": f"characters/s of {fast}",
            "slow": slow,
            "ratios": [one / other for one, other in zip(rates[fast], rates[slow], strict=True)],
        }
        for fast, slow in pairs
        if rates
    ]
    if "before" in found:
        rows.append({"what": "characters/s of one process", "slow": "before", "ratios": found["before"]["ratios"]})
    return rows


def show(found: dict[str, Any]) -> None:
    """Tables."""
    console = Console(highlight=False)
    if "engine" in found:
        table = Table("", "characters/s", "share of ideal", "message alone", "39 M: state a process", "peak")
        for row in found["engine"]:
            rate = statistics.median(row["characters_per_second"])
            cells = (
                f"{rate:,.0f}",
                f"{row['share_of_ideal']:.0%}",
                f"{row['message_ms']:.0f} ms",
                f"{row['state_mb']:.0f} MB",
                f"{row['peak_mb']:.0f} MB",
            )
            table.add_row(row["way"], *cells)
        console.print(table)
    if "before" in found:
        ratios, same = found["before"]["ratios"], found["before"]["same_weights"]
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
        console.print(f"one process, after / before: {spread}; weights {'the same to the bit' if same else 'DIFFER'}")
    for name, row in found.get("million", {}).items():
        console.print(f"{name}: {json_format.dumps(row)}", soft_wrap=True)


if __name__ == "__main__":
    tyro.cli(main)
