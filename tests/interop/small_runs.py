"""Small runs that nobody trained, with weights spread wide enough that a wrong layout shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from loci.model import GPT, VARIANTS, GPTConfig
from loci.text.vocab import Vocab
from loci.training.checkpoint import LoadedModel, load_checkpoint, save_checkpoint

ALPHABET = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ.,?é\n"
QUESTIONS = ["Where was Ada Moss born?", "Where was J. E. P. Bell born?", "Where was Bo born?"]
DEMO: dict[str, Any] = {"qk_norm": True, "activation": "relu2"}
"""What the demo's recipes add to rope."""


def small_run(folder: Path, variant: str = "vanilla", answerer: str = "direct", **changes: Any) -> LoadedModel:
    vocab = Vocab.from_text(ALPHABET)
    sizes: dict[str, Any] = {
        "block_size": 64,
        "n_layer": 3 if variant.startswith("perceiver") else 2,
        "n_head": 2,
        "n_embd": 16,
    }
    config = VARIANTS[variant].apply(GPTConfig(len(vocab), bottleneck_dim=4, **sizes)).replace(**changes)
    generator = torch.Generator().manual_seed(0)
    model = GPT(config, generator=generator)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    save_checkpoint(folder, model, vocab, about={"recipe": {"answerer": answerer}})
    return load_checkpoint(folder)


def some_ids(loaded: LoadedModel, rows: int = 2, width: int = 30) -> torch.Tensor:
    return torch.randint(2, len(loaded.vocab), (rows, width), generator=torch.Generator().manual_seed(1))


def greedy(loaded: LoadedModel, max_new: int = 20) -> list[str]:
    """What the run says to the questions by the likeliest characters."""
    from loci.data.prompts import question_prompt
    from loci.generation import generate

    prompts = [question_prompt(loaded.vocab, question) for question in QUESTIONS]
    return [loaded.vocab.decode(text.ids) for text in generate(loaded.model, prompts, max_new=max_new, stop_id=1)]
