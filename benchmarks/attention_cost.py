"""How time and memory grow with the length of the text: measured, next to the formulas of `loci cost`.

Each point is measured in a process of its own, so that its peak memory is its own, and in processor time, so that other
work on the machine does not count. Two curves a variant: the whole trunk, and mixing only (the perceptrons taken out),
since at short lengths the perceptrons hide the growth of the attention. Exponents are fitted to the upper lengths on
log–log axes, measured and formula alike; the formula counts matrix products and the bytes that autograd keeps.

  python benchmarks/attention_cost.py                         the table, two or three minutes
  python benchmarks/attention_cost.py --out cost.html         and the figure
  python benchmarks/attention_cost.py --quick                 three lengths, for a look
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import resource
import sys
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import torch
import tyro

from loci.errors import LociError
from loci.model import GPT, VARIANTS, GPTConfig
from loci.model.attention.dot import attend_cost
from loci.model.block import mlp_cost
from loci.model.cost import model_cost
from loci.model.costing import Cost

LENGTHS = (64, 128, 256, 512, 1024, 2048)
QUICK = (256, 512, 1024)
#: Narrow, so that what grows with ℓ² shows within these lengths.
BASE = GPTConfig(
    vocab_size=2,
    n_layer=4,
    n_head=4,
    n_embd=64,
    bottleneck_dim=64,
    local_window=8,  # so that our perceiver has its summary at every length that is fitted, and no step between them
    embd_pdrop=0.0,
    attn_pdrop=0.0,
    resid_pdrop=0.0,
)
ROWS = {
    "vanilla": BASE,
    "vanilla, dropout": BASE.replace(attn_pdrop=0.1),  # as published: no fused kernel, the weights are kept
    "synthesizer": VARIANTS["synthesizer"].apply(BASE),
    "perceiver-course": VARIANTS["perceiver-course"].apply(BASE),
    "perceiver": VARIANTS["perceiver"].apply(BASE),
}
#: Sequences at once; all figures are for one. The cheap ones need many, so that their work outweighs what a call costs.
BATCHES = {"vanilla": 2, "perceiver-course": 8, "perceiver": 8}
PARTS = ("whole", "mixing")
MEASURES = ("forward s", "backward s", "kept bytes", "peak bytes")
#: Keys that PyTorch's fused kernel for CPUs takes at a time.
TILE = 512
#: How far a fitted exponent may lie from the formula's and still count as the same growth.
TOLERANCE = 0.25


@dataclass(frozen=True)
class Job:
    """One point to measure."""

    row: str
    part: str
    length: int
    what: str
    threads: int
    seconds: float

    @property
    def batch(self) -> int:
        """Sequences at once."""
        return BATCHES.get(self.row, 1)


def in_own_process(job: Job) -> dict[str, float]:
    """Forked from this thread and not by a pool: elsewhere malloc has no heap that could be held."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=measure, args=(job, sender))
    process.start()
    sender.close()
    try:
        figures: dict[str, float] = receiver.recv()
    except EOFError:
        raise LociError(
            f"measuring {job.row} at {job.length} characters failed", remedy="is there memory enough?"
        ) from None
    process.join()
    return figures


def measure(job: Job, sender: Connection) -> None:
    torch.set_num_threads(job.threads)
    figures = measure_time(job) if job.what == "time" else measure_memory(job)
    sender.send({name: value / job.batch for name, value in figures.items()})


def measure_time(job: Job) -> dict[str, float]:
    hold_memory()
    trunk, x = build(job, length=job.length)
    forward: list[float] = []
    backward: list[float] = []
    until = time.process_time() + job.seconds
    while time.process_time() < until or len(forward) < 4:
        start = time.process_time()
        out = trunk(x)[0]
        middle = time.process_time()
        out.backward(torch.ones_like(out))
        forward.append(middle - start)
        backward.append(time.process_time() - middle)
    return {"forward s": min(forward), "backward s": min(backward)}  # what is above the least is disturbance


def measure_memory(job: Job) -> dict[str, float]:
    give_back_memory()
    trunk, x = build(job, length=64)
    trunk(x)[0].sum().backward()  # starts the threads and fills what is allocated once
    trunk, x = build(job, length=job.length)
    before = resident_bytes()
    trunk(x)[0].sum().backward()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) - before
    return {"kept bytes": kept_bytes(trunk, x), "peak bytes": peak}


def give_back_memory() -> None:
    """Larger buffers come from the system and go back to it at once: what the process holds is what is in use."""
    _mallopt(M_MMAP_THRESHOLD, 1 << 16)


def hold_memory() -> None:
    """Buffers are reused: fetching pages from the system again and again would be a good part of the time."""
    _mallopt(M_MMAP_MAX, 0)
    _mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -3, -4


def _mallopt(option: int, value: int) -> None:
    """glibc's switch; elsewhere the figures are a little rougher."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(option, value)


def build(job: Job, *, length: int) -> tuple[torch.nn.Module, torch.Tensor]:
    config = ROWS[job.row].replace(block_size=length + 1)
    generator = torch.Generator().manual_seed(0)
    trunk = GPT(config, generator=generator).trunk.train()
    if job.part == "mixing":
        for module in trunk.modules():
            if hasattr(module, "mlp"):
                module.mlp = torch.nn.Identity()
    return trunk, torch.randn(job.batch, length, config.n_embd, generator=generator, requires_grad=True)


def resident_bytes() -> int:
    """What the process holds now; where the system does not say, what it held at most."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def kept_bytes(trunk: torch.nn.Module, x: torch.Tensor) -> int:
    """What autograd keeps between the passes, each storage once, parameters left out."""
    own = {tensor.untyped_storage().data_ptr() for tensor in (*trunk.parameters(), *trunk.buffers())}
    kept: dict[int, torch.UntypedStorage] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        out = trunk(x)[0]
    del out
    return sum(storage.nbytes() for storage in kept.values())


