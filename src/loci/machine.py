"""The machine that Loci runs on: cores, memory, the speed of matrix products, and how many threads serve best.

Measures, describes and sets; knows nothing of models or training.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from loci import __version__
from loci.model.matmul import BY_ONEDNN, matmul

#: Fewer threads are taken when they come this near to the best: they leave a core to others.
NEAR_ENOUGH = 0.95


@dataclass(frozen=True)
class Machine:
    """What there is, as found without measuring."""

    cpu: str
    cores: int
    """Cores that this process may use."""
    memory_gb: float
    free_gb: float
    load: float
    """Processes that wanted a core, on average over the last minute."""
    blas: str
    simd: str
    threads: int
    gpus: tuple[str, ...]
    system: str
    python: str
    torch: str
    loci: str

    def describe(self) -> str:
        """One line, for the head of a table of figures."""
        gpus = f", {', '.join(self.gpus)}" if self.gpus else ""
        cores = f"{self.cores} core{'s' if self.cores > 1 else ''}"
        return (
            f"{self.cpu}, {cores} ({self.simd}), {self.memory_gb:.0f} GB{gpus}; "
            f"{self.system}, Python {self.python}, PyTorch {self.torch} with {self.blas}, threads: {self.threads}"
        )


def look() -> Machine:
    """Describe this machine."""
    total, free = memory_gb()
    gpus = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        gpus.append("Apple MPS")
    return Machine(
        cpu=_cpu_name(),
        cores=usable_cores(),
        memory_gb=total,
        free_gb=free,
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan"),
        blas=_blas_name(),
        simd=torch.backends.cpu.get_cpu_capability(),
        threads=torch.get_num_threads(),
        gpus=tuple(gpus),
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        torch=torch.__version__,
        loci=__version__,
    )


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_gb() -> tuple[float, float]:
    """Memory there is, and memory still free for use."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        sizes = {line.split(":")[0]: int(line.split()[1]) / 1e6 for line in lines if line.split()[1].isdigit()}
        return sizes["MemTotal"], sizes["MemAvailable"]
    except (OSError, KeyError, IndexError):
        if not hasattr(os, "sysconf"):  # Windows
            return float("nan"), float("nan")
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9, float("nan")


def peak_memory_mb() -> float:
    """The most memory that this process has held so far; not known everywhere."""
    try:
        import resource
    except ImportError:
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


def _cpu_name() -> str:
    with contextlib.suppress(OSError):
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found.group(1).strip()
    return platform.processor() or platform.machine()


def _blas_name() -> str:
    found = re.search(r"BLAS_INFO=(\w+)", torch.__config__.show())
    name = found.group(1) if found else "unknown BLAS"
    return {"mkl": "MKL", "open": "OpenBLAS", "accelerate": "Accelerate"}.get(name, name)


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """Compute with `count` threads; as many as before afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def denormals_flushed() -> Iterator[bool]:
    """Take numbers too small for a normal fp32 (below 1.2e-38) as zero; afterwards as before. True when that works.

    They carry nothing, but the processor computes with them a hundred times slower: a model whose attention grows sharp
    soon has many of them in its backward pass. Threads take the setting from the one that starts them, so the first
    parallel work of a process should be done within.
    """
    before = not bool(torch.tensor(1e-40) * 1.0)
    able = torch.set_flush_denormal(True)
    try:
        yield able
    finally:
        torch.set_flush_denormal(before)


def gemm_gflops(size: int = 2048, *, seconds: float = 0.5) -> list[float]:
    """Rates of the product of two square fp32 matrices, one for each repeat within `seconds` (at least three)."""
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(size, size, generator=generator) for _ in range(2))
    out = torch.empty(size, size)  # MKL's rate without the time of new memory: what others are held against

    def multiply() -> None:
        matmul(a, b) if BY_ONEDNN else torch.mm(a, b, out=out)

    multiply()
    return [2 * size**3 / spent / 1e9 for spent in _repeat(multiply, seconds)]


@dataclass(frozen=True)
class Probe:
    """Seconds of one and the same work with different numbers of threads, and the number that serves best."""

    seconds: tuple[tuple[int, float], ...]
    best: int

    def __str__(self) -> str:
        times = ", ".join(f"{count}: {1000 * spent:.1f} ms" for count, spent in self.seconds)
        return f"{self.best} thread{'s' if self.best > 1 else ''} ({times})"


def probe_threads(candidates: Sequence[int] | None = None, *, seconds: float = 0.15) -> Probe:
    """Time a small layer, forward and backward, with each number of threads.

    A busy machine can make two threads slower than one: each product then waits for the thread that lost its core.
    """
    cores = usable_cores()
    counts = candidates or sorted({1, max(1, cores // 2), cores})
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1024, 256, generator=generator)
    up = torch.randn(256, 1024, generator=generator, requires_grad=True)

    def work() -> None:
        torch.autograd.grad(torch.nn.functional.gelu(x @ up).sum(), up)

    found = []
    for count in counts:
        with threads(count), denormals_flushed():  # training will use the threads that start here
            work()
            found.append((count, statistics.median(_repeat(work, seconds))))
    return Probe(tuple(found), best_of(found))


def best_of(found: Sequence[tuple[int, float]]) -> int:
    """The fewest threads that are nearly as fast as the fastest."""
    fastest = min(spent for _, spent in found)
    return min(count for count, spent in found if fastest >= NEAR_ENOUGH * spent)


def _repeat(work: Any, seconds: float) -> list[float]:
    spent: list[float] = []
    while len(spent) < 3 or sum(spent) < seconds:
        begin = time.perf_counter()
        work()
        spent.append(time.perf_counter() - begin)
    return spent


@dataclass(frozen=True)
class Extra:
    """An optional part of Loci, and which of its packages are missing here."""

    name: str
    purpose: str
    missing: tuple[str, ...]

    @property
    def remedy(self) -> str:
        """How to get it."""
        return f"pip install 'loci-lab[{self.name}]'"


PURPOSES = {
    "lab": "formulas of the attention lab",
    "web": "the web lab",
    "tensorboard": "curves of loci train in TensorBoard",
    "wandb": "curves of loci train in Weights & Biases",
    "hf": "exported models in transformers, tokens of imported ones, another generator in loci bench",
    "onnx": "loci export --to onnx",
    "lens": "exported models in TransformerLens",
    "eval": "a run in lm-evaluation-harness",
    "parquet": "rows as Parquet",
    "notebooks": "the notebooks",
}


def extras() -> list[Extra]:
    """The optional parts that the installed package names, but those for its own development."""
    wanted: dict[str, list[str]] = {}
    for requirement in metadata.requires("loci-lab") or ():
        found = re.match(r"""([\w.-]+).*extra == ['"]([\w-]+)['"]""", requirement)
        if found and found.group(2) not in ("all", "dev", "docs"):
            wanted.setdefault(found.group(2), []).append(found.group(1))
    return [Extra(name, PURPOSES.get(name, ""), tuple(filter(_missing, parts))) for name, parts in wanted.items()]


def _missing(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return True
    return False
