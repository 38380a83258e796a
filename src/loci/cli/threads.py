"""How many threads a command computes with: as asked, recorded, set in the environment, or found best by a probe."""

from __future__ import annotations

import os
import sys


def chosen_threads(wanted: int | None = None, recorded: int | None = None) -> int:
    """As asked; or as a resumed run had them, so that sums round the same; or as the environment or a probe says."""
    import torch

    from loci import machine
    from loci.errors import LociError

    if wanted is not None and wanted < 1:
        raise LociError(f"--threads must be at least 1, it is {wanted}")
    if wanted is not None or recorded is not None:
        return wanted or recorded or 1
    if "OMP_NUM_THREADS" in os.environ or machine.usable_cores() == 1:
        return torch.get_num_threads()
    probe = machine.probe_threads()
    print(f"loci: {probe}", file=sys.stderr)
    return probe.best
