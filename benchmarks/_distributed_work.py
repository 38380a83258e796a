"""The pieces of work that `distributed.py` measures, each in a process (or several) of its own.

python _distributed_work.py '["draw", "world", 2, 64]'
"""

from __future__ import annotations

import hashlib
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MODEL = {"n_layer": 4, "n_head": 8, "n_embd": 256, "block_size": 128}
LARGE = {"n_layer": 8, "n_head": 8, "n_embd": 640, "block_size": 128}
"""39 M parameters: enough that a process's memory shows who keeps them."""
QUIET = {"embd_pdrop": 0.0, "attn_pdrop": 0.0, "resid_pdrop": 0.0}
SMALL = {"n_layer": 1, "n_head": 2, "n_embd": 64, "block_size": 128}
RESULT = "RESULT "


def recipe(model: dict[str, Any], steps: int, batch: int, pool: int) -> Any:
    """Span corruption over the corpus alone."""
    from loci.training.plan import MixtureComponent, Recipe, Stage

    stage = Stage("pretrain", (MixtureComponent("corruption-2024"),), steps=steps, batch_size=batch, pool=pool, lr=1e-3)
    return Recipe("benchmark", {**model, **QUIET}, (stage,), seed=1)


def engine(world: str, how: str, steps: int, batch: int, large: bool = False) -> dict[str, Any]:
    """Train in the group that torchrun started; seconds of the steps after the first few."""
    import torch
    import torch.distributed as dist

    from loci.machine import peak_memory_mb
    from loci.model import GPT, GPTConfig
    from loci.training.distributed import Group
    from loci.training.optim import make_optimisers
    from loci.training.parallel import Engine, local
    from loci.training.prefetch import Prefetch
    from loci.training.sources import TrainingData, make_stream
    from loci.training.step import backward, step

    torch.set_num_threads(1)
    plan = recipe(LARGE if large else MODEL, steps, batch, 16)
    data = TrainingData.read(corpus=Path(world) / "wiki.txt")
    with Group.join() as group:
        model = GPT(
            GPTConfig.from_dict({**plan.model, "vocab_size": len(data.vocab)}),
            generator=torch.Generator().manual_seed(1),
        )
        made = Engine(group)
        if how in ("ddp", "fsdp"):
            made.wrap(model, torch.device("cpu"), how)  # type: ignore[arg-type]
        stage = plan.stages[0]
        optimisers = make_optimisers(model, stage)
        stream = make_stream(stage, 0, plan, data, 128, rank=group.rank, world=group.world)
        seconds, characters = [], 0
        with Prefetch(stream.parts) as batches:
            for at in range(steps):
                work = batches.get(at)
                begun = time.perf_counter()
                if how == "one message":
                    _, told = backward(model, work, stage, engine=made)
                    grads = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
                    flat = torch.cat([grad.flatten() for grad in grads])
                    dist.all_reduce(flat)
                    for grad, summed in zip(grads, torch.split(flat, [grad.numel() for grad in grads]), strict=True):
                        grad.copy_(summed.view_as(grad))
                    torch.nn.utils.clip_grad_norm_(model.parameters(), stage.clip)
                    for optimiser in optimisers:
                        optimiser.step()
                else:
                    told = step(model, work, stage, optimisers, engine=made).characters
                seconds.append(time.perf_counter() - begun)
                characters += told
        peak, message = peak_memory_mb(), []
        if group.world > 1:
            flat = torch.zeros(model.n_parameters())
            for _ in range(20):
                group.wait()
                begun = time.perf_counter()
                dist.all_reduce(flat)
                message.append(time.perf_counter() - begun)
        held: list[torch.Tensor] = list(model.parameters())
        held += [parameter.grad for parameter in held if parameter.grad is not None]
        held += [
            one for optimiser in optimisers for state in optimiser.state.values() for one in state.values() if one.ndim
        ]
        return {
            "seconds": sum(seconds[2:]),
            "characters": characters * (len(seconds) - 2) / len(seconds),
            "state_mb": sum(local(tensor).nbytes for tensor in held) / 1e6,
            "message_ms": 1000 * statistics.median(message) if message else 0.0,
            "peak_mb": peak,
            "rank": group.rank,
        }


