"""Execute the notebooks of docs/notebooks and write them with their output to a folder. Run by `make notebooks`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).with_name("notebooks")


def main(out: Path, names: list[str]) -> int:
    """Each in a process of its own; the first error ends it. Prints the seconds of each."""
    out.mkdir(parents=True, exist_ok=True)
    for file in sorted(FOLDER.glob("*.py")):
        if names and file.stem not in names:
            continue
        notebook = jupytext.read(file)
        begun = time.perf_counter()
        NotebookClient(
            notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(out)}}
        ).execute()
        nbformat.write(notebook, out / f"{file.stem}.ipynb")
        print(f"{file.stem}: {time.perf_counter() - begun:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/notebooks"), sys.argv[2:]))
