"""Loci's training step next to the published one: the same model size, the same text, one run on one machine.

The published step (`_published.py`) pads every example to 128 characters, so that more than half of its work is for
nothing. Loci's step sorts a pool of examples by length, makes batches ahead in a thread, and reuses its buffers. Loci's
own recipes train without dropout, which is the first row; with dropout as published comes next to it, and then the step
of `loci course`, which takes the lines in the order of the file, as published, and each batch in parts of like length;
where the processor has bf16, the same in that too.

Each way runs in a process of its own (`_training_ways.py`); they take turns, so that a disturbance hits all of them.
Every repeat of Loci's step covers short and long batches alike. FLOPs are those of `loci cost`: matrix products with
whole attention squares, the head where it is used; they are held against the product of two square matrices of 2048,
measured in the same turns. On a processor with AVX-512 that share is measured once more with AVX2 alone, the kind of
processor the target was set on.

    python benchmarks/training.py [--quick] [--json] [--repeats 6] [--threads N] [--clock processor]
"""

from __future__ import annotations

import json as json_format
import statistics
from typing import Any, Literal

import tyro
from rich.console import Console
from rich.table import Table

from _training_ways import NARROW, PHASES, Measured, Setting, measure
from loci import machine

#: Settings of the three libraries that compute, read when a process first uses them.
AVX2_ALONE = {"MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}


def avx2_row(setting: Setting) -> dict[str, Any]:
    """The share of the square product where products are slower: half the rate, and memory as fast as before."""
    found, _ = measure(setting, ("GEMM", "Loci"), AVX2_ALONE)
    peak, own = ([measured.gflops for measured in found[name]] for name in ("GEMM", "Loci"))
    return {
        "what": "GFLOP/s of forward + backward, AVX2 alone",
        "slow": f"GEMM of {setting.gemm} squared, AVX2 alone",
        "ratios": [a / b for a, b in zip(own, peak, strict=True)],
        "target": 0.8,
        "note": f"GEMM: {span(peak)} GFLOP/s; the kind of processor the target is from",
    }


def rows_of(found: dict[str, list[Measured]], setting: Setting) -> list[dict[str, Any]]:
    """The ratios, one for each repeat."""

    def rates(name: str) -> list[float]:
        return [measured.rate for measured in found[name]]

    def over(above: list[float], below: list[float]) -> list[float]:
        return [a / b for a, b in zip(above, below, strict=True)]

    peak = [measured.gflops for measured in found["GEMM"]]
    speeds = {name: [measured.gflops for measured in found[name]] for name in ("published", "Loci", "Loci, Muon")}
    muon = [measured.seconds["optimiser"] / sum(measured.seconds.values()) for measured in found["Loci, Muon"]]
    return [
        {
            "what": "useful characters/s in training, no dropout as in Loci's recipes",
            "slow": "the published step",
            "ratios": over(rates("Loci"), rates("published")),
            "target": 3.5,
        },
        {
            "what": "useful characters/s in training, dropout 0.1 in both",
            "slow": "the published step",
            "ratios": over(rates("Loci, dropout"), rates("published")),
            "target": None,
        },
        {
            "what": "useful characters/s of `loci course pretrain`",
            "slow": "the published step",
            "ratios": over(rates("loci course"), rates("published")),
            "target": None,
        },
        {
            "what": "GFLOP/s of forward + backward",
            "slow": f"GEMM of {setting.gemm} squared",
            "ratios": over(speeds["Loci"], peak),
            "target": 0.8,
            "note": f"the published step: {statistics.median(over(speeds['published'], peak)):.2f}",
        },
        {
            "what": "useful characters/s with Muon",
            "slow": "the same step with AdamW",
            "ratios": over(rates("Loci, Muon"), rates("Loci")),
            "target": None,
            "note": f"the optimiser takes {100 * statistics.median(muon):.0f} % of the step (asked for: under 10 %)",
        },
        *(
            {
                "what": "useful characters/s of `loci course pretrain --precision bf16`",
                "slow": slow,
                "ratios": over(rates(NARROW), rates(name)),
                "target": None,
            }
            for name, slow in (("loci course", "the same in fp32"), ("published", "the published step"))
            if NARROW in found
        ),
    ]


def details_of(found: dict[str, list[Measured]], peaks: dict[str, float]) -> list[dict[str, Any]]:
    """What each way did, in the median of the repeats."""
    details: list[dict[str, Any]] = []
    for name, repeats in found.items():
        if name == "GEMM":
            details.append({"way": name, "gflops": [measured.gflops for measured in repeats]})
            continue
        total = statistics.median(sum(measured.seconds.values()) for measured in repeats)
        shares = {
            phase: statistics.median(measured.seconds[phase] / sum(measured.seconds.values()) for measured in repeats)
            for phase in PHASES
        }
        details.append(
            {
                "way": name,
                "characters_per_second": [measured.rate for measured in repeats],
                "useful": sum(m.characters for m in repeats) / sum(m.positions for m in repeats),
                "gflops": [measured.gflops for measured in repeats],
                "shares": shares,
                "seconds": total,
                "peak_mb": peaks[name],
            }
        )
    return details


def details_table(details: list[dict[str, Any]]) -> Table:
    """Ways side by side."""
    ways = [detail for detail in details if "shares" in detail]
    gemm = next(detail for detail in details if "shares" not in detail)
    table = Table("", *(detail["way"] for detail in ways), caption=f"GEMM: {span(gemm['gflops'])} GFLOP/s")
    table.add_row("useful characters/s", *(span(detail["characters_per_second"]) for detail in ways))
    table.add_row("not padding", *(f"{100 * detail['useful']:.0f} %" for detail in ways))
    table.add_row("GFLOP/s, forward + backward", *(span(detail["gflops"]) for detail in ways))
    for phase in PHASES:
        table.add_row(f"{phase}, share of time", *(f"{100 * detail['shares'][phase]:.1f} %" for detail in ways))
    table.add_row("peak memory", *(f"{detail['peak_mb']:.0f} MB" for detail in ways))
    return table


def span(values: list[float]) -> str:
    """Median and range."""
    return f"{statistics.median(values):,.0f} ({min(values):,.0f}–{max(values):,.0f})"


def main(
    quick: bool = False,
    json: bool = False,
    repeats: int = 6,
    threads: int | None = None,
    clock: Literal["wall", "processor"] = "wall",
) -> None:
    """Measure and print.

    Args:
        quick: Small batches and two repeats, to see that it works.
        json: Print JSON instead of tables.
        repeats: How often each way takes its turn.
        threads: How many threads; otherwise as many as a probe finds best.
        clock: processor counts the processor's time, which other work on the machine hardly changes; with one thread.
    """
    if clock == "processor":
        threads = 1
    threads = threads if threads is not None else machine.probe_threads().best
    sizes = {"batch": 16, "steps": 2, "gemm": 1024} if quick else {"batch": 128, "steps": 8, "gemm": 2048}
    setting = Setting(repeats=min(repeats, 2) if quick else repeats, threads=threads, clock=clock, **sizes)
    found, peaks = measure(setting)
    rows, details = rows_of(found, setting), details_of(found, peaks)
    if machine.look().simd == "AVX512":
        rows.append(avx2_row(setting))
    if json:
        print(
            json_format.dumps(
                {"rows": rows, "details": details, "threads": threads, "clock": clock}, ensure_ascii=False
            )
        )
        return
    console = Console(highlight=False)
    table = Table("what", "against", "ratio (range)", "asked for", "")
    for row in rows:
        ratios = row["ratios"]
        asked = f"≥ {row['target']:g}" if row["target"] else ""
        value = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
        table.add_row(row["what"], row["slow"], value, asked, row.get("note", ""))
    console.print(table)
    console.print(details_table(details))
    console.print(f"{machine.look().describe()}; here {threads}; {clock} clock; median of {setting.repeats} repeats")


if __name__ == "__main__":
    tyro.cli(main)