def train(data: str, out: str, steps: int, batch: int) -> dict[str, Any]:
    """One process trains a run; works in older checkouts too."""
    import torch

    from loci.pipeline import carry_out
    from loci.training.run import read_metrics
    from loci.training.sources import TrainingData

    torch.set_num_threads(1)
    plan = recipe(MODEL, steps, batch, 16)
    begun = time.process_time()
    carry_out(plan, TrainingData.read(corpus=Path(data) / "wiki.txt"), out)
    spent = time.process_time() - begun
    weights = (Path(out) / "final" / "model.safetensors").read_bytes()
    return {
        "rate": read_metrics(out)[-1]["characters"] / spent,  # by the processor's clock: others may work beside
        "weights": hashlib.sha256(weights).hexdigest(),
    }


def memory() -> dict[str, float]:
    """This process's own memory, and that of mapped files, in MB."""
    rows = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {name: int(rows[name].split()[0]) / 1e3 for name in ("RssAnon", "RssFile")}


def large(data: str, out: str, steps: int, batch: int, questions: bool = False) -> dict[str, Any]:
    """Train on a large corpus; memory along the way, and the time to the first step, with its questions read or not."""
    begun = time.perf_counter()
    import torch

    from loci.pipeline import carry_out
    from loci.training.reports import StepReport
    from loci.training.sources import TrainingData

    torch.set_num_threads(1)
    seen: dict[int, dict[str, float]] = {}

    class Watch:
        def on_step(self, report: StepReport) -> None:
            if report.step in (1, steps // 10, steps // 4, steps // 2, 3 * steps // 4, steps):
                seen[report.step] = {
                    **memory(),
                    "seconds": time.perf_counter() - begun,
                    "processor": time.process_time(),
                }

        def on_checkpoint(self, total_steps: int) -> None: ...

        def close(self) -> None: ...

    taught = TrainingData.read(data) if questions else TrainingData.read(corpus=Path(data) / "wiki.txt")
    read = time.perf_counter() - begun
    carry_out(recipe(SMALL, steps, batch, 16), taught, out, observers=lambda run: [Watch()])
    return {"read_seconds": read, "steps": seen}


def read(data: str) -> dict[str, Any]:
    """Read a corpus, which compiles it the first time."""
    from loci.machine import peak_memory_mb
    from loci.text.corpus import Corpus

    begun = time.perf_counter()
    corpus = Corpus.read(Path(data) / "wiki.txt")
    found = {"seconds": time.perf_counter() - begun, "peak_mb": peak_memory_mb(), "lines": len(corpus)}
    return {**found, "processor": time.process_time()}


def draw(data: str, world: int, batches: int) -> dict[str, Any]:
    """Characters a second that one process of several draws, by the processor's clock."""
    from loci.training.sources import TrainingData, make_stream

    plan = recipe(MODEL, 1, 128, 16)
    taught = TrainingData.read(corpus=Path(data) / "wiki.txt")
    stream = make_stream(plan.stages[0], 0, plan, taught, 128, rank=0, world=world)
    stream.parts(0)
    begun, characters = time.process_time(), 0
    for at in range(16, 16 + batches):
        characters += stream.parts(at).characters
    return {"rate": characters / (time.process_time() - begun)}


WORK: dict[str, Callable[..., dict[str, Any]]] = {
    "engine": engine,
    "train": train,
    "large": large,
    "read": read,
    "draw": draw,
}

if __name__ == "__main__":
    name, *given = json.loads(sys.argv[1])
    print(RESULT + json.dumps(WORK[name](*given)), flush=True)
