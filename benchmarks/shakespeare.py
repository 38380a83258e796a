"""What the char recipe reaches in ten minutes: held-out loss next to nanoGPT's published figures, and a sample.

The first nine tenths of the text teach, the last tenth is held out, as nanoGPT splits it. The loss is the mean over
windows of block_size characters read side by side, each from its own start: the same kind of figure as published there.

    python benchmarks/shakespeare.py [--minutes 10] [--text FILE] [--set model.n_embd=192] [--json]
"""

from __future__ import annotations

import json as json_format
import tempfile
from pathlib import Path

import torch
import tyro
from rich.console import Console
from rich.table import Table

from loci import machine
from loci.generation import Sampler, Window, stream
from loci.generation.likelihood import nats_per_character
from loci.pipeline import carry_out
from loci.recipes import DataShape, make_recipe
from loci.text.corpus import Corpus
from loci.training.checkpoint import load_model
from loci.training.sources import TrainingData

TEXT = Path(__file__).resolve().parents[2] / "shared" / "data" / "shakespeare" / "input.txt"
#: Figures of nanoGPT's README: validation loss and how it was reached.
PUBLISHED = (
    ("nanoGPT, CPU: 4 layers, 128 wide, block 64, 3 minutes", 1.88),
    ("nanoGPT, A100: 6 layers, 384 wide, block 256, 3 minutes", 1.4697),
)
HELD_OUT = 0.1


def main(
    minutes: float | None = None,
    text: Path = TEXT,
    set: tyro.conf.UseAppendAction[tuple[str, ...]] = (),
    seed: int = 0,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Train, measure, sample.

    Args:
        minutes: Training time, instead of the recipe's own budget.
        text: The text.
        set: Changes to the recipe.
        seed: Seed of weights and batches.
        out: Keep the run here.
        json: Print JSON instead of a table.
    """
    torch.set_num_threads(machine.usable_cores())
    console = Console(stderr=json)
    if not text.is_file():
        console.print(f"no text at {text}: nothing measured (give --text FILE)")
        return
    whole = text.read_text(encoding="utf-8")
    cut = int(len(whole) * (1 - HELD_OUT))
    data = TrainingData(Corpus.from_lines(whole[:cut].splitlines()))
    recipe = make_recipe("char", DataShape(len(data.corpus))).override(("pretrain.held_out=0", *set, f"seed={seed}"))
    recipe = recipe if minutes is None else recipe.within(minutes)
    with tempfile.TemporaryDirectory() as temporary:
        outcome = carry_out(recipe, data, out or Path(temporary) / "run")
        loaded = load_model(outcome.run)
    loss = nats_per_character(loaded.model, loaded.vocab.encode(whole[cut:]))
    block = loaded.model.config.block_size
    ids = stream(
        loaded.model,
        loaded.vocab.encode("O God, O God!"),
        length=600,
        sampler=Sampler(top_k=10),
        generator=torch.Generator().manual_seed(seed),
        window=Window(block, block // 2),
    )
    sample = loaded.vocab.decode(ids)
    measured = {
        "loss": loss,
        "minutes": outcome.seconds / 60,
        "steps": outcome.total_steps,
        "parameters": loaded.model.n_parameters(),
        "threads": torch.get_num_threads(),
        "seed": seed,
    }
    if json:
        print(json_format.dumps({**measured, "published": dict(PUBLISHED), "sample": sample}, ensure_ascii=False))
        return
    table = Table("model", "held-out loss, nats per character")
    size = f"{loaded.model.n_parameters():,} parameters, block {block}"
    work = (
        f"{outcome.total_steps} steps, {outcome.seconds / 60:.1f} minutes, {torch.get_num_threads()} threads, one seed"
    )
    table.add_row(f"Loci, CPU: {size}, {work}", f"{loss:.3f}")
    for name, value in PUBLISHED:
        table.add_row(name, f"{value:g}")
    console.print(table)
    console.print("O God, O God!" + sample, markup=False, highlight=False)


if __name__ == "__main__":
    tyro.cli(main)
