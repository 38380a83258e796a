"""How likely symbols are: all of them after a prompt, each of a given sequence, a whole text.

Works on ids; knows nothing of characters or files.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from loci.errors import LociError
from loci.generation.context import Prompt, check_prompt, reading, start_context
from loci.generation.decode import length_batches
from loci.model import GPT

ROWS = 256


def nats_per_character(model: GPT, ids: Prompt, *, width: int | None = None, batch_size: int = 32) -> float:
    """Mean −log p of the characters of a text, read in windows of `width` (default: block_size) side by side.

    Every window starts without a past, as the usual held-out figures are made: the mean over a window's positions, the
    early ones too. The last characters that fill no window are left out.
    """
    text = check_prompt(ids, model.config.vocab_size)
    width = width or min(model.config.block_size, model.limit or model.config.block_size)
    n = (len(text) - 1) // width
    if n == 0:
        raise LociError(
            f"a text of {len(text)} characters is shorter than one window of {width} and its next character"
        )
    inputs = text[: n * width].view(n, width)
    targets = text[1 : n * width + 1].view(n, width)
    total = 0.0
    device = model.tok_emb.weight.device
    with reading(model):
        for begin in range(0, n, batch_size):
            x, y = inputs[begin : begin + batch_size], targets[begin : begin + batch_size]
            logits = model(x.to(device)).logits
            total += float(F.cross_entropy(logits.flatten(0, 1).float(), y.flatten().to(device), reduction="sum"))
    return total / (n * width)


def log_probability(model: GPT, prompt: Prompt, text: Prompt) -> float:
    """log p of the ids of a text after a prompt, without an end."""
    start, own = (check_prompt(ids, model.config.vocab_size) for ids in (prompt, text))
    ids = torch.cat((start, own))[None].to(model.tok_emb.weight.device)
    with reading(model):
        logs = model(ids[:, :-1]).logits[0, len(start) - 1 :].double().log_softmax(-1)
    return float(logs.gather(1, ids[0, len(start) :, None]).sum())


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
