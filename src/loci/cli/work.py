"""Long work of a command: how many threads it computes with, and how it is stopped without loss."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from dataclasses import dataclass
from typing import Any, TextIO, cast


@dataclass
class ThreadChoice:
    """A number of threads, and what is to be said of it once the work has really begun."""

    count: int
    note: str | None = None

    def announce(self) -> None:
        """Say once how the number came about. Not before the input was found good: an error is one line."""
        if self.note is not None:
            print(self.note, file=sys.stderr)
            self.note = None


def choose_threads(wanted: int | None = None, recorded: int | None = None) -> ThreadChoice:
    """As asked; or as a resumed run had them, so that sums round the same; or as the environment or a probe says."""
    import torch

    from loci import machine

    if wanted is not None or recorded is not None:
        return ThreadChoice(wanted or recorded or 1)
    if "OMP_NUM_THREADS" in os.environ or machine.usable_cores() == 1:
        return ThreadChoice(torch.get_num_threads())
    probe = machine.probe_threads()
    return ThreadChoice(probe.best, f"loci: {probe}")


class _Unheard:
    """A stream whose reader may go away: what nobody reads is left out."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, text: str) -> int:
        with contextlib.suppress(BrokenPipeError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class InterruptFlag:
    """The first ctrl-C (or SIGTERM) asks the loop to save a checkpoint and stop; a second one stops at once.

    A reader of the output that goes away (`| head`) stops nothing: the work is what was asked for.
    """

    raised = False

    def __enter__(self) -> InterruptFlag:
        self.before = {name: signal.signal(name, self._note) for name in (signal.SIGINT, signal.SIGTERM)}
        self.streams = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (cast(TextIO, _Unheard(stream)) for stream in self.streams)
        return self

    def _note(self, number: int, frame: object) -> None:
        if self.raised:
            raise KeyboardInterrupt
        self.raised = True
        print("\nsaving a checkpoint, then stopping (again to stop at once)", file=sys.stderr)

    def __exit__(self, *_: object) -> None:
        sys.stdout, sys.stderr = self.streams
        for name, handler in self.before.items():
            signal.signal(name, handler)
