"""How `loci web` bears many visitors: latency, throughput through batching, memory, first paint, size of the page.

A server of its own process on loopback with a small run made here. In three rounds, one client asks one question at a
time and then 64 clients at once, so that other work on the machine slows both alike; 503 is an allowed answer and is
counted, every other error fails. Then the clients go on until 10,000 answers (fewer with --quick): memory is the
server's own, after a warm-up and at the end.

    python benchmarks/serve.py [--quick] [--seconds 30] [--clients 64] [--requests 10000] [--json]
"""

from __future__ import annotations

import contextlib
import http.client
import json as json_format
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

PORT_LINE = "the web lab is at http://127.0.0.1:"
LARGEST_PAGE = 300_000
RATIO = 4
GROWTH = 0.1
"""Share by which memory may grow between the warm-up and the end."""
ROUNDS = 3
LONGEST = 3600
"""Seconds that the answers counted for memory may take at most."""
CHROMIUM = Path("/usr/bin/chromium")


@dataclass
class Tally:
    """What clients saw."""

    seconds: list[float] = field(default_factory=list)
    refused: int = 0
    errors: list[str] = field(default_factory=list)

    def milliseconds(self, percent: float) -> float:
        """A percentile of the time an answer took."""
        return 1000 * float(np.percentile(self.seconds, percent)) if self.seconds else float("nan")


def make_run(folder: Path) -> tuple[Path, list[str]]:
    """A small run, and questions to ask it."""
    from loci.cli.main import main

    world = folder / "world"
    assert main(["world", "--people", "300", "--seed", "0", "--out", str(world)]) == 0
    flags = ["--data", str(world), "--out", str(folder / "run"), "--no-tensorboard", "--set", "finetune.steps=30"]
    assert main(["train", "--recipe", "demo-scratch", *flags]) == 0
    file = next(world.glob("*train*.tsv"))
    return folder / "run", [line.split("\t")[0] for line in file.read_text(encoding="utf-8").splitlines()]


def client(port: int, questions: list[str], until: float, most: int, tally: Tally) -> None:
    """Ask until the time is over or enough was asked."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for number in range(most):
        if time.monotonic() > until:
            break
        body = json_format.dumps({"run": "run", "question": questions[number % len(questions)]})
        begun = time.perf_counter()
        try:
            connection.request("POST", "/api/ask", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            said = response.read()
        except OSError as error:
            tally.errors.append(repr(error))
            connection.close()
            continue
        if response.status == 200:
            tally.seconds.append(time.perf_counter() - begun)
        elif response.status == 503:
            tally.refused += 1
            time.sleep(0.05)
        else:
            tally.errors.append(f"{response.status}: {said[:100]!r}")
    connection.close()


def load(port: int, questions: list[str], clients: int, seconds: float, requests: int, tally: Tally) -> float:
    """So many clients at once; what they see goes into the tally. Returns how long it took."""
    begun = time.monotonic()
    each = -(-requests // clients)
    arguments = [(port, questions[n:] + questions[:n], begun + seconds, each, tally) for n in range(clients)]
    threads = [threading.Thread(target=client, args=one, daemon=True) for one in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 90)
    return time.monotonic() - begun


def memory(pid: int) -> float:
    """Resident megabytes of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def first_paint(port: int) -> float | None:
    """Milliseconds to the first contentful paint in Chromium: the best of three visits."""
    if not CHROMIUM.exists():
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"])
        found = []
        for _ in range(3):
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{port}/")
            page.wait_for_timeout(500)
            paints = "performance.getEntriesByName('first-contentful-paint').map((entry) => entry.startTime)"
            found += page.evaluate(paints)
            page.close()
        browser.close()
    return min(found, default=None)


def main(
    quick: bool = False, seconds: float | None = None, clients: int = 64, requests: int = 10_000, json: bool = False
) -> int:
    """Measure.

    Args:
        quick: 5 seconds instead of 30, and memory over these alone.
        seconds: How long all clients ask at most.
        clients: How many ask at once.
        requests: How many answers memory is measured over.
        json: Print JSON instead of a table.
    """
    seconds = seconds if seconds is not None else 5.0 if quick else 30.0
    with tempfile.TemporaryDirectory() as name:
        with contextlib.redirect_stdout(sys.stderr):
            run, questions = make_run(Path(name))
        command = [sys.executable, "-m", "loci", "web", str(run), "--no-browser", "--port", "0", "--out", f"{name}/out"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            port = int(server.stdout.readline().removeprefix(PORT_LINE).split("/")[0])
            load(port, questions, clients, 60, 3 * clients, Tally())  # the model is loaded, every buffer has its size
            before = memory(server.pid)
            alone, many, rest = Tally(), Tally(), Tally()
            alone_time = many_time = 0.0
            for _ in range(ROUNDS):
                alone_time += load(port, questions, 1, max(2.0, seconds / 5) / ROUNDS, requests, alone)
                many_time += load(port, questions, clients, seconds / ROUNDS, requests, many)
            asked = len(alone.seconds) + len(many.seconds)
            if not quick and asked < requests:
                load(port, questions, clients, LONGEST, requests - asked, rest)
            after = memory(server.pid)
            paint = first_paint(port)
        finally:
            server.terminate()
            server.wait(30)
    static = Path(str(resources.files("loci.web").joinpath("static")))
    size = sum(file.stat().st_size for file in static.rglob("*") if file.is_file())
    asked += len(rest.seconds)
    alone_rate, many_rate = len(alone.seconds) / alone_time, len(many.seconds) / many_time
    errors = alone.errors + many.errors + rest.errors
    figures = {
        "clients": clients,
        "answers": asked,
        "p50_ms": many.milliseconds(50),
        "p95_ms": many.milliseconds(95),
        "alone_p50_ms": alone.milliseconds(50),
        "answers_per_second": many_rate,
        "alone_per_second": alone_rate,
        "ratio": many_rate / alone_rate if alone_rate else float("nan"),
        "refused": many.refused,
        "errors": len(errors),
        "memory_before_mb": before,
        "memory_after_mb": after,
        "first_paint_ms": paint,
        "page_bytes": size,
        "load_of_the_machine": os.getloadavg()[0],
    }
    if json:
        print(json_format.dumps(figures, indent=2))
    else:
        table = Table("what", "figure", title=f"{clients} clients, {seconds:g} s")
        for key, value in figures.items():
            table.add_row(key.replace("_", " "), f"{value:,.1f}" if isinstance(value, float) else f"{value}")
        Console().print(table)
    missed = {
        f"errors: {errors[:3]}": bool(errors),
        f"batching gives {figures['ratio']:.1f} times, asked for {RATIO}": not many_rate >= RATIO * alone_rate,
        f"memory grew from {before:.0f} to {after:.0f} MB": after > before * (1 + GROWTH),
        f"the page has {size:,} bytes": size > LARGEST_PAGE,
        "first paint took longer than a second": paint is not None and paint > 1000,
    }
    for text in (text for text, is_so in missed.items() if is_so):
        print(f"serve: {text}", file=sys.stderr)
    return int(bool(errors))


if __name__ == "__main__":
    sys.exit(tyro.cli(main))
