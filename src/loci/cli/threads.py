"""How many threads a command computes with: as asked, recorded, set in the environment, or found best by a probe."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass


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
    from loci.errors import LociError

    if wanted is not None and wanted < 1:
        raise LociError(f"--threads must be at least 1, it is {wanted}")
    if wanted is not None or recorded is not None:
        return ThreadChoice(wanted or recorded or 1)
    if "OMP_NUM_THREADS" in os.environ or machine.usable_cores() == 1:
        return ThreadChoice(torch.get_num_threads())
    probe = machine.probe_threads()
    return ThreadChoice(probe.best, f"loci: {probe}")
