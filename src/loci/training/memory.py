"""Keeping freed memory for the next step.

glibc gives large buffers back to the system as soon as they are freed, and every step then asks for fresh pages again.
Knows nothing of tensors: it sets two limits of the C library, and does nothing where there is no glibc.
"""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # the parameter numbers of mallopt
_LIMIT = 1 << 30


def keep_freed_memory() -> bool:
    """Let the allocator hold on to buffers of up to a gigabyte; True when the C library took both settings."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LIMIT)) and bool(mallopt(_TRIM_THRESHOLD, _LIMIT))
