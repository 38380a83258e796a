"""What very large files cost: a line of 200 MB, a file of 1 GB, a million rows. Time and memory of a process each.

    python benchmarks/large_files.py                 writes some 1.5 GB into a temporary folder
    python benchmarks/large_files.py --rows 100000   a tenth of the rows

A file is either read, with the memory stated, or refused in one line without reading it whole. `megabytes` is the peak
of the process; `own_megabytes` leaves out pages of mapped files, which the system takes back when it needs them. Prints
JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import threading
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


def _scored(path: Path) -> str:
    from loci.api import Evaluation
    from loci.evaluation.rows import read_rows

    return f"exact match {Evaluation(tuple(read_rows(path))).accuracy}"


def _treebank(path: Path) -> str:
    from loci.attention_lab.parses import read_conllu

    return f"{len(read_conllu(path).parses):,} sentences"


READERS: dict[str, Callable[[Path], str]] = {
    "corpus": _corpus,
    "questions": _questions,
    "rows": _rows,
    "scored rows": _scored,
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


class OwnMemory(threading.Thread):
    """Looks again and again at what the process holds that is no page of a file: 0 where the system does not say."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self.ended = 0, threading.Event()

    def run(self) -> None:
        """Until it is ended."""
        status = Path("/proc/self/status")
        while status.is_file() and not self.ended.wait(0.02):
            held = re.search(r"RssAnon:\s+(\d+) kB", status.read_text())
            self.peak = max(self.peak, int(held[1]) if held else 0)


def read(reader: str, path: Path) -> dict[str, object]:
    """Read a file here; what it took."""
    before, own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, OwnMemory()
    own.start()
    started = time.process_time()
    try:
        said = READERS[reader](path)
    except LociError as error:
        said = f"refused: {error}".replace(str(path.parent), "")
    own.ended.set()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = round(time.process_time() - started, 1)
    megabytes = {"megabytes": peak >> 10, "own_megabytes": own.peak >> 10, "before": before >> 10}
    return {"said": said, "processor_seconds": seconds, **megabytes}


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
        found += [measure(reader, large) for reader in ("corpus", *READERS)]
        large.unlink()
        asked = write(place / "questions.tsv", "Where was Person # born?\tPorto", flags.rows)
        told = write(place / "corpus.txt", "Person #. Person # was born in Porto.", flags.rows)
        # The first reading keeps arrays next to the file, the second maps them.
        found += [measure(*one) for one in (("questions", asked), ("corpus", told)) for _ in range(2)]
        row = (
            '{"question": "Where was Person # born?", "prediction": "Porto", "answers": ["Porto"], "probability": 0.5}'
        )
        rows = write(place / "rows.jsonl", row, flags.rows)
        found += [measure(reader, rows) for reader in ("rows", "scored rows")]
    print(json.dumps({"rows": flags.rows, "files": found}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
