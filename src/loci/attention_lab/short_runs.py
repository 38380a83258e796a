"""Short training runs that differ in one thing: the factor on the scores.

The one training loop on a small world in memory, in a temporary folder. Knows nothing of figures.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import torch

from loci.attention_lab.qk_spectra import dot_layers
from loci.model import GPT, GPTConfig
from loci.pipeline import carry_out
from loci.text.corpus import Corpus
from loci.text.world import WorldSpec, world_text
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.run import read_metrics
from loci.training.sources import TrainingData

WIDTH, LAYERS = 64, 2


def unit_variance_scores(model: GPT, generator: torch.Generator) -> None:
    """Start queries and keys at unit variance, as the argument for 1/√I supposes: N(0, 1/J) weights on normed inputs.

    The published start of 0.02 makes them so small that no factor matters at first.
    """
    with torch.no_grad():
        for layer in dot_layers(model):
            rows = layer.qkv.weight[: 2 * layer.widths[0]]
            rows.copy_(torch.randn(rows.shape, generator=generator) / math.sqrt(layer.qkv.in_features))


def short_run(beta: float | None, seed: int, *, steps: int = 150, people: int = 150) -> list[float]:
    """Losses of a small one-headed model trained on a world's lines, with β on its scores (None: 1/√I)."""
    corpus = Corpus.from_lines(world_text(WorldSpec(people=people)).lines)
    config = {"block_size": 96, "n_layer": LAYERS, "n_head": 1, "n_embd": WIDTH, "temperature": beta}
    config |= {"embd_pdrop": 0.0, "attn_pdrop": 0.0, "resid_pdrop": 0.0}
    stage = Stage("short", (MixtureComponent("language-model"),), steps=steps, batch_size=16, lr=3e-3)
    shape = GPTConfig.from_dict({**config, "vocab_size": len(corpus.vocab)})
    model = GPT(shape, generator=torch.Generator().manual_seed(seed))
    unit_variance_scores(model, torch.Generator().manual_seed(seed + 1))
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        carry_out(Recipe("temperature", config, (stage,), seed=seed), TrainingData(corpus), run, initial=model)
        return [row["loss"] for row in read_metrics(run)]
