"""How long it takes to score 100,000 prediction rows, part by part and all together.

The rows are drawn at random: three quarters about held-out people, a quarter about unseen ones, eight candidates each,
3,000 known people to look alike. Prints processor seconds (other work on the machine does not count) and rows a second.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from loci.knowledge.rows import Prediction, read_predictions, write_predictions
from loci.knowledge.scorecard import Context, score
from loci.text.corpus import Corpus

ROWS, KNOWN, PLACES = 100_000, 3_000, 400


def _name(rng: np.random.Generator) -> str:
    first, last = ("".join(rng.choice(list("aeioulnrstmk"), size=rng.integers(4, 9))) for _ in range(2))
    return f"{first.title()} {last.title()}"


def make_rows(n: int, rng: np.random.Generator) -> list[Prediction]:
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
            Prediction(
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
                split="unseen" if i % 4 == 0 else "held-out",
            )
        )
    return rows


def main() -> None:
    rng = np.random.default_rng(0)
    rows = make_rows(ROWS, rng)
    known = {_name(rng): f"Place {int(place)}" for place in rng.integers(0, PLACES, KNOWN)}
    corpus = Corpus.from_lines([f"{row.subject}. {row.subject} lives in {row.answers[0]} ." for row in rows])
    table = []

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        start = time.process_time()
        write_predictions(path, rows)
        table.append(("write", time.process_time() - start))
        start = time.process_time()
        rows = read_predictions(path)
        table.append(("read and check", time.process_time() - start))
    start = time.process_time()
    score(rows, Context(known=known, corpus=corpus), np.random.default_rng(1))
    table.append(("score everything", time.process_time() - start))
    for name, seconds in table:
        print(f"{name:<18}{seconds:8.2f} s {ROWS / seconds:12,.0f} rows/s")


if __name__ == "__main__":
    main()
