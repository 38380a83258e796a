"""Batches made ahead, in one background thread, while the step computes.

PyTorch lets other threads run during its operations, so the next batches cost the step nothing. What is made is a pure
function of the step, so the results are those of making it on demand. Knows nothing of what it makes.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")

AHEAD = 2


class Prefetch(Generic[T]):
    """`make(step)` for the steps to come; an error while making one is raised when that step is asked for."""

    def __init__(self, make: Callable[[int], T], *, ahead: int = AHEAD):
        assert ahead >= 1
        self.make, self.ahead = make, ahead
        # One thread only: what is made may keep a pool of examples between calls.
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="loci-batches")
        self.waiting: dict[int, Future[T]] = {}

    def __enter__(self) -> Prefetch[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.thread.shutdown(wait=True, cancel_futures=True)

    def get(self, step: int) -> T:
        """What belongs to a step; the following ones are ordered first, so that the thread never rests."""
        for wanted in range(step, step + 1 + self.ahead):
            if wanted not in self.waiting:
                self.waiting[wanted] = self.thread.submit(self.make, wanted)
        made = self.waiting.pop(step)
        for passed in [known for known in self.waiting if known < step]:
            self.waiting.pop(passed).cancel()
        return made.result()
