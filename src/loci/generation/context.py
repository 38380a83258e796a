"""The rows being continued: what each has read so far, and the logits of what comes next.

A `Context` hides three ways of reading on. With a cache, a step reads one character per row. Without one (asked for, or
a trunk that cannot remember), it reads the whole prefix again, as the published `sample` does. And when a row outgrows
its window, the oldest characters are dropped and the rest is read anew, since every position has moved. Knows nothing
of how an id is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from loci.errors import LociError
from loci.machine import memory_gb
from loci.model import GPT
from loci.model.cache import Cache
from loci.model.cost import model_cost

LARGE = 1 << 20
"""Remembered characters of all rows from which on their memory is counted first."""
#: Ids of one prompt, in any of the forms callers have them.
Prompt = Sequence[int] | NDArray[np.integer] | Tensor


@dataclass(frozen=True)
class Window:
    """How much of the past a row keeps: at `size` characters it is cut to the newest `keep`, and read anew.

    keep = size is the published way: the model always sees as much as fits, and every character beyond the block costs
    a whole forward pass of `size` characters. With keep = size / 2 that pass comes once in size / 2 characters, so long
    texts cost hardly more than cached ones, and the model sees between half a window and a whole one.
    """

    size: int
    keep: int

    def __post_init__(self) -> None:
        if not 1 <= self.keep <= self.size:
            raise LociError(f"a window of {self.size} cannot keep {self.keep} characters")


def resolve_window(model: GPT, window: Window | None) -> Window | None:
    """The window to use: the given one if the model can read it, else the model's own limit, sliding as published."""
    limit = model.limit
    if window is None:
        return None if limit is None else Window(limit, limit)
    if limit is not None and window.size > limit:
        raise LociError(
            f"a window of {window.size} characters does not fit the model, which takes {limit}",
            remedy=f"choose at most {limit}",
        )
    return window


