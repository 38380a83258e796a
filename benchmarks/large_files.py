"""What very large files cost: a line of 200 MB, a file of 1 GB, a million rows. Time and memory of a process each.

    python benchmarks/large_files.py                 writes some 1.5 GB into a temporary folder
    python benchmarks/large_files.py --rows 100000   a tenth of the rows

A file is either read, with the memory stated, or refused in one line without reading it whole. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from loci.errors import LociError


def _corpus(path: Path) -> str:
    from loci.text.corpus import Corpus

    return f"{len(Corpus.read(path)):,} lines"


def _questions(path: Path) -> str:
    from loci.text.questions import Questions

    return f"{len(Questions.read(path)):,} questions"


def _rows(path: Path) -> str:
    from loci.evaluation.rows import read_rows

    return f"{len(read_rows(path)):,} rows"


def _treebank(path: Path) -> str:
    from loci.attention_lab.parses import read_conllu

    return f"{len(read_conllu(path).parses):,} sentences"


READERS: dict[str, Callable[[Path], str]] = {
    "corpus": _corpus,
    "questions": _questions,
    "rows": _rows,
    "treebank": _treebank,
}


def write(path: Path, line: str, times: int, *, end: str = "\n") -> Path:
    """A file of many lines, each with its number in it."""
    with open(path, "w", encoding="utf-8") as handle:
        for number in range(times):
            handle.write(line.replace("#", str(number)) + end)
    return path


def measure(reader: str, path: Path) -> dict[str, object]:
    """Read one file in a process of its own."""
    command = [sys.executable, __file__, "--read", reader, str(path)]
    found: dict[str, object] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {"file": path.name, "megabytes_of_file": path.stat().st_size >> 20, "reader": reader, **found}


def read(reader: str, path: Path) -> dict[str, object]:
    """Read a file here; what it took."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    try:
        said = READERS[reader](path)
    except LociError as error:
        said = f"refused: {error}".replace(str(path.parent), "")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = round(time.process_time() - started, 1)
    return {"said": said, "processor_seconds": seconds, "megabytes": peak >> 10, "before": before >> 10}


def main() -> None:
    """Write the files, read each in every way that fits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--read", nargs=2, metavar=("READER", "FILE"))
    flags = parser.parse_args()
    if flags.read:
        print(json.dumps(read(flags.read[0], Path(flags.read[1]))))
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        line = write(place / "one-line.txt", "Ana Lima was born in Porto. " * 1000, 7150, end="")
        found = [measure(reader, line) for reader in READERS]
        line.unlink()
        large = write(place / "large.txt", "Person #. Person # was born in Porto. " * 10, 2_500_000)
        found += [measure(reader, large) for reader in READERS]
        large.unlink()
        asked = write(place / "questions.tsv", "Where was Person # born?\tPorto", flags.rows)
        found.append(measure("questions", asked))
        told = write(place / "corpus.txt", "Person #. Person # was born in Porto.", flags.rows)
        found.append(measure("corpus", told))
        row = (
            '{"question": "Where was Person # born?", "prediction": "Porto", "answers": ["Porto"], "probability": 0.5}'
        )
        found.append(measure("rows", write(place / "rows.jsonl", row, flags.rows)))
    print(json.dumps({"rows": flags.rows, "files": found}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
