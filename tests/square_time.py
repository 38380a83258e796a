"""How work grows with its size: a ratio of two measurements of one run, so no machine is too slow for it."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Shorter work than this cannot be told from noise, and is nobody's trouble either.
GRAIN = 0.05


def grows_with_the_square(work: Callable[[int], object], size: int) -> bool:
    """Whether four times the size takes more than nine times the CPU time (4 where work is linear, 16 where square).

    A second opinion is asked for before the answer is yes: a busy machine slows one measurement, rarely two.
    """
    return all(seconds(work, 4 * size) > 9 * max(seconds(work, size), GRAIN) for _ in range(2))


def seconds(work: Callable[[int], object], size: int) -> float:
    started = time.process_time()
    work(size)
    return time.process_time() - started
