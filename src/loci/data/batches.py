"""Batches as a pure function of the step.

`stream.batch(step)` depends on the seed and the step alone, never on what was drawn before: a run resumes anywhere, bit
for bit, and every process of a larger run can take just its own rows. One source without shuffling goes through its
records in file order with a short last batch, as published; otherwise sources are mixed by share and each is shuffled
anew every pass. Batches of one pool are sorted by length and cut to equal numbers of characters, so that little of a
batch is padding and every step has the same work. Knows nothing of models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from loci.data.example import Batch, Example, StepBatches, collate, split_step
from loci.data.objectives import Objective
from loci.data.warmup import NO_WARMUP, Warmup
from loci.errors import LociError


@dataclass(frozen=True)
class Source:
    """Records, the objective that reads them, and their share of every batch."""

    records: Sequence[Any]
    objective: Objective[Any]
    share: float = 1.0
    at_length: Callable[[int], Objective[Any]] | None = None
    """The same objective for a shorter block, for the warm-up of lengths; None where examples cannot be shortened."""

    def __post_init__(self) -> None:
        if not self.records:
            raise LociError("there is nothing to learn from: a source has no records")
        if self.share <= 0:
            raise LociError(f"a source's share must be positive, it is {self.share}")


class BatchStream:
    """An endless, seekable sequence of batches."""

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        batch_size: int,
        seed: Sequence[int],
        shuffle: bool = True,
        pool: int = 1,
        rank: int = 0,
        world: int = 1,
        block_size: int | None = None,
        batch_warmup: Warmup = NO_WARMUP,
        length_warmup: Warmup = NO_WARMUP,
    ):
        """`seed` is a key (run, stage); `pool` batches are sorted by length together.

        `block_size` is the full length that a warm-up of lengths grows to.
        """
        assert block_size is not None or not length_warmup.steps, "a warm-up of lengths grows to the block"
        total = sum(source.share for source in sources)
        self.sources = sources
        self.shares = [source.share / total for source in sources]
        self.batch_size = batch_size
        self.seed = [int(part) for part in seed]
        self.shuffle = shuffle
        self.pool = pool
        self.rank, self.world = rank, world
        self.block_size = block_size
        self.batch_warmup, self.length_warmup = batch_warmup, length_warmup
        self._orders: dict[tuple[int, int], np.ndarray[Any, Any]] = {}
        self._pool_at: tuple[int, list[list[Example]]] | None = None

    @property
    def whole_passes(self) -> bool:
        """One unshuffled source: passes end with a short batch instead of running into each other."""
        return len(self.sources) == 1 and not self.shuffle and self.pool == 1

    def steps_for(self, epochs: float) -> int:
        """How many steps take the first source through `epochs` passes."""
        n = len(self.sources[0].records)
        if self.whole_passes:
            return math.ceil(epochs * math.ceil(n / self.batch_size))
        return math.ceil(epochs * n / (self.batch_size * self.shares[0]))

    def batch(self, step: int) -> Batch:
        """The batch of a step (this process's rows of it)."""
        return collate(self._examples(step)[self.rank :: self.world])

    def parts(self, step: int, accumulate: int = 1) -> StepBatches:
        """This process's rows of a step in `accumulate` parts, and what the whole step holds over all processes."""
        examples = self._examples(step)
        return split_step(examples, rank=self.rank, world=self.world, accumulate=accumulate)

    def _examples(self, step: int) -> list[Example]:
        examples = self._full_batch(step)
        if self.batch_warmup.share(step) == 1:
            return examples
        return [examples[place] for place in self.batch_warmup.chosen(step, len(examples))]

    def _full_batch(self, step: int) -> list[Example]:
        if self.whole_passes:
            records = self.sources[0].records
            per_pass = math.ceil(len(records) / self.batch_size)
            start = step % per_pass * self.batch_size
            rng, objective = self._rng(0, step), self._objective(0, step)
            return [objective(record, rng) for record in records[start : start + self.batch_size]]
        index = step // self.pool
        if self._pool_at is None or self._pool_at[0] != index:
            self._pool_at = (index, self._make_pool(index))
        return self._pool_at[1][step % self.pool]

    def _make_pool(self, index: int) -> list[list[Example]]:
        """All examples of a pool, drawn in order, then cut by length into batches of about equal size in characters."""
        rng = self._rng(1, index)
        n = self.batch_size * self.pool
        examples = [
            objective(self.sources[which].records[record], rng)
            for which, objective in enumerate(self._objectives(index * self.pool))
            for record in self._indices(which, index * n, (index + 1) * n)
        ]
        if self.pool == 1:
            return [examples]
        examples.sort(key=len)
        ends = np.cumsum([len(example) for example in examples])
        cuts = np.searchsorted(ends, ends[-1] * np.arange(1, self.pool) / self.pool)
        # A few long examples could leave a batch empty; every batch gets at least one.
        cuts = np.clip(cuts, np.arange(1, self.pool), n - self.pool + np.arange(1, self.pool))
        cuts = np.maximum.accumulate(cuts - np.arange(self.pool - 1)) + np.arange(self.pool - 1)
        bounds = [0, *map(int, cuts), n]
        order = rng.permutation(self.pool)  # else every pool would go from short to long
        return [examples[bounds[place] : bounds[place + 1]] for place in order]

    def _objectives(self, step: int) -> list[Objective[Any]]:
        return [self._objective(which, step) for which in range(len(self.sources))]

    def _objective(self, which: int, step: int) -> Objective[Any]:
        """The objective of a source at a step: a shorter block while lengths warm up."""
        source = self.sources[which]
        if source.at_length is None or self.block_size is None or self.length_warmup.share(step) == 1:
            return source.objective
        return source.at_length(self.length_warmup.length(step, self.block_size))

    def _indices(self, which: int, start: int, stop: int) -> list[int]:
        """Records of one source for examples start…stop of the whole stream."""
        n = len(self.sources[which].records)
        # Sources take turns by exact shares: what source k has given before any point is a function of the point.
        before = [math.floor(point * sum(self.shares[: which + 1]) + 1e-9) for point in (start, stop)]
        lower = [math.floor(point * sum(self.shares[:which]) + 1e-9) for point in (start, stop)]
        first, last = before[0] - lower[0], before[1] - lower[1]
        return [int(self._order(which, i // n)[i % n]) for i in range(first, last)]

    def _order(self, which: int, epoch: int) -> np.ndarray[Any, Any]:
        if not self.shuffle:
            return np.arange(len(self.sources[which].records))
        key = (which, epoch)
        if key not in self._orders:
            if len(self._orders) > 4 * len(self.sources):
                self._orders.clear()
            rng = np.random.default_rng([*self.seed, 2, which, epoch])
            self._orders[key] = rng.permutation(len(self.sources[which].records))
        return self._orders[key]

    def _rng(self, purpose: int, index: int) -> np.random.Generator:
        return np.random.default_rng([*self.seed, purpose, index])
