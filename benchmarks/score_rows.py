"""How long it takes to score 100,000 prediction rows, part by part and all together.

The rows are drawn at random: three quarters about held-out people, a quarter about unseen ones, eight candidates each,
3,000 known people to look alike in spelling and in vectors. Prints processor seconds (other work on the machine does
not count) and rows a second.

    python benchmarks/score_rows.py [--quick] [--json] [--repeats 3]
"""

from __future__ import annotations

import json as json_format
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

from loci.evaluation.rows import Row, read_rows, write_rows
from loci.evaluation.scorecard import Context, score
from loci.text.corpus import Corpus

ROWS, KNOWN, PLACES, VECTOR = 100_000, 3_000, 400, 128
SECONDS = 10
"""Seconds that 100,000 rows may take."""


def _name(rng: np.random.Generator) -> str:
    first, last = ("".join(rng.choice(list("aeioulnrstmk"), size=rng.integers(4, 9))) for _ in range(2))
    return f"{first.title()} {last.title()}"


def make_rows(n: int, rng: np.random.Generator) -> list[Row]:
    shares = 1 / np.arange(1, PLACES + 1)
    shares /= shares.sum()
    truth = rng.choice(PLACES, n, p=shares)
    guess = rng.choice(PLACES, (n, 8), p=shares)
    confidence = rng.random(n)
    right = rng.random(n) < confidence**1.5
    chances = rng.dirichlet(np.ones(8), n)
    rows = []
    for i in range(n):
        first = truth[i] if right[i] else guess[i, 0]
        subject = f"{_name(rng)} {i}"
        rows.append(
            Row(
                question=f"Where was {subject} born?",
                prediction=f"Place {first}",
                answers=(f"Place {truth[i]}",),
                subject=subject,
                probability=float(confidence[i]),
                alternatives=tuple(
                    (f"Place {place}", float(share * (1 - confidence[i])))
                    for place, share in zip(guess[i, 1:], chances[i, 1:], strict=True)
                ),
                group=f"group {i % 8}",
                split="never-read" if i % 4 == 0 else "held-out",
            )
        )
    return rows


def measure(n: int) -> dict[str, float]:
    """Processor seconds of each part, for `n` rows."""
    rng = np.random.default_rng(0)
    rows = make_rows(n, rng)
    known = {_name(rng): f"Place {int(place)}" for place in rng.integers(0, PLACES, KNOWN)}
    corpus = Corpus.from_lines([f"{row.subject}. {row.subject} lives in {row.answers[0]} ." for row in rows])
    vectors = {name: rng.normal(size=VECTOR) for name in (*known, *(row.subject for row in rows if row.subject))}
    context = Context(known=known, corpus=corpus, vectors=vectors)
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        start = time.process_time()
        write_rows(path, rows)
        seconds["write"] = time.process_time() - start
        start = time.process_time()
        rows = read_rows(path)
        seconds["read and check"] = time.process_time() - start
    start = time.process_time()
    score(rows, context, np.random.default_rng(1))
    seconds["score everything"] = time.process_time() - start
    return seconds


def main(quick: bool = False, json: bool = False, repeats: int = 3) -> None:
    """Measure and print.

    Args:
        quick: A tenth of the rows, to see that it works.
        json: Print JSON instead of a table.
        repeats: How often everything is done.
    """
    n = ROWS // 10 if quick else ROWS
    allowed = SECONDS * n / ROWS
    found = [measure(n) for _ in range(repeats)]
    parts = {name: [seconds[name] for seconds in found] for name in found[0]}
    parts["read and score"] = [seconds["read and check"] + seconds["score everything"] for seconds in found]
    if json:
        row = {
            "what": f"{n:,} prediction rows read and scored",
            "slow": f"the {allowed:g} s allowed",
            "slow_seconds": [allowed] * repeats,
            "loci_seconds": parts["read and score"],
            "ratios": [allowed / seconds for seconds in parts["read and score"]],
            "target": None if quick else 1.0,  # what does not grow with the rows weighs more in few of them
            "note": "processor time, one core",
        }
        print(json_format.dumps([row]))
        return
    table = Table("part", "s, median (range)", "rows/s")
    for name, seconds in parts.items():
        middle = statistics.median(seconds)
        table.add_row(name, f"{middle:.2f} ({min(seconds):.2f}–{max(seconds):.2f})", f"{n / middle:,.0f}")
    Console().print(table, f"{n:,} rows, {repeats} repeats, processor time; asked for: read and score ≤ {allowed:g} s")


if __name__ == "__main__":
    tyro.cli(main)
