"""Random draws of a row: a pure function of a key and the row's number.

No generator is shared over rows, so every row can be drawn by itself, in any order and by any process. Knows nothing of
what is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


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
