"""Random draws that give the same result on every machine: dice, Zipf ranks and a permutation without memory.

Knows nothing of people. Draws use only uniform doubles of PCG64, exact integer arithmetic and integer weights, so that
no library's rounding decides who is born where.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain, count
from typing import TypeVar

import numpy as np

from loci.text.world.pcg import BATCH, READY, end_of_first_batch

T = TypeVar("T")

WORD = 2**64 - 1
STEP = 0x9E3779B97F4A7C15
ROUNDS = 4


class Dice:
    """The random draws of one stream, named by integers (seed, purpose, person)."""

    def __init__(self, *stream: int) -> None:
        self._stream = stream
        self._left = end_of_first_batch(stream)

    def unit(self) -> float:
        """A number in [0, 1)."""
        if not self._left:
            self._left = next(self._batches)
        return self._left.pop()

    @cached_property
    def _batches(self) -> Iterator[list[float]]:
        """What comes then: the rest of the first batch, and batches without end; one by one would cost ten times."""
        generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(self._stream)))
        batches = (generator.random(BATCH).tolist() for _ in count())
        return chain([next(batches)[:-READY]], batches)

    def below(self, n: int) -> int:
        """A whole number in [0, n)."""
        return int(self.unit() * n)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.unit() < probability

    def choice(self, options: Sequence[T]) -> T:
        """One of `options`, all equally likely."""
        return options[self.below(len(options))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """`items` in random order."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order


class Ranks:
    """Numbers under a Zipf law: the r-th of `numbers` has a weight of r to the power −`skew`."""

    SCALE = 2**32

    def __init__(self, numbers: Sequence[int], skew: float) -> None:
        self._numbers = tuple(numbers)
        # Whole weights: the last bit of a machine's power function must not decide a draw.
        self._weights = [max(1, round(self.SCALE * float(rank) ** -skew)) for rank in range(1, len(numbers) + 1)]
        self._ends = list(accumulate(self._weights))
        self._rank = {number: rank for rank, number in enumerate(self._numbers)}

    def draw(self, dice: Dice, without: Collection[int] = ()) -> int | None:
        """One of the numbers that is not in `without`, or None where none is left."""
        barred = sorted([self._rank[number] for number in without if number in self._rank])
        free = (self._ends[-1] if self._ends else 0) - sum([self._weights[rank] for rank in barred])
        if not free:
            return None
        at = dice.below(free)
        for rank in barred:  # step over each barred stretch that lies before the draw
            if at >= self._ends[rank] - self._weights[rank]:
                at += self._weights[rank]
        return self._numbers[bisect_right(self._ends, at)]


def mix(value: int) -> int:
    """Scatter the bits of a 64-bit word; a bijection."""
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & WORD
    return value ^ (value >> 31)


def permuted(index: int, size: int, key: int) -> int:
    """Where `index` goes in a permutation of range(`size`) that `key` names; needs no table.

    A Feistel network permutes the smallest even power of two that holds the range; an image outside is sent again.
    """
    assert 0 <= index < size
    half = max(1, ((size - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    keys = [key + turn * STEP for turn in range(ROUNDS)]
    while True:
        left, right = index >> half, index & mask
        for turn in keys:
            left, right = right, left ^ (mix((turn + right) & WORD) & mask)
        index = left << half | right
        if index < size:
            return index
