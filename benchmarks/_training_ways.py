"""The ways of a training step, each in a process of its own, measured in turns.

A process of its own has its own peak memory, and the published step keeps the C library's settings as they come. Knows
what a turn is and what is told of it; nothing of ratios or tables.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import torch

from loci import machine
from loci.data.example import StepBatches
from loci.model import GPT, GPTConfig
from loci.model.cost import model_cost
from loci.recipes.course import PARTS
from loci.text.corpus import Corpus
from loci.text.world import WorldSpec, tellings
from loci.training.device import Placement, has_bf16
from loci.training.memory import keep_freed_memory
from loci.training.optim import make_optimisers
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.prefetch import Prefetch
from loci.training.sources import TrainingData, make_stream
from loci.training.step import step

COURSE = Path(__file__).resolve().parents[2] / "shared" / "data" / "course" / "wiki.txt"
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
        """Useful characters per second."""
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


def flops(config: GPTConfig, rows: int, width: int, targets: int) -> float:
    """Of forward and backward; the head only on the positions it is applied to."""
    cost = model_cost(config, width, rows)
    head = next(layer for layer in cost.layers if layer.name == "head")
    unused = 1 - targets / (rows * width)
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
        work = flops(self.config, x.shape[0], x.shape[1], x.numel())
        return Measured(laps.seconds, int((x != 0).sum()), x.numel(), work)


class Loci:
    """Loci's step, with the functions of the training loop itself."""

    def __init__(
        self,
        setting: Setting,
        *,
        dropout: float = 0.0,
        optimiser: Literal["adamw", "muon"] = "adamw",
        in_order: bool = False,
        bf16: bool = False,
    ):
        """`in_order`: lines in the order of the file, as `loci course` trains, each batch in parts of like length."""
        self.placement = Placement(bf16=bf16)
        keep_freed_memory()
        torch.set_flush_denormal(True)  # as the training loop does; this process does nothing else
        data = TrainingData(corpus())
        pool = setting.repeats * setting.steps
        mixture = (MixtureComponent("corruption-2024"),)
        self.stage = Stage("pretrain", mixture, steps=1, batch_size=setting.batch, pool=pool, optimiser=optimiser)
        if in_order:
            self.stage = replace(self.stage, pool=1, shuffle=False, accumulate=PARTS)
        self.config = GPTConfig(len(data.vocab), embd_pdrop=dropout, attn_pdrop=dropout, resid_pdrop=dropout)
        self.model = GPT(self.config, generator=torch.Generator().manual_seed(0)).train()
        self.optimisers = make_optimisers(self.model, self.stage)
        stream = make_stream(self.stage, 0, Recipe("benchmark", {}, (self.stage,)), data, BLOCK)
        by_width = sorted(range(pool), key=lambda at: max(part.x.shape[1] for part in stream.parts(at).parts))
        self.order = [
            by_width[at * setting.repeats + index] for index in range(setting.repeats) for at in range(setting.steps)
        ]
        self.batches = Prefetch(lambda at: stream.parts(self.order[at % pool], self.stage.accumulate))
        self.setting = setting

    def repeat(self, index: int) -> Measured:
        """One turn."""
        laps = Laps(self.setting.now)
        characters = positions = 0
        work_flops = 0.0
        for at in range(index * self.setting.steps, (index + 1) * self.setting.steps):
            work: StepBatches = self.batches.get(at)
            laps.done("data")
            step(self.model, work, self.stage, self.optimisers, placement=self.placement, done=laps.done)
            characters += work.characters
            for part in work.parts:
                positions += part.x.size
                rows, width = part.x.shape
                work_flops += flops(self.config, rows, width, part.n_targets)
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
    "loci course": lambda setting: Loci(setting, dropout=0.1, in_order=True),
    "Loci, Muon": lambda setting: Loci(setting, optimiser="muon"),
}
NARROW = "loci course, bf16"
if has_bf16("cpu"):  # elsewhere such products are emulated
    WAYS[NARROW] = lambda setting: Loci(setting, dropout=0.1, in_order=True, bf16=True)


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
    context = multiprocessing.get_context("spawn")
    pipes, processes = {}, []
    for name in names:
        pipes[name], theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, name, setting), daemon=True)
        with _environment(environment):
            process.start()
        theirs.close()  # the process has its own end: if it dies, waiting for it ends with an error
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
    return found, peaks


@contextlib.contextmanager
def _environment(changes: Mapping[str, str]) -> Iterator[None]:
    """For processes started within; what this one has loaded does not look at it again."""
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        for name in changes:
            if name in before:
                os.environ[name] = before[name]
            else:
                del os.environ[name]
