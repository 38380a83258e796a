"""The rows behind the headline figures: kept small, without any text, and the figures made from them again.

    python docs/headline.py                                    the figures of every file in docs/data
    python docs/headline.py keep NAME SEED=ROWS.jsonl ...      keep rows of `loci evaluate` or `loci demo`

A kept row says which question it is (by hash), about whom, whether the best answer was right, whether it was given, and
its probability: names, questions and answers of other people's data are not kept. A line of README.md or docs/*.md that
links to such a file must state its figure; a test compares them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from loci.errors import LociError
from loci.evaluation.metrics import Rate, over_seeds, wilson
from loci.evaluation.rows import UNKNOWABLE, Row, read_rows

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "data"
LINK = re.compile(r"data/([\w.-]+)\.jsonl\.gz")
FIGURE = re.compile(r"(\d+\.\d) %")


def kept(row: Row, seed: int) -> dict[str, object]:
    """What is kept of a row."""
    probability = None if row.probability is None else round(row.probability, 4)
    return {
        "seed": seed,
        "about": row.split,
        "question": hashlib.sha256(row.question.encode()).hexdigest()[:12],
        "right": row.correct is True,
        "answered": not row.silent,
        "probability": probability,
    }


def keep(name: str, files: dict[int, list[Path]]) -> Path:
    """Write docs/data/NAME.jsonl.gz, the same bytes for the same rows."""
    lines = [json.dumps(kept(row, seed)) for seed, paths in files.items() for path in paths for row in read_rows(path)]
    out = DATA / f"{name}.jsonl.gz"
    out.parent.mkdir(exist_ok=True)
    out.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode(), mtime=0))
    return out


def figures(name: str) -> dict[str, tuple[Rate, list[Rate]]]:
    """For each kind of people: the share of right best answers over all seeds, and that of each seed.

    Of people nobody could know about: the share that got an answer at all.
    """
    rows = [json.loads(line) for line in gzip.decompress((DATA / f"{name}.jsonl.gz").read_bytes()).splitlines()]
    found = {}
    for about in dict.fromkeys(row["about"] for row in rows):
        own, counts = [row for row in rows if row["about"] == about], "answered" if about in UNKNOWABLE else "right"
        seeds = [
            wilson(sum(row[counts] for row in one), len(one))
            for seed in dict.fromkeys(row["seed"] for row in own)
            if (one := [row for row in own if row["seed"] == seed])
        ]
        found[str(about)] = (over_seeds(seeds), seeds)
    return found


def stated() -> Iterator[tuple[str, str, set[str]]]:
    """Document, name of the rows and the percentages, for every line that links to kept rows."""
    for document in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for line in document.read_text(encoding="utf-8").splitlines():
            for name in LINK.findall(line):
                yield document.name, name, set(FIGURE.findall(line))


def main(arguments: list[str]) -> None:
    """Keep rows, or print the figures of those that are kept."""
    if arguments[:1] == ["keep"] and len(arguments) > 2:
        files: dict[int, list[Path]] = {}
        for argument in arguments[2:]:
            seed, _, path = argument.partition("=")
            files.setdefault(int(seed), []).append(Path(path))
        print(keep(arguments[1], files).relative_to(ROOT))
        return
    if arguments:
        raise LociError("headline.py keep NAME SEED=ROWS.jsonl …, or nothing")
    for file in sorted(DATA.glob("*.jsonl.gz")):
        for about, (all_seeds, seeds) in figures(file.name.removesuffix(".jsonl.gz")).items():
            each = " · ".join(f"{100 * rate.value:.1f}" for rate in seeds)
            print(f"{file.name} {about}: {all_seeds}; each seed {each} %")


if __name__ == "__main__":
    main(sys.argv[1:])
