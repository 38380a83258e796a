"""Keeping freed memory for the next step, and no more of it with every step.

glibc gives large buffers back to the system as soon as they are freed, and every step then asks for fresh pages again.
oneDNN, and PyTorch's own layer above it, keep the last 1,024 primitives they made, one for every shape of a batch; they
lie between the freed buffers, so that ever fewer of these fit together again (200 MB over 1,000 steps of batches that
differ in width, 2 MB a step where matrix products are oneDNN's). Knows nothing of tensors: it sets two limits of the C
library, where there is glibc, and one of each of the two, unless the user has set it.
"""

from __future__ import annotations

import ctypes
import os

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # the parameter numbers of mallopt
_LIMIT = 1 << 30
_PRIMITIVES = 24  # those of a layer, forward and backward: the same shape in the next layer finds them


def keep_freed_memory() -> bool:
    """Let the allocator hold on to buffers of up to a gigabyte; True when the C library took both settings.

    Both read their limit when they make their first primitive: call this before the first pass through a model.
    """
    for limit in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
        os.environ.setdefault(limit, str(_PRIMITIVES))
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LIMIT)) and bool(mallopt(_TRIM_THRESHOLD, _LIMIT))
