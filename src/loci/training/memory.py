"""Keeping freed memory for the next step, and no more of it with every step.

glibc gives large buffers back to the system as soon as they are freed, and every step then asks for fresh pages again.
oneDNN keeps the last 1,024 primitives it made, one for every shape of a batch; they lie between the freed buffers, so
that ever fewer of these fit together again (200 MB over 1,000 steps of batches that differ in width). Knows nothing of
tensors: it sets two limits of the C library, where there is glibc, and one of oneDNN, unless the user has set it.
"""

from __future__ import annotations

import ctypes
import os

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # the parameter numbers of mallopt
_LIMIT = 1 << 30
_PRIMITIVES = 8  # those of one step: the same shape in the next layer finds them


def keep_freed_memory() -> bool:
    """Let the allocator hold on to buffers of up to a gigabyte; True when the C library took both settings.

    oneDNN reads its limit when it makes its first primitive: call this before the first pass through a model.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(_PRIMITIVES))
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LIMIT)) and bool(mallopt(_TRIM_THRESHOLD, _LIMIT))