def trained_window(model: GPT, size: int | None = None, keep: int | None = None) -> Window:
    """What a model that writes on looks back over: by default what it was trained on, halved when full."""
    trained = model.config.block_size
    size = size if size is not None else min(trained, model.limit or trained)
    return Window(size, keep if keep is not None else max(1, size // 2))


@contextmanager
def reading(model: GPT) -> Iterator[None]:
    """No gradients and no dropout inside; the model's mode is put back afterwards."""
    was_training = model.training
    if was_training:
        model.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        if was_training:
            model.train()


def check_prompt(ids: Prompt, vocab_size: int) -> Int[Tensor, "T"]:
    """The prompt as a tensor; an empty one or an id outside the vocabulary is a `LociError`."""
    tensor = torch.as_tensor(np.asarray(ids, dtype=np.int64)) if not isinstance(ids, Tensor) else ids.long().cpu()
    if tensor.ndim != 1 or len(tensor) == 0:
        raise LociError("a prompt needs at least one character")
    if int(tensor.min()) < 0 or int(tensor.max()) >= vocab_size:
        raise LociError(f"a prompt holds an id outside the vocabulary of {vocab_size}")
    return tensor


class Context:
    """Rows of different lengths that grow by one id per step."""

    def __init__(
        self,
        model: GPT,
        prompts: Sequence[Int[Tensor, "T"]],
        *,
        room: int,
        window: Window | None = None,
        use_cache: bool = True,
    ):
        self.model = model
        self.window = resolve_window(model, window)
        self.device = model.tok_emb.weight.device
        self.room = room  # how many more ids a row may get
        self.caching = use_cache and model.trunk.cacheable
        self.cache: Cache | None = None
        self.ids = torch.nn.utils.rnn.pad_sequence(list(prompts), batch_first=True).to(self.device)
        self.ids = torch.nn.functional.pad(self.ids, (0, room))
        self.ends = torch.tensor([len(prompt) for prompt in prompts], device=self.device)
        self.starts = torch.zeros_like(self.ends)
        self.widest = int(self.ends.max())  # upper bound of what any row holds in its window
        if self.window is not None and self.widest > self.window.size:
            self._crop(self.window.size)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.ends)

    def start(self) -> Float[Tensor, "B V"]:
        """Read the prompts; logits of the first new id of each row."""
        return self._read()

    def step(self, ids: Int[Tensor, "B"]) -> Float[Tensor, "B V"]:
        """Append one id to each row and read on; logits of the next."""
        self.ids[torch.arange(self.rows, device=self.device), self.ends] = ids
        self.ends = self.ends + 1
        self.room -= 1
        self.widest += 1
        if self.window is not None and self.widest > self.window.size:
            self._crop(self.window.keep)
            self.cache = None
        if self.cache is None:
            return self._read()
        hidden, _ = self.model.hidden(ids[:, None], cache=self.cache)
        return self.model.logits(hidden[:, -1])

    def select(self, rows: Int[Tensor, "b"]) -> None:
        """Keep, repeat or reorder rows: finished rows leave, beams branch."""
        rows = rows.to(self.device)
        self.ids, self.starts, self.ends = self.ids[rows], self.starts[rows], self.ends[rows]
        self.widest = int((self.ends - self.starts).max())
        if self.cache is not None:
            self.cache.select(rows)

    def _crop(self, keep: int) -> None:
        """Cut the rows that outgrew the window to their newest `keep` ids."""
        assert self.window is not None
        over = self.ends - self.starts > self.window.size
        self.starts = torch.where(over, self.ends - keep, self.starts)
        self.widest = int((self.ends - self.starts).max())

    def _read(self) -> Float[Tensor, "B V"]:
        """Read every row's window from its start, filling a new cache if one will be of use."""
        widths = self.ends - self.starts
        positions = self.starts[:, None] + torch.arange(self.widest, device=self.device)
        ids = self.ids.gather(1, positions.clamp(max=self.ids.shape[1] - 1))  # beyond a row's end: anything, never seen
        capacity = self.widest + self.room
        useful = self.caching and self.room > 0
        if self.window is not None:
            capacity = min(capacity, self.window.size)
            useful = useful and self.widest < self.window.size  # a full window moves with the next id anyway
        shared = 0
        self.cache = None
        if useful:
            _require_memory(self.model, self.rows, capacity)
            shared = _common_prefix(ids, int(widths.min()) - 1)
            self.cache = self.model.make_cache(1 if shared else self.rows, capacity)
            if shared:  # questions of one template begin alike: their beginning is read once
                self.model.hidden(ids[:1, :shared], cache=self.cache)
                self.cache.select(torch.zeros(self.rows, dtype=torch.long, device=self.device))
        hidden, _ = self.model.hidden(ids[:, shared:], cache=self.cache)
        if self.cache is not None:
            self.cache.clock.set_lengths(widths)
        last = hidden[torch.arange(self.rows, device=self.device), widths - 1 - shared]
        return self.model.logits(last)


def _require_memory(model: GPT, rows: int, capacity: int) -> None:
    """Refuse to remember more than half of this machine's memory holds."""
    if rows * capacity < LARGE:
        return
    wanted = model_cost(model.config, 1).total.cache_bytes * rows * capacity / 1e9
    if wanted > memory_gb()[0] / 2:
        raise LociError(
            f"remembering {rows:,} texts of {capacity:,} characters takes {wanted:,.0f} GB",
            remedy="ask for fewer or shorter texts, or a smaller context",
        )


def _common_prefix(ids: Int[Tensor, "B T"], most: int) -> int:
    """How many of the first `most` ids all rows have in common; 0 when there is only one row."""
    if len(ids) == 1:
        return 0
    return int((ids[:, :most] == ids[:1, :most]).all(0).long().cumprod(0).sum())


def start_context(
    model: GPT,
    prompts: Sequence[Int[Tensor, "T"]],
    *,
    room: int,
    window: Window | None = None,
    use_cache: bool = True,
) -> tuple[Context, Float[Tensor, "B V"]]:
    """Read the prompts, equal ones once, and give the context and the first logits of every row."""
    numbers: dict[bytes, int] = {}
    rows = torch.tensor([numbers.setdefault(prompt.numpy().tobytes(), len(numbers)) for prompt in prompts])
    distinct = [torch.frombuffer(bytearray(key), dtype=torch.long) for key in numbers]
    context = Context(model, distinct, room=room, window=window, use_cache=use_cache)
    if context.caching:
        longest = context.widest + room
        _require_memory(model, len(prompts), min(longest, context.window.size if context.window else longest))
    logits = context.start()
    if len(distinct) < len(prompts):
        context.select(rows)
        logits = logits[rows.to(logits.device)]
    return context, logits
