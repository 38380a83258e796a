"""Loci's training step beside the published one: the same model size, the same text, one run on one machine.

The published step (`_published.py`) pads every example to 128 characters, so that more than half of its work is for
nothing. Loci's step sorts a pool of examples by length, makes batches ahead in a thread, and reuses its buffers. Loci's
own recipes train without dropout, which is the first row; with dropout as published stands beside it.

Each way runs in a process of its own (its peak memory is its own, and the published one has the C library's settings as
they come); they take turns, so that a disturbance hits all of them. Every repeat of Loci's step covers short and long
batches alike. FLOPs are those of `loci cost`: matrix products with whole attention squares, the head where it is used;
they are held against the product of two square matrices of 2048, measured in the same turns. On a processor with
AVX-512 that share is measured once more with AVX2 alone, the kind of processor the target was set on.

    python benchmarks/training.py [--quick] [--json] [--repeats 6] [--threads N] [--clock processor]
"""

from __future__ import annotations

import json as json_format
import multiprocessing
import os
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import torch
import tyro
from rich.console import Console
from rich.table import Table

from loci import machine
from loci.data.example import StepBatches
from loci.model import GPT, GPTConfig
from loci.model.cost import model_cost
from loci.text.corpus import Corpus
from loci.text.world import WorldSpec, tellings
from loci.training.memory import keep_freed_memory
from loci.training.optim import make_optimisers
from loci.training.plan import Ingredient, Recipe, Stage
from loci.training.prefetch import Prefetch
from loci.training.sources import TrainingData, make_stream
from loci.training.step import step

