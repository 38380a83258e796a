"""Matrix products by PyTorch's two libraries, in turns: those of a layer, and a whole training step.

The sizes are those of the course's model. A ratio above 1 says that oneDNN is faster than MKL; the note says which of
them Loci takes on this processor.

    python benchmarks/matmul.py [--quick] [--json] [--repeats 5] [--threads 1] [--clock processor]
"""

from __future__ import annotations

import json as json_format
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Literal

import torch
import tyro
from rich.console import Console

from _ratios import Bench, Row, print_table
from loci.model import GPT, GPTConfig, matmul
from loci.training.loss import next_character_loss

ROWS, WIDTH, INNER, VOCABULARY = 2048, 256, 1024, 256
BATCH, LENGTH = 16, 100


def by(onednn: bool, work: Callable[[], Any]) -> Callable[[], Any]:
    """The work with all products by one of the two."""

    def done() -> None:
        choice, matmul.BY_ONEDNN = matmul.BY_ONEDNN, onednn
        try:
            work()
        finally:
            matmul.BY_ONEDNN = choice

    return done


def works(generator: torch.Generator) -> dict[str, Callable[[], Any]]:
    """Name → what is timed."""
    x, weight, gradient = (
        torch.randn(*shape, generator=generator) for shape in ((ROWS, WIDTH), (INNER, WIDTH), (ROWS, INNER))
    )
    model = GPT(GPTConfig(vocab_size=VOCABULARY), generator=generator)
    ids, targets = (torch.randint(2, VOCABULARY, (BATCH, LENGTH), generator=generator) for _ in range(2))

    def step() -> None:
        model.zero_grad()
        next_character_loss(model, ids, targets).total.backward()  # type: ignore[no-untyped-call]

    return {
        "a layer's product": lambda: matmul.matmul(x, weight.t()),
        "gradient of its input": lambda: matmul.matmul(gradient, weight),
        "gradient of its weights": lambda: matmul.matmul(x.t(), gradient),
        "forward and backward of the course's model": step,
    }


def main(
    quick: bool = False,
    json: bool = False,
    repeats: int = 5,
    threads: int = 1,
    clock: Literal["wall", "processor"] = "processor",
) -> None:
    """Measure and print.

    Args:
        quick: Few products, to see that it works.
        json: Print JSON instead of a table.
        repeats: How often each comparison is made.
        threads: Threads of torch. With several, count wall time.
        clock: What is counted. Processor time leaves out what else the machine is doing.
    """
    torch.set_num_threads(threads)
    bench = Bench(quick, repeats, time.perf_counter if clock == "wall" else time.process_time)
    note = f"Loci takes {'oneDNN' if matmul.BY_ONEDNN else 'MKL'}"
    rows = []
    for name, work in works(torch.Generator().manual_seed(0)).items():

        def often(work: Callable[[], Any] = work, times: int = 2 if quick else 10) -> None:
            for _ in range(times):
                work()

        rows.append(Row(f"oneDNN: {name}", "MKL", **bench.in_turns(by(False, often), by(True, often)), note=note))
    if json:
        print(json_format.dumps([{**asdict(row), "ratios": row.ratios} for row in rows]))
    else:
        print_table(rows, Console())


if __name__ == "__main__":
    tyro.cli(main)
