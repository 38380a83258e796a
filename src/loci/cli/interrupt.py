"""Stopping without loss: the first ctrl-C asks the training loop to save a checkpoint and stop."""

from __future__ import annotations

import signal
import sys


class InterruptFlag:
    """The first ctrl-C (or SIGTERM) asks the loop to save and stop; a second one stops at once."""

    raised = False

    def __enter__(self) -> InterruptFlag:
        self.before = {name: signal.signal(name, self._note) for name in (signal.SIGINT, signal.SIGTERM)}
        return self

    def _note(self, number: int, frame: object) -> None:
        if self.raised:
            raise KeyboardInterrupt
        self.raised = True
        print("\nsaving a checkpoint, then stopping (again to stop at once)", file=sys.stderr)

    def __exit__(self, *_: object) -> None:
        for name, handler in self.before.items():
            signal.signal(name, handler)
