"""Batches as a pure function of the step.

`stream.batch(step)` depends on the seed and the step alone, never on what was drawn before: a run resumes anywhere, bit
for bit. Each row of the stream has its own draws, which depend on the seed and the row's number alone. One source
without shuffling goes through its records in file order with a short last batch, as published; otherwise sources are
mixed by share and each is shuffled anew every pass. Batches of one pool are sorted by length and cut to equal numbers
of characters, so that little of a batch is padding and every step has the same work. Of several processes each makes
the examples of its own rows; the lengths that all rows of a pool are sorted by come from the objectives, where all can
tell them (`example_lengths`), without making the examples. Knows nothing of models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loci.data.draws import RowDraws
from loci.data.example import Batch, Example, StepBatches, collate, split_step
from loci.data.objectives import Objective
from loci.data.warmup import NO_WARMUP, Warmup
from loci.errors import LociError
from loci.text.corpus import line_lengths

Rows = NDArray[np.int64]


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
        self._pool_at: tuple[int, list[Rows], dict[int, Example]] | None = None

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
        rows, made = self._rows(step)
        if self.batch_warmup.share(step) < 1:
            rows = rows[self.batch_warmup.chosen(step, len(rows))]
        own = rows[self.rank :: self.world].tolist()
        fresh = self._examples(
            np.array([row for row in own if row not in made], np.int64), step // self.pool * self.pool
        )
        return [made[row] if row in made else fresh[row] for row in own], len(rows)

    def _rows(self, step: int) -> tuple[Rows, dict[int, Example]]:
        """The rows of a step over all processes, and those examples that are made already."""
        first = step * self.batch_size
        if self.pool == 1:
            n = self.batch_size
            if self.whole_passes:
                n = min(n, len(self.sources[0].records) - first % self._pass_rows)
            return np.arange(first, first + n), {}
        index = step // self.pool
        if self._pool_at is None or self._pool_at[0] != index:
            self._pool_at = (index, *self._make_pool(index))
        return self._pool_at[1][step % self.pool], self._pool_at[2]

    def _make_pool(self, index: int) -> tuple[list[Rows], dict[int, Example]]:
        """All rows of a pool, cut by length into batches of about equal size in characters."""
        n = self.batch_size * self.pool
        rows = np.arange(index * n, (index + 1) * n)
        lengths, made = self._lengths(rows, index * self.pool)
        order = np.argsort(lengths, kind="stable")
        rows, ends = rows[order], np.cumsum(lengths[order])
        cuts = np.searchsorted(ends, ends[-1] * np.arange(1, self.pool) / self.pool)
        # A few long examples could leave a batch empty; every batch gets at least one.
        cuts = np.clip(cuts, np.arange(1, self.pool), n - self.pool + np.arange(1, self.pool))
        cuts = np.maximum.accumulate(cuts - np.arange(self.pool - 1)) + np.arange(self.pool - 1)
        batches = np.split(rows, cuts)
        # else every pool would go from short to long
        order = np.random.default_rng([*self.seed, 3, index]).permutation(self.pool)
        return [batches[position] for position in order], made

    def _lengths(self, rows: Rows, step: int) -> tuple[NDArray[np.int64], dict[int, Example]]:
        """How long the rows' examples are; those whose objective cannot tell are made, and given too."""
        lengths = np.empty(len(rows), dtype=np.int64)
        made: dict[int, Example] = {}
        for objective, records, places, positions in self._by_source(rows, step):
            tell = getattr(objective, "example_lengths", None)
            if tell is not None:
                lengths[places] = tell(line_lengths(records, positions), self._draws, rows[places])
            else:
                made |= (own := self._examples(rows[places], step))
                lengths[places] = [len(example) for example in own.values()]
        return lengths, made

    def _examples(self, rows: Rows, step: int) -> dict[int, Example]:
        """The examples of rows, as the objectives of a step make them."""
        return {
            row: objective(records[position], self._draws.at(row))
            for objective, records, places, positions in self._by_source(rows, step)
            for row, position in zip(rows[places].tolist(), positions.tolist(), strict=True)
        }

    def _by_source(self, rows: Rows, step: int) -> Iterator[tuple[Objective[Any], Sequence[Any], Rows, Rows]]:
        """For every source its objective at a step, its records, which of the rows are its turn, and their records'
        positions."""
        turns, nth = self._turns(rows)
        for which, source in enumerate(self.sources):
            places = np.flatnonzero(turns == which)
            if len(places):
                yield self._objective(which, step), source.records, places, self._positions(which, nth[places])

    def _objective(self, which: int, step: int) -> Objective[Any]:
        """The objective of a source at a step: a shorter block while lengths warm up."""
        source = self.sources[which]
        if source.at_length is None or self.block_size is None or self.length_warmup.share(step) == 1:
            return source.objective
        return source.at_length(self.length_warmup.length(step, self.block_size))

    def _turns(self, rows: Rows) -> tuple[Rows, Rows]:
        """Whose turn each row is, and how many turns that source had before: sources take turns by exact shares."""
        which, nth = (
            np.full(len(rows), len(self.sources) - 1),
            rows % self._pass_rows if self.whole_passes else rows.copy(),
        )
        left = np.arange(len(rows))
        for source, later in enumerate(self._later[:-1]):
            given, after = (np.floor((nth[left] + more) * later + 1e-9).astype(np.int64) for more in (0, 1))
            mine = given == after
            which[left[mine]] = source
            nth[left] -= np.where(mine, given, nth[left] - given)
            left = left[~mine]
        return which, nth

    @property
    def _pass_rows(self) -> int:
        """The rows of a whole pass: its last batch is numbered like a full one."""
        return math.ceil(len(self.sources[0].records) / self.batch_size) * self.batch_size

    def _positions(self, which: int, nth: Rows) -> Rows:
        """Where in a source the nth records that it gives are, pass after pass."""
        epochs, positions = np.divmod(nth, len(self.sources[which].records))
        if self.shuffle:
            for epoch in np.unique(epochs):
                mine = epochs == epoch
                positions[mine] = self._order(which, int(epoch))[positions[mine]]
        return positions

    def _order(self, which: int, epoch: int) -> np.ndarray[Any, Any]:
        key = (which, epoch)
        if key not in self._orders:
            if len(self._orders) > 4 * len(self.sources):
                self._orders.clear()
            rng = np.random.default_rng([*self.seed, 2, which, epoch])
            self._orders[key] = rng.permutation(len(self.sources[which].records))
        return self._orders[key]
