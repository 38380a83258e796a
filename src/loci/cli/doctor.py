"""Look at this machine: cores, threads, the speed of matrix products, memory, versions, missing parts, and what to do.

examples:
  loci doctor
  loci doctor --json
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loci.machine import Extra, Machine, Probe

LITTLE_MEMORY_GB = 2.0


def doctor(json: bool = False) -> None:
    """Describe and measure the machine; takes about two seconds.

    Args:
        json: Print JSON instead of a table.
    """
    import statistics

    from loci import machine
    from loci.cli.output import print_json
    from loci.training.device import choose, has_bf16, plan
    from loci.training.memory import keep_freed_memory

    found, probe, extras = machine.look(), machine.probe_threads(), machine.extras()
    with machine.threads(probe.best):
        rates = machine.gemm_gflops()
    keeps = keep_freed_memory()
    with machine.denormals_flushed() as flushes:
        pass  # only to see whether the processor can
    rate_summary = (("median", statistics.median), ("low", min), ("high", max))
    advice = advise(found, probe, extras, keeps_memory=keeps, flushes=flushes)
    result: dict[str, Any] = {
        **vars(found),
        "device": str(choose()),
        "training": plan(choose()),
        "bf16": [kind for kind in ("cpu", "cuda") if has_bf16(kind)],
        "probe_ms": {count: round(1000 * spent, 3) for count, spent in probe.seconds},
        "best_threads": probe.best,
        "gemm_gflops": {name: round(of(rates), 1) for name, of in rate_summary},
        "keeps_freed_memory": keeps,
        "flushes_denormals": flushes,
        "extras": {extra.name: list(extra.missing) for extra in extras},
        "advice": advice,
    }
    if json:
        print_json(result)
    else:
        _print(found, probe, extras, result)


def advise(found: Machine, probe: Probe, extras: list[Extra], *, keeps_memory: bool, flushes: bool) -> list[str]:
    """What to do, one line each; nothing when all is well."""
    lines = []
    if found.load > found.cores + 0.5:
        lines.append(
            f"{found.load:.1f} processes share {found.cores} cores: figures measured now are too low; "
            "stop what else runs before a long training"
        )
    if probe.best < found.threads:
        lines.append(f"{probe.best} threads are faster than {found.threads} now: loci train chooses them by itself")
    if found.threads < found.cores and probe.best > found.threads:
        used = f"only {found.threads} of {found.cores} cores are used"
        lines.append(f"{used}: unset OMP_NUM_THREADS, or loci train --threads")
    if found.free_gb < LITTLE_MEMORY_GB:
        free = f"{found.free_gb:.1f} GB of memory are free"
        lines.append(f"{free}: train with --set STAGE.accumulate=4, or a small batch")
    if not keeps_memory:
        lines.append("the C library gives freed memory back at once: training is about a sixth slower than with glibc")
    if not flushes:
        lines.append("numbers below 1e-38 are not taken as zero here: models whose attention grows sharp train slower")
    for extra in extras:
        if extra.missing:
            purpose = f" ({extra.purpose})" if extra.purpose else ""
            lines.append(f"{', '.join(extra.missing)} missing{purpose}: {extra.remedy}")
    return lines


def _print(found: Machine, probe: Probe, extras: list[Extra], result: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    rate = result["gemm_gflops"]
    rows = {
        "processor": f"{found.cpu}, {found.cores} cores for Loci, {found.simd}",
        "load": f"{found.load:.1f} processes wanting a core",
        "memory": f"{found.memory_gb:.1f} GB, {found.free_gb:.1f} GB free",
        "training": f"{result['training']}; bf16 in hardware: {', '.join(result['bf16']) or 'no'}",
        "threads": f"{found.threads} set; best now: {probe}",
        "products": f"{rate['median']:.0f} GFLOP/s in fp32 ({rate['low']:.0f}–{rate['high']:.0f}), {found.blas}",
        "versions": f"loci {found.loci}, Python {found.python}, PyTorch {found.torch}, {found.system}",
        "extras": ", ".join(f"{extra.name} {'–' if extra.missing else '✓'}" for extra in extras),
    }
    for name, text in rows.items():
        table.add_row(name, text)
    console = Console(highlight=False, markup=False)
    console.print(table)
    for line in result["advice"] or ["nothing to do"]:
        console.print(f"• {line}", soft_wrap=True)
