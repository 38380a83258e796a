"""How well a model predicts a text it has not seen, in nats per character.

Works on ids; knows nothing of characters or files.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from loci.errors import LociError
from loci.generation.context import Prompt, check_prompt, reading
from loci.model import GPT


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
