"""Run the benchmarks of a checkout and print one table of ratios, each measured in one run, with its spread.

examples:
  loci bench                             all of them; some minutes on a quiet machine
  loci bench --only training --quick     one of them, small, to see that it works
  loci bench --out docs/benchmarks.md    and write the table with the machine's description
"""

from __future__ import annotations

import json as json_format
import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from loci.cli.output import print_json
from loci.errors import LociError

TIMEOUT_SECONDS = 3600


@dataclass(frozen=True)
class Ratio:
    """One comparison: a ratio for each repeat, and what was asked for."""

    script: str
    what: str
    against: str
    ratios: tuple[float, ...]
    target: float | None
    note: str

    @property
    def median(self) -> float:
        """The middle of the repeats."""
        return statistics.median(self.ratios)

    @property
    def met(self) -> bool | None:
        """Whether the median reaches what was asked for; None when nothing was."""
        return None if self.target is None else self.median >= self.target

    def cells(self) -> tuple[str, ...]:
        """For a table."""
        median, least, most = map(_short, (self.median, min(self.ratios), max(self.ratios)))
        spread = f"{median} ({least}–{most}, n = {len(self.ratios)})"
        asked = "" if self.target is None else f"≥ {self.target:g} {'✓' if self.met else '✗'}"
        return self.script, self.what, self.against, spread, asked, self.note


MARK = "Written by `make bench`."
HEADINGS = ("benchmark", "what", "against", "ratio (range)", "asked for", "note")


def bench(
    folder: Path | None = None,
    only: tyro.conf.UseAppendAction[tuple[str, ...]] = (),
    quick: bool = False,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Run benchmarks.

    Args:
        folder: Where the scripts lie; otherwise the benchmarks of this checkout.
        only: The name of one benchmark, without .py; may be given several times.
        quick: Small sizes, to see that they work. The figures then mean little.
        out: Also write the table as Markdown, with the machine's description.
        json: Print JSON instead of a table.
    """
    from rich.console import Console
    from rich.table import Table

    from loci import machine
    from loci.files import replace_own

    console = Console(stderr=True)
    found: list[Ratio] = []
    for script in chosen(_folder(folder), only):
        console.print(f"{script.stem} …")
        found += ratios_of(script.stem, _run(script, quick))
    about = machine.look()
    if json:
        rows = [{**vars(row), "met": row.met} for row in found]
        print_json({"machine": about, "quick": quick, "rows": rows})
    else:
        table = Table(*HEADINGS)
        for row in found:
            table.add_row(*row.cells())
        Console(highlight=False, markup=False).print(table)
    if out is not None:
        replaced = replace_own(out, markdown(found, about.describe(), quick=quick), MARK, "page")
        console.print(f"written: {out}" + (" (replaced)" if replaced else ""), markup=False)
    return 0


def _folder(folder: Path | None) -> Path:
    for place in (folder,) if folder is not None else (Path("benchmarks"), Path(__file__).parents[3] / "benchmarks"):
        if place is not None and place.is_dir():
            return place
    raise LociError("no benchmarks here", path=folder, remedy="they lie in a checkout of Loci; give --folder")


def chosen(folder: Path, only: tuple[str, ...] = ()) -> list[Path]:
    """The scripts that report ratios. A name with an underscore before it is a part of others."""
    scripts = {path.stem: path for path in sorted(folder.glob("[a-z]*.py"))}
    reporting = [name for name, path in scripts.items() if '"ratios"' in path.read_text(encoding="utf-8")]
    if unknown := sorted(set(only) - set(reporting)):
        raise LociError(f"no benchmark {', '.join(unknown)}", path=folder, remedy=f"one of: {', '.join(reporting)}")
    return [scripts[name] for name in reporting if not only or name in only]


def _run(script: Path, quick: bool) -> Any:
    """What a script prints with --json, in a process of its own."""
    import subprocess
    import sys

    command = [sys.executable, str(script), "--json", *(["--quick"] if quick else [])]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise LociError(f"not done after {TIMEOUT_SECONDS // 60} minutes", path=script) from None
    try:
        if done.returncode == 0:
            return json_format.loads(done.stdout)
    except json_format.JSONDecodeError:
        pass
    remedy = f"run it by itself: python {script}"
    raise LociError(f"ended with {done.returncode} and no figures", path=script, remedy=remedy)


def ratios_of(script: str, result: Any) -> list[Ratio]:
    """The rows of a script's output: a list of them, or an object that holds it as `rows`."""
    rows = result.get("rows", []) if isinstance(result, dict) else result
    said = [row for row in rows if row.get("ratios")]
    ratios = [tuple(map(float, row["ratios"])) for row in said]
    return [
        Ratio(script, row["what"], row.get("slow", ""), own, row.get("target"), row.get("note", ""))
        for row, own in zip(said, ratios, strict=True)
    ]


def _short(value: float) -> str:
    """Three digits."""
    digits = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 2
    return f"{value:.{min(digits, 3)}f}"


def markdown(found: list[Ratio], machine: str, *, quick: bool) -> str:
    """The page that `make bench` writes."""
    lines = [
        "# Benchmarks",
        "",
        f"{MARK} Every figure is a ratio measured in one run of a script in `benchmarks/`, on the",
        "machine below: the median over the repeats, their range, and what the project asks for.",
        "",
        f"Machine: {machine}.",
        *(["", "**Small sizes (`--quick`): the figures mean little.**"] if quick else []),
        "",
        f"| {' | '.join(HEADINGS)} |",
        f"|{'---|' * len(HEADINGS)}",
        *(f"| {' | '.join(cell.replace('|', '/') for cell in row.cells())} |" for row in found),
    ]
    return "\n".join(lines) + "\n"
