"""One worker for all inference: a bounded queue, questions that wait answered in one batch, texts written in turns.

A model on two cores answers 32 questions in little more time than one, so whatever waits for the same run is asked
together. Texts that are being written take turns with the questions, a few characters each, so that a long text delays
nobody. A full queue refuses (`Busy`), which the application turns into 503. Knows nothing of HTTP or models: it is
given functions.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

LARGEST_BATCH = 64
CHARACTERS_A_TURN = 8


class Busy(Exception):
    """The queue is full."""


@dataclass
class _Call:
    key: Hashable
    """Calls of one key may be answered together."""
    items: Sequence[Any]
    run: Callable[[list[Any]], Sequence[Any]]
    """From the items of one or several calls to as many results."""
    future: Future[list[Any]] = field(default_factory=Future)


@dataclass
class Writing:
    """A text being written; `cancel` ends it at the next turn."""

    pieces: Iterator[Any]
    tell: Callable[[Any], object]
    """Hears each piece, then None; an exception instead of a piece when it failed."""
    cancelled: bool = False

    def cancel(self) -> None:
        """Nobody listens any more."""
        self.cancelled = True


@dataclass
class Counts:
    """What `/metrics` shows."""

    calls: int = 0
    items: int = 0
    batches: int = 0
    refused: int = 0
    written: int = 0


class Worker:
    """A thread that owns the models."""

    def __init__(self, limit: int = 64):
        self.limit = limit
        self.counts = Counts()
        self._calls: deque[_Call] = deque()
        self._writings: deque[Writing] = deque()
        self._wake = threading.Condition()
        self._closed = False
        self._at_work = 0
        self._thread = threading.Thread(target=self._work, name="loci-inference", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Calls in the queue, texts being written, and what is being worked on now."""
        return len(self._calls) + len(self._writings) + self._at_work

    def call(self, key: Hashable, items: Sequence[Any], run: Callable[[list[Any]], Sequence[Any]]) -> Future[list[Any]]:
        """Let `run` be called with these items, perhaps together with those of other calls of the same key."""
        call = _Call(key, items, run)
        with self._wake:
            self._require_room()
            self.counts.calls += 1
            self.counts.items += len(items)
            self._calls.append(call)
            self._wake.notify()
        return call.future

    def write(self, pieces: Iterator[Any], tell: Callable[[Any], object]) -> Writing:
        """Draw `pieces` in turns, telling each."""
        writing = Writing(pieces, tell)
        with self._wake:
            self._require_room()
            self._writings.append(writing)
            self._wake.notify()
        return writing

    def close(self) -> None:
        """Stop after the present turn; what still waits is cancelled."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join(timeout=10)
        for call in self._calls:
            call.future.cancel()

    def _require_room(self) -> None:
        if self._closed or self.waiting >= self.limit:
            self.counts.refused += 1
            raise Busy

    def _work(self) -> None:
        while True:
            with self._wake:
                self._at_work = 0
                self._wake.wait_for(lambda: self._closed or self.waiting)
                if self._closed:
                    return
                batch = self._next_batch()
                writing = self._writings.popleft() if self._writings else None
                self._at_work = len(batch) + (writing is not None)
            if batch:
                self._answer(batch)
            if writing is not None and self._turn(writing):
                with self._wake:
                    self._at_work -= 1
                    self._writings.append(writing)

    def _next_batch(self) -> list[_Call]:
        """The call that waits longest and others of its key, up to a batch."""
        if not self._calls:
            return []
        first = self._calls.popleft()
        batch, size = [first], len(first.items)
        for call in list(self._calls):
            if call.key == first.key and size + len(call.items) <= LARGEST_BATCH:
                self._calls.remove(call)
                batch.append(call)
                size += len(call.items)
        return batch

    def _answer(self, batch: list[_Call]) -> None:
        batch = [call for call in batch if call.future.set_running_or_notify_cancel()]
        if not batch:
            return
        self.counts.batches += 1
        try:
            results = list(batch[0].run([item for call in batch for item in call.items]))
        except BaseException as error:  # whatever it is belongs to those who wait, not to this thread
            if len(batch) > 1:  # one bad question must not spoil the others'
                for call in batch:
                    self._alone(call)
                return
            batch[0].future.set_exception(error)
            return
        for call in batch:
            call.future.set_result(results[: len(call.items)])
            results = results[len(call.items) :]

    def _alone(self, call: _Call) -> None:
        try:
            call.future.set_result(list(call.run(list(call.items))))
        except BaseException as error:
            call.future.set_exception(error)

    def _turn(self, writing: Writing) -> bool:
        """Let a text go on by a few pieces; whether it goes on after that."""
        try:
            for _ in range(CHARACTERS_A_TURN):
                if writing.cancelled:
                    return False
                piece = next(writing.pieces, None)
                writing.tell(piece)
                if piece is None:
                    return False
                self.counts.written += 1
        except BaseException as error:
            writing.tell(error)
            return False
        return True