COURSE = Path(__file__).resolve().parents[2] / "shared" / "data" / "course" / "wiki.txt"
#: Settings of the three libraries that compute, read when a process first uses them.
AVX2_ALONE = {"MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
PHASES = ("data", "forward", "backward", "optimiser")
BLOCK = 128
Clock = Callable[[], float]


@dataclass(frozen=True)
class Setting:
    """What every process must know."""

    repeats: int
    batch: int
    steps: int
    """Steps of Loci in one repeat."""
    threads: int
    clock: Literal["wall", "processor"]
    gemm: int

    @property
    def now(self) -> Clock:
        """The clock that all ways are timed with."""
        return time.perf_counter if self.clock == "wall" else time.process_time


@dataclass
class Measured:
    """One repeat of one way."""

    seconds: dict[str, float]
    characters: int
    positions: int
    flops: float

    @property
    def rate(self) -> float:
        """Useful characters a second."""
        return self.characters / sum(self.seconds.values())

    @property
    def gflops(self) -> float:
        """Of the forward and backward passes."""
        return self.flops / (self.seconds["forward"] + self.seconds["backward"]) / 1e9


class Laps:
    """Time by phase."""

    def __init__(self, now: Clock):
        self.now, self.seconds = now, dict.fromkeys(PHASES, 0.0)
        self.at = now()

    def done(self, phase: str) -> None:
        """A phase has ended."""
        moment = self.now()
        self.seconds[phase] += moment - self.at
        self.at = moment


def corpus() -> Corpus:
    """The course's text where it is, else that of a world."""
    if COURSE.is_file():
        return Corpus.read(COURSE)
    return Corpus.from_lines(line.text for _, lines in tellings(WorldSpec(people=2000)) for line in lines)


def flops(config: GPTConfig, rows: int, width: int, counted: int) -> float:
    """Of forward and backward; the head only on the positions it is applied to."""
    cost = model_cost(config, width, rows)
    head = next(layer for layer in cost.layers if layer.name == "head")
    unused = 1 - counted / (rows * width)
    whole, spared = (part.forward_flops + part.backward_flops for part in (cost.total, head))
    return whole - unused * spared


class Published:
    """The published step."""

    def __init__(self, setting: Setting):
        import _published as published

        text = corpus()
        self.published, self.setting = published, setting
        self.lines = [line.text for line in text if line.text]
        self.ids = {symbol: index for index, symbol in enumerate(text.vocab.symbols)}
        torch.manual_seed(0)
        self.model = published.PublishedGPT(len(self.ids)).train()
        self.config = GPTConfig(len(self.ids))
        self.optimiser = published.optimiser_of(self.model)
        self.rng = random.Random(0)

    def repeat(self, index: int) -> Measured:
        """One turn."""
        start = index * self.setting.batch % (len(self.lines) - self.setting.batch)
        laps = Laps(self.setting.now)
        x, y = self.published.batch_of(self.lines[start : start + self.setting.batch], self.ids, BLOCK, self.rng)
        laps.done("data")
        loss = self.model(x, y)
        laps.done("forward")
        self.model.zero_grad()
        loss.backward()
        laps.done("backward")
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        loss.item()
        laps.done("optimiser")
        return Measured(laps.seconds, int((x != 0).sum()), x.numel(), flops(self.config, *x.shape, x.numel()))


class Loci:
    """Loci's step, with the functions of the training loop itself."""

    def __init__(self, setting: Setting, *, dropout: float = 0.0, optimiser: Literal["adamw", "muon"] = "adamw"):
        keep_freed_memory()
        torch.set_flush_denormal(True)  # as the training loop does; this process does nothing else
        data = TrainingData(corpus())
        pool = setting.repeats * setting.steps
        mixture = (Ingredient("corruption-2024"),)
        self.stage = Stage("pretrain", mixture, steps=1, batch_size=setting.batch, pool=pool, optimiser=optimiser)
        drop = {"embd_pdrop": dropout, "attn_pdrop": dropout, "resid_pdrop": dropout}
        self.config = GPTConfig(len(data.vocab), **drop)
        self.model = GPT(self.config, generator=torch.Generator().manual_seed(0)).train()
        self.optimisers = make_optimisers(self.model, self.stage)
        stream = make_stream(self.stage, 0, Recipe("benchmark", {}, (self.stage,)), data, BLOCK)
        by_width = sorted(range(pool), key=lambda at: stream.parts(at).parts[0].x.shape[1])
        self.order = [
            by_width[at * setting.repeats + index] for index in range(setting.repeats) for at in range(setting.steps)
        ]
        self.batches = Prefetch(lambda at: stream.parts(self.order[at % pool]))
        self.setting = setting

    def repeat(self, index: int) -> Measured:
        """One turn."""
        laps = Laps(self.setting.now)
        characters = positions = 0
        work_flops = 0.0
        for at in range(index * self.setting.steps, (index + 1) * self.setting.steps):
            work: StepBatches = self.batches.get(at)
            laps.done("data")
            step(self.model, work, self.stage, self.optimisers, done=laps.done)
            rows, width = work.parts[0].x.shape
            characters, positions = characters + work.characters, positions + rows * width
            work_flops += flops(self.config, rows, width, work.counted)
            laps.at = self.setting.now()
        return Measured(laps.seconds, characters, positions, work_flops)


class Gemm:
    """The product of two square matrices."""

    def __init__(self, setting: Setting):
        generator = torch.Generator().manual_seed(0)
        self.a, self.b = (torch.randn(setting.gemm, setting.gemm, generator=generator) for _ in range(2))
        self.out, self.setting = torch.empty_like(self.a), setting

    def repeat(self, index: int) -> Measured:
        """One turn."""
        spent = []
        for _ in range(5):
            begin = self.setting.now()
            torch.mm(self.a, self.b, out=self.out)
            spent.append(self.setting.now() - begin)
        seconds = {"data": 0.0, "forward": statistics.median(spent), "backward": 0.0, "optimiser": 0.0}
        return Measured(seconds, 0, 0, 2.0 * self.setting.gemm**3)


WAYS: dict[str, Callable[[Setting], Any]] = {
    "GEMM": Gemm,
    "published": Published,
    "Loci": Loci,
    "Loci, dropout": lambda setting: Loci(setting, dropout=0.1),
    "Loci, Muon": lambda setting: Loci(setting, optimiser="muon"),
}


def serve(pipe: Any, name: str, setting: Setting) -> None:
    """A process of one way: waits for a turn, takes it, tells."""
    torch.set_num_threads(setting.threads)
    way = WAYS[name](setting)
    before = machine.peak_memory_mb()
    way.repeat(0)  # warm: threads started, buffers made
    pipe.send(None)
    while (index := pipe.recv()) is not None:
        pipe.send((way.repeat(index), machine.peak_memory_mb() - before))
    if isinstance(way, Loci):
        way.batches.__exit__(None, None, None)


def measure(
    setting: Setting, names: Sequence[str] = tuple(WAYS), environment: Mapping[str, str] = MappingProxyType({})
) -> tuple[dict[str, list[Measured]], dict[str, float]]:
    """The ways, `repeats` times in turns; and each way's peak memory in MB beyond what it began with."""
    os.environ.update(environment)  # for the processes below; what this one has loaded does not look at it again
    context = multiprocessing.get_context("spawn")
    pipes, processes = {}, []
    for name in names:
        pipes[name], theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, name, setting), daemon=True)
        process.start()
        processes.append(process)
        pipes[name].recv()  # one after the other, so that they do not disturb each other's start
    found: dict[str, list[Measured]] = {name: [] for name in names}
    peaks: dict[str, float] = {}
    for index in range(setting.repeats):
        for name, pipe in pipes.items():
            pipe.send(index)
            measured, peaks[name] = pipe.recv()
            found[name].append(measured)
    for pipe, process in zip(pipes.values(), processes, strict=True):
        pipe.send(None)
        process.join()
    for name in environment:
        del os.environ[name]
    return found, peaks


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
    ]


def details_of(found: dict[str, list[Measured]], peaks: dict[str, float]) -> list[dict[str, Any]]:
    """What each way did, in the median of the repeats."""
    details = []
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
