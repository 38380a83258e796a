"""The marks of a list, which are no part of what a line says: bullets, and numbers that count on.

Knows nothing of names.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

_BULLET = re.compile(r"^\s*[-–—*•·]\s+(?=\S)")
_NUMBER = re.compile(r"^\s*([0-9]{1,3})[.)]\s+(?=\S)")


def without_list_marks(texts: Sequence[str]) -> list[str]:
    """The lines without bullets, and without numbers where most lines count on: «1. FC Köln» is a name."""
    found = [_BULLET.sub("", text) for text in texts]
    numbers = [_NUMBER.match(text) for text in found if text.strip()]
    counting_on = sum(
        before is not None and one is not None and int(one[1]) == int(before[1]) + 1
        for before, one in itertools.pairwise(numbers)
    )
    return [_NUMBER.sub("", text) for text in found] if counting_on * 2 >= len(numbers) > 1 else found
