"""Continuing prompts: batched and cached, each row until its own end, or one text id by id.

`generate` gives the same answers whatever the batch size, the order of the prompts and with or without a cache: every
prompt has its own uniform numbers, one for each step. Works on ids; knows nothing of characters, questions or files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from loci.errors import LociError
from loci.generation.context import Context, Prompt, Window, check_prompt, reading, start_context
from loci.generation.sampling import GREEDY, Chooser, Sampler, draw_uniforms
from loci.model import GPT

#: Rows leave the batch once this share of it has finished: copying the cache for each would cost more than it saves.
LEAVE_SHARE = 0.25


@dataclass(frozen=True)
class Generated:
    """What was written after one prompt."""

    ids: tuple[int, ...]
    """New ids, the stop id not included."""
    log_probability: float
    """Sum of log p of the chosen ids under the model itself (temperature 1, no filter), the stop id's if it came."""
    stopped: bool
    """Ended with the stop id rather than by length."""


def generate(
    model: GPT,
    prompts: Sequence[Prompt],
    *,
    max_new: int,
    stop_id: int | None = None,
    sampler: Sampler | None = None,
    use_cache: bool = True,
    batch_size: int = 128,
    generator: torch.Generator | None = None,
    window: Window | None = None,
) -> list[Generated]:
    """Continue every prompt; results in the order of the prompts.

    A model with learned positions sees the last block_size characters once a text is longer, as in the published
    `sample`; each further character then costs a whole forward pass. Rotary and absent positions have no limit: the
    cache grows and the text goes on to any length, also beyond the trained one. `window` chooses otherwise.

    Args:
        model: Any GPT; its mode and gradients are left as they were.
        prompts: Ids of each prompt, at least one.
        max_new: Steps at most; the stop id counts as one.
        stop_id: The id that ends a row. None: every row runs for max_new steps.
        sampler: How ids are chosen. None: the likeliest one.
        use_cache: False reads the whole prefix again at each step; same results.
        batch_size: Rows read at once.
        generator: Where chance comes from; needed unless the sampler is greedy.
        window: How much of the past is kept.
    """
    if max_new < 1 or batch_size < 1:
        raise LociError(f"max_new and batch_size must be at least 1, they are {max_new} and {batch_size}")
    sampler = sampler or GREEDY
    vocab_size = model.config.vocab_size
    checked = [check_prompt(prompt, vocab_size) for prompt in prompts]
    uniforms = draw_uniforms(len(checked), max_new, sampler, generator)
    results: dict[int, Generated] = {}
    with reading(model):
        for batch in length_batches(checked, batch_size):
            rows = [checked[index] for index in batch]
            chance = uniforms[batch] if uniforms is not None else None
            chooser = Chooser(rows, vocab_size, sampler=sampler, uniforms=chance)
            context, logits = start_context(model, rows, room=max_new - 1, window=window, use_cache=use_cache)
            record = _Record(batch, max_new, stop_id)
            _write(context, logits, chooser, record)
            results.update(record.results())
    return [results[index] for index in range(len(checked))]


def length_batches(prompts: Sequence[Int[Tensor, "T"]], batch_size: int) -> Iterator[list[int]]:
    """Indices in batches of neighbours in length, so that little padding is read; equal prompts stand side by side."""
    order = sorted(range(len(prompts)), key=lambda index: (len(prompts[index]), prompts[index].tolist()))
    for begin in range(0, len(order), batch_size):
        yield order[begin : begin + batch_size]


def _write(context: Context, logits: Float[Tensor, "B V"], chooser: Chooser, record: _Record) -> None:
    """The loop: choose, note, let finished rows leave, read on."""
    while True:
        logits = logits.cpu()  # choosing is small work; only the model may live elsewhere
        ids = chooser.choose(logits)
        live = record.add(ids, logits)
        n_live = int(live.sum())
        if n_live == 0:
            return
        if n_live <= (1 - LEAVE_SHARE) * len(live):
            rows = live.nonzero()[:, 0]
            ids = ids[rows]
            for part in (context, chooser, record):
                part.select(rows)
        logits = context.step(ids.to(context.device))


class _Record:
    """What the rows of one batch have written."""

    def __init__(self, indices: list[int], max_new: int, stop_id: int | None):
        size = len(indices)
        self.indices = indices
        self.max_new = max_new
        self.stop_id = stop_id
        self.rows = torch.arange(size)  # which prompt of the batch each row still running belongs to
        self.step = 0
        self.ids = torch.zeros(size, max_new, dtype=torch.long)
        self.lengths = torch.full((size,), max_new)
        self.log_probabilities = torch.zeros(size, dtype=torch.float64)
        self.stopped = torch.zeros(size, dtype=torch.bool)

    def add(self, ids: Int[Tensor, "b"], logits: Float[Tensor, "b V"]) -> Tensor:
        """Note one id a row; tells which rows go on. A row that stopped may stay for a while: it writes nothing."""
        rows = self.rows
        live = ~self.stopped[rows]
        chosen = logits.gather(1, ids[:, None])[:, 0].double() - logits.double().logsumexp(-1)
        self.log_probabilities[rows] += torch.where(live, chosen, 0.0)
        self.ids[rows, self.step] = ids
        if self.stop_id is not None:
            ended = rows[live & (ids == self.stop_id)]
            self.stopped[ended] = True
            self.lengths[ended] = self.step
            live = ~self.stopped[rows]
        self.step += 1
        return live if self.step < self.max_new else torch.zeros_like(live)

    def select(self, rows: Int[Tensor, "b"]) -> None:
        """Rows leave the batch; what they wrote stays."""
        self.rows = self.rows[rows]

    def results(self) -> dict[int, Generated]:
        """By the prompt's index."""
        columns = (self.ids, self.lengths, self.log_probabilities, self.stopped)
        rows = zip(self.indices, *(column.tolist() for column in columns), strict=True)
        return {index: Generated(tuple(ids[:length]), total, stop) for index, ids, length, total, stop in rows}


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
    """New ids, at most `length` of them, one at a time as they come; ends before the stop id.

    The same ids as `generate` gives with the same generator. Bad input is an error at the call.
    """
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
