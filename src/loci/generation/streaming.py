"""One text, id by id as it comes.

The same ids as `generate` with the same generator. Knows nothing of characters or terminals.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from loci.errors import LociError
from loci.generation.choice import Chooser, draw_uniforms
from loci.generation.context import Context, Prompt, Window, check_prompt, reading
from loci.generation.sampling import GREEDY, Sampler
from loci.model import GPT


def stream(
    model: GPT,
    prompt: Prompt,
    *,
    length: int,
    sampler: Sampler | None = None,
    generator: torch.Generator | None = None,
    stop_id: int | None = None,
    window: Window | None = None,
    use_cache: bool = True,
) -> Iterator[int]:
    """New ids, at most `length` of them, one at a time; ends before the stop id. Bad input is an error at the call."""
    if length < 1:
        raise LociError(f"length must be at least 1, it is {length}")
    sampler = sampler or GREEDY
    ids = check_prompt(prompt, model.config.vocab_size)
    uniforms = draw_uniforms(1, length, sampler, generator)
    chooser = Chooser([ids], model.config.vocab_size, sampler=sampler, uniforms=uniforms)
    context = Context(model, [ids], room=length - 1, window=window, use_cache=use_cache)
    return _ids(context, chooser, length, stop_id)


def _ids(context: Context, chooser: Chooser, length: int, stop_id: int | None) -> Iterator[int]:
    # Gradients and dropout are off only while the model reads: between two ids the caller's own settings hold.
    with reading(context.model):
        logits = context.start()
    for step in range(length):
        with reading(context.model):
            chosen = chooser.choose(logits.cpu())
        index = int(chosen)
        if index == stop_id:
            return
        yield index
        if step + 1 < length:
            with reading(context.model):
                logits = context.step(chosen.to(context.device))
