"""Batches as a pure function of the step.

`stream.batch(step)` depends on the seed and the step alone, never on what was drawn before: a run resumes anywhere, bit
for bit. Each row of the stream has its own draws, which depend on the seed and the row's number alone. One source
without shuffling goes through its records in file order with a short last batch, as published; otherwise sources are
mixed by share and each is shuffled anew every pass. Batches of one pool are sorted by length and cut to equal numbers
of characters, so that little of a batch is padding and every step has the same work. Of several processes each makes
the examples of its own rows; the lengths that the others' rows are sorted by come from the objective, where it can tell
them (`example_length`), without making the examples. Knows nothing of models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from loci.data.draws import RowDraws
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


@dataclass(frozen=True)
class _Row:
    """A row of the stream whose example is made when it is this process's turn; its length may be known before."""

    number: int
    step: int
    """The step whose objective makes it."""
    length: int

    def __len__(self) -> int:
        return self.length


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
        shares = [source.share for source in sources]
        self.sources = sources
        self.shares = [share / sum(shares) for share in shares]
        #: Of the rows that a source and those after it take, the part of those after it.
        self._later = [sum(shares[which + 1 :]) / sum(shares[which:]) for which in range(len(shares))]
        self.batch_size = batch_size
        self.seed = [int(part) for part in seed]
        self.shuffle = shuffle
        self.pool = pool
        self.rank, self.world = rank, world
        self.block_size = block_size
        self.batch_warmup, self.length_warmup = batch_warmup, length_warmup
        self._draws = RowDraws([*self.seed, 1])
        self._orders: dict[tuple[int, int], np.ndarray[Any, Any]] = {}
        self._pool_at: tuple[int, list[list[Example | _Row]]] | None = None

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
        return collate(self._own(step)[0])

    def parts(self, step: int, accumulate: int = 1) -> StepBatches:
        """This process's rows of a step in `accumulate` parts."""
        own, rows = self._own(step)
        return split_step(own, rows=rows, accumulate=accumulate, equal=self.world > 1)

    def _own(self, step: int) -> tuple[list[Example], int]:
        """This process's examples of a step, and how many the step has over all processes."""
        batch = self._full_batch(step)
        if self.batch_warmup.share(step) < 1:
            batch = [batch[position] for position in self.batch_warmup.chosen(step, len(batch))]
        own = batch[self.rank :: self.world]
        return [row if isinstance(row, Example) else self._example(row.number, row.step) for row in own], len(batch)

    def _full_batch(self, step: int) -> Sequence[Example | _Row]:
        """The rows of a step over all processes, made or to be made."""
        if self.whole_passes:
            first = step * self.batch_size
            start = first % (math.ceil(len(self.sources[0].records) / self.batch_size) * self.batch_size)
            n = min(self.batch_size, len(self.sources[0].records) - start)
            return [_Row(first + position, step, 0) for position in range(n)]
        if self.pool == 1:
            return [_Row(row, step, 0) for row in range(step * self.batch_size, (step + 1) * self.batch_size)]
        index = step // self.pool
        if self._pool_at is None or self._pool_at[0] != index:
            self._pool_at = (index, self._make_pool(index))
        return self._pool_at[1][step % self.pool]

    def _make_pool(self, index: int) -> list[list[Example | _Row]]:
        """All rows of a pool, cut by length into batches of about equal size in characters."""
        n = self.batch_size * self.pool
        examples = [self._sized(row, index * self.pool) for row in range(index * n, (index + 1) * n)]
        examples.sort(key=len)
        ends = np.cumsum([len(example) for example in examples])
        cuts = np.searchsorted(ends, ends[-1] * np.arange(1, self.pool) / self.pool)
        # A few long examples could leave a batch empty; every batch gets at least one.
        cuts = np.clip(cuts, np.arange(1, self.pool), n - self.pool + np.arange(1, self.pool))
        cuts = np.maximum.accumulate(cuts - np.arange(self.pool - 1)) + np.arange(self.pool - 1)
        bounds = [0, *map(int, cuts), n]
        # else every pool would go from short to long
        order = np.random.default_rng([*self.seed, 3, index]).permutation(self.pool)
        return [examples[bounds[position] : bounds[position + 1]] for position in order]

    def _sized(self, row: int, step: int) -> Example | _Row:
        """A row of a pool: its length alone, where that can be told and most rows are other processes'."""
        which, nth = self._turn(row)
        length = getattr(self._objective(which, step), "example_length", None) if self.world > 1 else None
        if length is None:
            return self._example(row, step)
        return _Row(row, step, length(self._record(which, nth).length, self._draws.at(row)))

    def _example(self, row: int, step: int) -> Example:
        """The example of a row, as the objective of a step makes it."""
        which, nth = self._turn(row)
        if self.whole_passes:
            nth = row % (math.ceil(len(self.sources[0].records) / self.batch_size) * self.batch_size)
        return self._objective(which, step)(self._record(which, nth), self._draws.at(row))

    def _objective(self, which: int, step: int) -> Objective[Any]:
        """The objective of a source at a step: a shorter block while lengths warm up."""
        source = self.sources[which]
        if source.at_length is None or self.block_size is None or self.length_warmup.share(step) == 1:
            return source.objective
        return source.at_length(self.length_warmup.length(step, self.block_size))

    def _turn(self, row: int) -> tuple[int, int]:
        """Whose turn a row is, and how many turns that source had before: sources take turns by exact shares."""
        for which, later in enumerate(self._later[:-1]):
            given = math.floor(row * later + 1e-9)
            if math.floor((row + 1) * later + 1e-9) == given:
                return which, row - given
            row = given
        return len(self.sources) - 1, row

    def _record(self, which: int, nth: int) -> Any:
        """The nth record that a source gives, pass after pass."""
        records = self.sources[which].records
        epoch, position = divmod(nth, len(records))
        return records[int(self._order(which, epoch)[position]) if self.shuffle else position]

    def _order(self, which: int, epoch: int) -> np.ndarray[Any, Any]:
        key = (which, epoch)
        if key not in self._orders:
            if len(self._orders) > 4 * len(self.sources):
                self._orders.clear()
            rng = np.random.default_rng([*self.seed, 2, which, epoch])
            self._orders[key] = rng.permutation(len(self.sources[which].records))
        return self._orders[key]
