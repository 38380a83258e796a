"""What the focus and near terms cost: a shaped training step against the plain one, in turns, in one run.

A shaped step needs its attention weights, so the fused kernel gives way to the explicit softmax, and the terms add
passes over every weight. The row "weights returned" tells the two apart: the explicit softmax without any term.

    python benchmarks/shaping.py [--quick] [--json] [--repeats 5]
"""

from __future__ import annotations

import json as json_format
import statistics
import time
from collections.abc import Callable

import torch
import tyro
from rich.console import Console
from rich.table import Table

from loci.experiments.shaping.run import MODEL
from loci.model import GPT, GPTConfig
from loci.training.loss import next_character_loss
from loci.training.plan import MixtureComponent, Stage

BATCH, WIDTH, VOCABULARY = 24, 100, 90
PLAIN = "plain step"


def stage(**terms: float) -> Stage:
    return Stage("shaped", (MixtureComponent("language-model"),), steps=1, **terms)  # type: ignore[arg-type]


def ways(model: GPT, x: torch.Tensor, y: torch.Tensor) -> dict[str, Callable[[], torch.Tensor]]:
    """Name → forward pass that ends in a loss."""

    def traced() -> torch.Tensor:
        hidden, _ = model.hidden(x, trace=True)
        return torch.nn.functional.cross_entropy(model.logits(hidden).flatten(0, 1), y.flatten())

    return {
        PLAIN: lambda: next_character_loss(model, x, y).total,
        "weights returned": traced,
        "focus": lambda: next_character_loss(model, x, y, stage(focus=0.1)).total,
        "near": lambda: next_character_loss(model, x, y, stage(near=0.01)).total,
    }


def main(quick: bool = False, json: bool = False, repeats: int = 5) -> None:
    """Measure and print.

    Args:
        quick: Few steps, to see that it works.
        json: Print JSON instead of a table.
        repeats: How often each way is timed.
    """
    torch.set_num_threads(1)  # processor time is counted
    generator = torch.Generator().manual_seed(0)
    model = GPT(GPTConfig.from_dict({**MODEL, "vocab_size": VOCABULARY}), generator=generator)
    x, y = (torch.randint(2, VOCABULARY, (BATCH, WIDTH), generator=generator) for _ in range(2))
    steps = 2 if quick else 15
    seconds: dict[str, list[float]] = {}
    for repeat in range(repeats + 1):
        for name, forward in ways(model, x, y).items():
            start = time.process_time()
            for _ in range(steps):
                model.zero_grad()
                forward().backward()  # type: ignore[no-untyped-call]
            if repeat:  # the first round warms up
                seconds.setdefault(name, []).append((time.process_time() - start) / steps)
    costs = {
        name: [own / plain for own, plain in zip(times, seconds[PLAIN], strict=True)] for name, times in seconds.items()
    }
    if json:
        rows = [
            {
                "what": f"{name}: cost of a step, forward and backward",
                "slow": PLAIN,
                "slow_seconds": seconds[PLAIN],
                "loci_seconds": seconds[name],
                "ratios": ratios,
                "target": None,
                "note": "above 1 is slower; processor time",
            }
            for name, ratios in costs.items()
            if name != PLAIN
        ]
        print(json_format.dumps(rows))
        return
    table = Table("step", "ms", "against plain (range)")
    for name, ratios in costs.items():
        spread = f"×{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
        table.add_row(name, f"{1000 * statistics.median(seconds[name]):.1f}", spread)
    Console().print(table, f"{BATCH} × {WIDTH} characters, {repeats} repeats, processor time")


if __name__ == "__main__":
    tyro.cli(main)
