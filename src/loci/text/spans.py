"""The word spans of a text: all that could be quoted from it as an answer. Knows nothing of models or relations."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*", re.UNICODE)
_POSSESSIVE = re.compile(r"['’]s$")
_TITLES = frozenset(("St", "Mt", "Ft", "Dr", "Mr", "Ms"))
LONGEST_SPAN = 3


def word_spans(text: str, longest: int = LONGEST_SPAN) -> list[str]:
    """Every run of one to `longest` words with single spaces between them, each once, in the text's order.

    The full stop of an initial or a short title ends no run: Ann B. Lee, St. Louis. It may also end a sentence.
    A possessive is offered without its ending too: Auckland's North Shore is in Auckland. Parts of a word joined by
    hyphens count as words of their own besides.
    """
    words = list(_WORD.finditer(text))
    spans: dict[str, None] = {}
    for first, word in enumerate(words):
        for last in range(first, min(first + longest, len(words))):
            if last > first and not _joined(text, words[last - 1], words[last]):
                break
            span = text[word.start() : words[last].end()]
            spans[span] = None
            if _POSSESSIVE.search(span):
                spans[_POSSESSIVE.sub("", span)] = None
        if "-" in word.group():
            spans |= dict.fromkeys(part for part in word.group().split("-") if part)
    return list(spans)


def fragments(text: str, longest: int = LONGEST_SPAN) -> frozenset[str]:
    """The spans that stand in a text only inside longer names: York, where it tells of New York alone.

    A name is a run of capitalised words with single spaces between them, or one with a hyphen.
    """
    runs: list[str] = []
    before = None
    for word in _WORD.finditer(text):
        capitals = runs and runs[-1][0].isupper() and word.group()[0].isupper()
        if before and capitals and _joined(text, before, word) and not _POSSESSIVE.search(runs[-1]):
            runs[-1] += text[before.end() : word.end()]
        else:
            runs.append(word.group())
        before = word
    inside = {span for run in runs if run[0].isupper() and re.search("[ -]", run) for span in word_spans(run, longest)}
    whole = {run[:end] for run in runs for end in (len(run), *(stop.start() for stop in re.finditer(r"\. ", run)))}
    return frozenset(inside.difference(whole, (_POSSESSIVE.sub("", run) for run in runs)))


def _joined(text: str, before: re.Match[str], after: re.Match[str]) -> bool:
    """Whether nothing but a space stands between two words, or the full stop of an initial before a capital."""
    between = text[before.end() : after.start()]
    word = before.group()
    short = word in _TITLES or (len(word) == 1 and word.isupper())
    return between == " " or (between == ". " and short and after.group()[0].isupper())
