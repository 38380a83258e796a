"""Random draws that give the same result on every machine: dice, Zipf ranks and a permutation without memory.

Knows nothing of people. Draws use only uniform doubles of PCG64, exact integer arithmetic and integer weights, so that
no library's rounding decides who is born where. To make NumPy's generator for one person takes longer than all the
draws about them: the seeding (SeedSequence) and the generator (PCG64) of a whole block of streams are computed as
arrays; the numbers are NumPy's own to the bit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, chain, count
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

BATCH = 64  # numbers drawn at a time
READY = 32  # of the first batch, those that are used first; most people need no more
BLOCK = 256  # streams computed at a time

Words: TypeAlias = NDArray[np.uint32]
Longs: TypeAlias = NDArray[np.uint64]

# Constants of SeedSequence and of PCG64 (XSL-RR), as their authors published them.
POOL = 4
INIT_A, MULT_A = 0x43B0D7E5, 0x931E8875
INIT_B, MULT_B = 0x8B51F9DD, 0x58F38DED
MIX_LEFT, MIX_RIGHT = 0xCA01F9DD, 0x4973F715
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645

HALF = np.uint64(32)
LOW = np.uint64(2**32 - 1)


def end_of_first_batch(stream: tuple[int, ...]) -> list[float]:
    """The last `READY` of the first `BATCH` uniform numbers of PCG64 seeded by `stream`."""
    block, row = divmod(stream[-1], BLOCK)
    batch: list[float] = _batches(stream[:-1], block)[row].tolist()
    return batch


@lru_cache(maxsize=2)  # a person has two streams, and is followed by the next
def _batches(prefix: tuple[int, ...], block: int) -> NDArray[np.float64]:
    entropy = [word for number in prefix for word in _words(number)]
    last = range(block * BLOCK, (block + 1) * BLOCK)
    if len(_words(last[-1])) + len(entropy) > POOL or len(_words(last[-1])) > 1:  # a case no world comes to
        plain = [np.random.PCG64(np.random.SeedSequence((*prefix, index))) for index in last]
        return np.array([np.random.Generator(generator).random(BATCH)[-READY:] for generator in plain])
    columns = [np.full(BLOCK, word, np.uint32) for word in entropy] + [np.array(last, np.uint32)]
    columns += [np.zeros(BLOCK, np.uint32)] * (POOL - len(columns))
    return _uniform(*_seeds(_pool(columns)))


def _words(number: int) -> list[int]:
    """A number as SeedSequence takes it: 32 bits at a time, the lowest first."""
    assert number >= 0
    return [number >> shift & 0xFFFFFFFF for shift in range(0, max(1, number.bit_length()), 32)]


class _Hash:
    """SeedSequence's hash; its constant moves on with every call, whatever the data."""

    def __init__(self, constant: int, multiplier: int) -> None:
        self._constant, self._multiplier = constant, multiplier

    def __call__(self, value: Words) -> Words:
        value = value ^ np.uint32(self._constant)
        self._constant = self._constant * self._multiplier & 0xFFFFFFFF
        return _shifted(value * np.uint32(self._constant))


def _shifted(value: Words) -> Words:
    return value ^ (value >> np.uint32(16))


def _pool(entropy: list[Words]) -> list[Words]:
    hashed = _Hash(INIT_A, MULT_A)
    pool = [hashed(column) for column in entropy]
    for source in range(POOL):
        for target in range(POOL):
            if source != target:
                pool[target] = _shifted(
                    np.uint32(MIX_LEFT) * pool[target] - np.uint32(MIX_RIGHT) * hashed(pool[source])
                )
    return pool


def _seeds(pool: list[Words]) -> tuple[Longs, Longs, Longs, Longs]:
    """State and increment of each stream, both as a high and a low half."""
    hashed = _Hash(INIT_B, MULT_B)
    words = [hashed(pool[at % POOL]).astype(np.uint64) for at in range(2 * POOL)]
    high, low, inc_high, inc_low = (words[at] | words[at + 1] << HALF for at in range(0, 2 * POOL, 2))
    one = np.uint64(1)
    return high, low, inc_high << one | inc_low >> np.uint64(63), inc_low << one | one


def _jumps() -> tuple[tuple[Longs, Longs], tuple[Longs, Longs]]:
    """What state and increment are multiplied by to give the state of each draw."""
    powers, sums = [1], [1]
    for _ in range(BATCH + 1):
        powers.append(powers[-1] * MULTIPLIER % 2**128)
        sums.append((sums[-1] + powers[-1]) % 2**128)
    return _halves(powers[-READY:]), _halves(sums[-READY:])


def _halves(numbers: list[int]) -> tuple[Longs, Longs]:
    return np.array([n >> 64 for n in numbers], np.uint64), np.array([n % 2**64 for n in numbers], np.uint64)


STATE_JUMPS, INCREMENT_JUMPS = _jumps()


def _times(high: Longs, low: Longs, by: tuple[Longs, Longs]) -> tuple[Longs, Longs]:
    """Products of 128 bits: numbers down, factors across."""
    high, low = high[:, None], low[:, None]
    a0, a1, b0, b1 = low & LOW, low >> HALF, by[1] & LOW, by[1] >> HALF
    low_high, high_low = a0 * b1, a1 * b0
    carried = (a0 * b0 >> HALF) + (low_high & LOW) + (high_low & LOW)
    top = a1 * b1 + (low_high >> HALF) + (high_low >> HALF) + (carried >> HALF)
    return top + high * by[1] + low * by[0], low * by[1]


def _uniform(high: Longs, low: Longs, inc_high: Longs, inc_low: Longs) -> NDArray[np.float64]:
    state_high, state_low = _times(high, low, STATE_JUMPS)
    add_high, add_low = _times(inc_high, inc_low, INCREMENT_JUMPS)
    state_low = state_low + add_low
    state_high = state_high + add_high + (state_low < add_low)
    folded, turn = state_high ^ state_low, state_high >> np.uint64(58)
    output = folded >> turn | folded << (np.uint64(64) - turn & np.uint64(63))
    return (output >> np.uint64(11)).astype(np.float64) * 2.0**-53


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
