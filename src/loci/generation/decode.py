"""Continuing prompts: batched, cached, each row until its own end.

`generate` gives the same answers whatever the batch size, the order of the prompts and with or without a cache: every
prompt has its own uniform numbers, one for each step. Works on ids; knows nothing of characters, questions or files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from loci.errors import LociError
from loci.generation.context import Context, Prompt, Window, check_prompt, reading
from loci.generation.sampling import FORBIDDEN, GREEDY, Sampler
from loci.generation.trie import Trie
from loci.model import GPT

#: Rows leave the batch when this share of it has finished: copying the cache for each one would cost more than it saves.
LEAVE_SHARE = 0.25


@dataclass(frozen=True)
class Generated:
    """What was written after one prompt."""

    ids: tuple[int, ...]
    """New ids, the stop id not included."""
    log_probability: float
    """Sum of log p of the chosen ids under the model itself (temperature 1, unfiltered), the stop id included when it came."""
    stopped: bool
    """Ended with the stop id rather than by length."""


def generate(
    model: GPT,
    prompts: Sequence[Prompt],
    *,
    max_new: int,
    stop_id: int | None = None,
    sampler: Sampler | None = None,
    constraint: Trie | None = None,
    use_cache: bool = True,
    batch_size: int = 256,
    generator: torch.Generator | None = None,
    on_token: Callable[[int, int], None] | None = None,
    window: Window | None = None,
) -> list[Generated]:
    """Continue every prompt; results in the order of the prompts.

    A model with learned positions sees the last block_size characters once a text is longer, as in the published
    `sample`; each further character then costs a whole forward pass. Rotary and absent positions have no limit: the cache
    grows and the text goes on to any length, also beyond what the model was trained on. `window` chooses otherwise.

    Args:
        model: Any GPT; its mode and gradients are left as they were.
        prompts: Ids of each prompt, at least one.
        max_new: Steps at most; the stop id counts as one.
        stop_id: The id that ends a row. None: every row runs for max_new steps (a constraint brings its own).
        sampler: How ids are chosen. None: the likeliest one.
        constraint: Only these answers can be said.
        use_cache: False reads the whole prefix again at each step; same results.
        batch_size: Rows read at once.
        generator: Where chance comes from; needed unless the sampler is greedy.
        on_token: Called with the prompt's index and each new id as it comes.
        window: How much of the past is kept.
    """
    sampler = sampler or GREEDY
    if max_new < 1 or batch_size < 1:
        raise LociError(f"max_new and batch_size must be at least 1, they are {max_new} and {batch_size}")
    vocab_size = model.config.vocab_size
    checked = [check_prompt(prompt, vocab_size) for prompt in prompts]
    if constraint is not None:
        constraint.check(vocab_size, stop_id)
        stop_id = constraint.stop_id
    uniforms = draw_uniforms(len(checked), max_new, sampler, generator)
    # Neighbours in length share a batch, so that little padding is read; equal prompts stand side by side.
    order = sorted(range(len(checked)), key=lambda index: (len(checked[index]), checked[index].tolist()))
    results: list[Generated | None] = [None] * len(checked)
    with reading(model):
        for begin in range(0, len(order), batch_size):
            batch = order[begin : begin + batch_size]
            run = _Run(model, stop_id, sampler, constraint, on_token)
            outcome = run.decode(
                [checked[index] for index in batch],
                batch,
                max_new,
                uniforms[batch] if uniforms is not None else None,
                window,
                use_cache,
            )
            for index, generated in zip(batch, outcome, strict=True):
                results[index] = generated
    return [result for result in results if result is not None]


def draw_uniforms(rows: int, steps: int, sampler: Sampler, generator: torch.Generator | None) -> Tensor | None:
    """One number in [0, 1) for each prompt and step, or None when nothing is left to chance."""
    if sampler.greedy:
        return None
    if generator is None:
        raise LociError("sampling needs a generator", remedy="pass torch.Generator().manual_seed(…), or temperature 0")
    return torch.rand(rows, steps, dtype=torch.float64, generator=generator)


@dataclass(frozen=True)
class _Run:
    """What stays the same over a batch."""

    model: GPT
    stop_id: int | None
    sampler: Sampler
    constraint: Trie | None
    on_token: Callable[[int, int], None] | None

    def decode(
        self,
        prompts: list[Tensor],
        indices: list[int],
        max_new: int,
        uniforms: Tensor | None,
        window: Window | None,
        use_cache: bool,
    ) -> list[Generated]:
        """Continue one batch."""
        size, vocab_size = len(prompts), self.model.config.vocab_size
        context, logits = start_context(self.model, prompts, room=max_new - 1, window=window, use_cache=use_cache)
        written = torch.zeros(size, max_new, dtype=torch.long)
        counts = torch.full((size,), max_new)
        totals = torch.zeros(size, dtype=torch.float64)
        stopped = torch.zeros(size, dtype=torch.bool)
        rows = torch.arange(size)  # the prompt of each row still in the batch
        states = self.constraint.start(size) if self.constraint is not None else None
        seen = seen_ids(prompts, vocab_size) if self.sampler.needs_history else None
        for step in range(max_new):
            logits = logits.cpu()
            allowed = logits
            if self.constraint is not None and states is not None:
                allowed = logits.masked_fill(~self.constraint.allowed(states, vocab_size), FORBIDDEN)
            ids = self.sampler.choose(allowed, uniforms[rows, step] if uniforms is not None else None, seen)
            live = ~stopped[rows]
            chosen = logits.gather(1, ids[:, None])[:, 0].double() - logits.double().logsumexp(-1)
            totals[rows] += torch.where(live, chosen, 0.0)
            written[rows, step] = ids
            if self.stop_id is not None:
                ended = live & (ids == self.stop_id)
                stopped[rows[ended]] = True
                counts[rows[ended]] = step
                live = live & ~ended
            if self.on_token is not None:
                for row, index in zip(rows[live].tolist(), ids[live].tolist(), strict=True):
                    self.on_token(indices[row], index)
            n_live = int(live.sum())
            if step + 1 == max_new or n_live == 0:
                break
            if states is not None and self.constraint is not None:
                states = self.constraint.step(states, ids)
            if seen is not None:
                seen[torch.arange(len(ids)), ids] = True
            if n_live <= (1 - LEAVE_SHARE) * len(rows):
                context.select(live.nonzero()[:, 0].to(context.device))
                rows, ids = rows[live], ids[live]
                states = states[live] if states is not None else None
                seen = seen[live] if seen is not None else None
            logits = context.step(ids.to(context.device))
        return [
            Generated(tuple(row[:count]), total, stop)
            for row, count, total, stop in zip(
                written.tolist(), counts.tolist(), totals.tolist(), stopped.tolist(), strict=True
            )
        ]


def start_context(
    model: GPT, prompts: list[Tensor], *, room: int, window: Window | None = None, use_cache: bool = True
) -> tuple[Context, Tensor]:
    """Read the prompts, equal ones once, and give the context and the first logits of every row."""
    places: dict[bytes, int] = {}
    rows = [places.setdefault(prompt.numpy().tobytes(), len(places)) for prompt in prompts]
    firsts = [prompts[rows.index(place)] for place in range(len(places))]
    context = Context(model, firsts, room=room, window=window, use_cache=use_cache)
    logits = context.start()
    if len(firsts) < len(prompts):
        index = torch.tensor(rows, device=context.device)
        context.select(index)
        logits = logits[index]
    return context, logits


def seen_ids(prompts: list[Tensor], vocab_size: int) -> Tensor:
    """(B, V): which ids each prompt holds."""
    seen = torch.zeros(len(prompts), vocab_size, dtype=torch.bool)
    for row, prompt in enumerate(prompts):
        seen[row, prompt] = True
    return seen
