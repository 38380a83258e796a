"""How work grows with its size: a ratio of measurements of one run, so no machine is too slow for it."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable

#: Shorter work than this cannot be told from noise, and is nobody's trouble either.
GRAIN = 0.1
ROUNDS = 5


def grows_with_the_square(work: Callable[[int], object], size: int) -> bool:
    """Whether four times the size takes more than nine times the CPU time (4 where work is linear, 16 where square).

    Of each size the shortest of up to five measurements counts: a busy machine makes work longer, never shorter.
    """
    small = large = math.inf
    for _ in range(ROUNDS):
        small, large = min(small, seconds(work, size)), min(large, seconds(work, 4 * size))
        if large <= 9 * max(small, GRAIN):
            return False
    return True


def seconds(work: Callable[[int], object], size: int) -> float:
    """CPU time, without the collector of garbage, which walks through all that other tests have left."""
    gc.collect()
    gc.disable()
    try:
        started = time.process_time()
        work(size)
        return time.process_time() - started
    finally:
        gc.enable()