def formula(row: str, part: str, length: int) -> dict[str, float]:
    """The same four measures from the formulas: products for times, kept bytes for both memories."""
    config = ROWS[row].replace(block_size=length + 1)
    layers = [layer for layer in model_cost(config, length).layers if layer.name not in ("embedding", "head")]
    flops, kept = sum(layer.forward_flops for layer in layers), sum(layer.activation_bytes for layer in layers)
    if part == "mixing":
        perceptrons = [mlp_cost(config, length)] * config.n_layer
        if config.trunk != "plain":
            perceptrons[1:] = [mlp_cost(config, min(length, config.bottleneck_dim))] * (config.n_layer - 1)
        gone = sum(perceptrons, Cost())
        flops, kept = flops - gone.flops, kept - gone.kept
    if row == "vanilla":
        pairs = config.n_layer * attend_cost(config, length, length).flops
        flops -= round(pairs * (1 - visited_share(length)))
    return {"forward s": flops, "backward s": 2 * flops, "kept bytes": kept, "peak bytes": kept}


def visited_share(length: int) -> float:
    """The part of the ℓ×ℓ pairs that the fused kernel works on: it skips tiles of keys that lie in the future.

    All of them up to one tile, half of them in the long run: between 512 and 2048 it grows with ℓ^1.7 and not with ℓ².
    """
    return sum(min(-(-(place + 1) // TILE) * TILE, length) for place in range(length)) / length**2


def exponent(lengths: list[int], values: list[float]) -> float:
    """Slope of the line through the points on log–log axes."""
    return float(np.polyfit(np.log(lengths), np.log(np.maximum(values, 1e-12)), 1)[0])


def main(out: Path | None = None, quick: bool = False, threads: int = 1, seconds: float = 0.15, rounds: int = 3) -> int:
    """Measure, fit, print.

    Args:
        out: Where to write the figure, an HTML file.
        quick: Only three lengths.
        threads: Threads of each measurement; their times add up.
        seconds: For how long each point is repeated in a round; at least four times.
        rounds: How often all points are gone through; the least time of a point counts.
    """
    lengths = QUICK if quick else LENGTHS
    points = [(row, part, length) for row in ROWS for part in PARTS for length in lengths]
    # A machine's speed drifts over minutes: neighbours on a curve must not be measured in different weather only once.
    jobs = [Job(*point, "time", threads, seconds) for _ in range(rounds) for point in points]
    jobs += [Job(*point, "memory", threads, seconds) for point in points]
    measured: dict[tuple[str, str, int], dict[str, float]] = {point: {} for point in points}
    for job in jobs:
        if sys.stderr.isatty():
            print(f"\r{job.row}, {job.part}, {job.length:<10}", end="", file=sys.stderr, flush=True)
        found = measured[job.row, job.part, job.length]
        for name, value in in_own_process(job).items():
            found[name] = min(value, found.get(name, value))
    if sys.stderr.isatty():
        print("\r" + " " * 60, end="\r", file=sys.stderr)
    curves = [(row, part) for row in ROWS for part in PARTS]
    results = {curve: [measured[*curve, length] for length in lengths] for curve in curves}
    formulas = {curve: [formula(*curve, length) for length in lengths] for curve in curves}
    print_tables(list(lengths), results, formulas, threads)
    if out is not None:
        from _attention_cost_figure import write_figure

        write_figure(out, list(lengths), results, formulas)
        print(f"figure: {out}")
    return 0


def print_tables(
    lengths: list[int],
    results: dict[tuple[str, str], list[dict[str, float]]],
    formulas: dict[tuple[str, str], list[dict[str, float]]],
    threads: int,
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    upper = lengths[-3:]
    title = f"one sequence, {BASE.n_layer} layers, width {BASE.n_embd}, {threads} thread{'s' * (threads > 1)}"
    times = Table(title=f"forward + backward, processor ms: {title}", box=box.SIMPLE_HEAD, title_justify="left")
    growth = Table(
        title=f"exponent of growth, ℓ = {upper[0]} … {upper[-1]}: measured (formula); ≠ where {TOLERANCE} apart",
        box=box.SIMPLE_HEAD,
        title_justify="left",
    )
    for table in (times, growth):
        table.add_column("variant", no_wrap=True)
        table.add_column("part", no_wrap=True)
    for length in lengths:
        times.add_column(str(length), justify="right", no_wrap=True)
    times.add_column("× vanilla", justify="right", no_wrap=True)
    times.add_column("peak MB", justify="right", no_wrap=True)
    for measure_name in ("forward", "backward", "kept memory", "peak memory"):
        growth.add_column(measure_name, justify="right", no_wrap=True)

    def step(figures: dict[str, float]) -> float:
        return figures["forward s"] + figures["backward s"]

    for (row, part), figures in results.items():
        ratio = step(figures[-1]) / step(results["vanilla", part][-1])
        spans = [f"{1000 * step(point):.1f}" for point in figures]
        times.add_row(row, part, *spans, f"{ratio:.2f}", f"{figures[-1]['peak bytes'] / 1e6:.0f}")
        cells = []
        for name in MEASURES:
            got, said = (
                exponent(upper, [point[name] for point in table[row, part][-3:]]) for table in (results, formulas)
            )
            cells.append(f"{'≠ ' if abs(got - said) > TOLERANCE else ''}{got:.2f} ({said:.2f})")
        growth.add_row(row, part, *cells)
    console.print(times)
    console.print(growth)


if __name__ == "__main__":
    sys.exit(tyro.cli(main, description=__doc__))
