"""The word spans of a text: all that could be quoted from it as an answer, and whether words stand in it, whole.

Knows nothing of models or relations.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*", re.UNICODE)
_POSSESSIVE = re.compile(r"['’]s$")
LONGEST_SPAN = 3


def place_of(text: str, words: str, start: int = 0) -> int:
    """Where `words` first stand in `text` from `start` on, whole: Milan does not stand in Milano. −1: nowhere."""
    if not words or words not in text:  # most texts do not hold them at all, which is quickly told
        return -1
    found = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)").search(text, start)
    return -1 if found is None else found.start()


def stands_in(text: str, words: str) -> bool:
    """Whether `words` stand in `text`, whole."""
    return place_of(text, words) >= 0


def word_spans(text: str, longest: int = LONGEST_SPAN) -> list[str]:
    """Every run of one to `longest` words with single spaces between them, each once, in the text's order.

    A possessive is offered without its ending too: Auckland's North Shore is in Auckland. Parts of a word joined by
    hyphens count as words of their own besides.
    """
    words = list(_WORD.finditer(text))
    spans: dict[str, None] = {}
    for first, word in enumerate(words):
        for last in range(first, min(first + longest, len(words))):
            if last > first and text[words[last - 1].end() : words[last].start()] != " ":
                break
            span = text[word.start() : words[last].end()]
            spans[span] = None
            if _POSSESSIVE.search(span):
                spans[_POSSESSIVE.sub("", span)] = None
        if "-" in word.group():
            spans |= dict.fromkeys(part for part in word.group().split("-") if part)
    return list(spans)
