"""Random draws of a row: a pure function of a key and the row's number.

No generator is shared over rows, so every row can be drawn by itself, in any order and by any process. Knows nothing of
what is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


class RowDraws:
    """A generator for every row. Philox counts: row r has the counters from r·2⁶⁴ on, which no other row reaches."""

    def __init__(self, key: Sequence[int]):
        self._bits = np.random.Philox(key=np.random.SeedSequence(key).generate_state(2, np.uint64))
        self._generator = np.random.Generator(self._bits)
        self._fresh = self._bits.state

    def at(self, row: int) -> np.random.Generator:
        """The generator of a row, at its beginning. The next call moves it to another row: use it before."""
        self._fresh["state"]["counter"][1] = row
        self._bits.state = self._fresh  # making a new generator takes 15 times as long
        return self._generator

    def integers(self, rows: NDArray[np.int64], low: int, high: int) -> NDArray[np.int64]:
        """`at(row).integers(low, high)` of many rows at once: the first draw of each, a hundred times as fast."""
        span = np.uint64(high - low)
        assert 1 <= span <= _LOW
        scaled = (self._first_words(rows) & _LOW) * span
        found = low + (scaled >> _HALF).astype(np.int64)
        # numpy rejects a few draws to be exactly uniform (Lemire 2019) and draws again.
        for place in np.flatnonzero((scaled & _LOW) < (2**32 - int(span)) % int(span)):
            found[place] = self.at(int(rows[place])).integers(low, high)
        return found

    def _first_words(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The first 64 bits that Philox4x64-10 gives for each row: ten rounds over all rows together."""
        a, b = np.ones(len(rows), np.uint64), rows.astype(np.uint64)
        c, d = np.zeros_like(a), np.zeros_like(a)
        keys = [int(key) for key in self._fresh["state"]["key"]]
        for _ in range(10):
            (high_a, low_a), (high_c, low_c) = _product(0xD2E7470EE14C6C93, a), _product(0xCA5A826395121157, c)
            a, b, c, d = high_c ^ b ^ np.uint64(keys[0]), low_c, high_a ^ d ^ np.uint64(keys[1]), low_a
            keys = [
                (key + add) % 2**64 for key, add in zip(keys, (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B), strict=True)
            ]
        return a


def _product(constant: int, words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The upper and the lower 64 bits of a product of 128."""
    upper, lower = np.uint64(constant >> 32), np.uint64(constant & 0xFFFFFFFF)
    high, low = words >> _HALF, words & _LOW
    middle = (lower * low >> _HALF) + upper * low
    other = (middle & _LOW) + lower * high
    return upper * high + (middle >> _HALF) + (other >> _HALF), words * np.uint64(constant)
