"""How likely symbols are: all of them after a prompt, or each of a given sequence. Works on ids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from loci.generation.context import Prompt, check_prompt, reading, start_context
from loci.generation.decode import length_batches
from loci.model import GPT

ROWS = 256


def next_log_probabilities(model: GPT, prompts: Sequence[Prompt]) -> NDArray[np.float64]:
    """log p of every symbol after each prompt: prompts × vocabulary."""
    checked = [check_prompt(prompt, model.config.vocab_size) for prompt in prompts]
    found = np.empty((len(checked), model.config.vocab_size))
    with reading(model):
        for batch in length_batches(checked, ROWS):
            _, logits = start_context(model, [checked[index] for index in batch], room=0)
            found[batch] = logits.cpu().double().log_softmax(-1).numpy()
    return found


def log_probabilities(model: GPT, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
    """log p of every id of every sequence after the ones before it; 0 for the first."""
    order = sorted(range(len(sequences)), key=lambda index: len(sequences[index]))
    found: dict[int, list[float]] = {}
    device = model.tok_emb.weight.device
    with reading(model):
        for begin in range(0, len(order), ROWS // 4):
            batch = order[begin : begin + ROWS // 4]
            longest = max(len(sequences[index]) for index in batch)
            ids = torch.zeros(len(batch), longest, dtype=torch.long)
            for row, index in enumerate(batch):
                ids[row, : len(sequences[index])] = torch.tensor(sequences[index])
            ids = ids.to(device)
            logs = model(ids[:, :-1]).logits.float().log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0].cpu()
            for row, index in enumerate(batch):
                found[index] = [0.0, *logs[row, : len(sequences[index]) - 1].tolist()]
    return [found[index] for index in range(len(sequences))]
