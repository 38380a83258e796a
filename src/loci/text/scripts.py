"""What scripts have of their own: words without spaces between them, marks inside words, full stops, question marks.

Classes are the insides of a pattern's `[…]`. Knows nothing of words or names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

#: Thai, Lao, Burmese, Khmer, Chinese and Japanese have no spaces between words.
UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
STOPS = "。।॥۔።"
"""End a sentence, whatever follows; the full stop of Latin needs a space."""
ENDS = ".?!؟？！" + STOPS
"""End a question."""
PUNCTUATION = ",;:()[]\"'“”‘’«»،؛，、；：（）「」『』《》" + ENDS
_BLOCKS = (range(0x300, 0x1E00), range(0xA640, 0xAC00), range(0x11000, 0x11A00))  # all of Unicode would take a while


def _class(codes: Iterable[int]) -> str:
    """The class of these characters; neighbours become a range."""
    ranges: list[tuple[int, int]] = []
    for code in codes:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in ranges)


#: Accents, and the vowel signs of Devanagari, Bengali, Tamil, Thai and others: to `\w` they are no part of a word.
MARKS = _class(code for block in _BLOCKS for code in block if unicodedata.category(chr(code)) in ("Mn", "Mc"))
WORD = re.compile(rf"\w[\w{MARKS}]*")
"""A word with its marks; in a script without spaces, a run of words."""
