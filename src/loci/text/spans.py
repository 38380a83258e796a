"""The word spans of a text: all that could be quoted from it as an answer. Knows nothing of models or relations."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from loci.text.names import PRONOUNS
from loci.text.scripts import MARKS
from loci.text.scripts import UNSPACED as UNSPACED  # others take it from here

_PART = rf"[^\W{UNSPACED}]+(?:[{MARKS}]+[^\W{UNSPACED}]*)*"  # letters, digits, and the marks that follow a letter
_WORD = re.compile(
    rf"""
      (?![၊။។៕・])[{UNSPACED}]                               # each character alone
    | (?:[^\W\d_{UNSPACED}]{{1,2}}\.){{2,}}(?!\w)             # U.S., Ph.D.
    | (?:Jr|Sr|Inc|Ltd|Corp|Co|Bros)\.(?!\w)
    | [$€£¥]?\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?(?!\w)(?:\ ?%)?  # 1,500
    | \d+(?:/\d+)+(?!\w)                                      # 12/05/1901
    | (?:[$€£¥](?=\d))?{_PART}(?:[-'’.&]{_PART})*(?:(?<=\d)\ ?%|(?<=[^\W\d])(?:\+\+|[+#])(?!\w))?
    """,
    re.VERBOSE,
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_BEFORE, _BEHIND = "$€£¥", ".%+# "  # what may belong to a word, or not
_POSSESSIVE = re.compile(r"['’]s$")
_BEGINS_SENTENCES = PRONOUNS | {"the", "a", "an", "this", "that", "in", "on", "at"}
_TITLES = frozenset(("St", "Mt", "Ft", "Dr", "Mr", "Ms"))
_LONGEST_JOINER = 3
_HALVES = frozenset('()[]{}"“”«»')
LONGEST_SPAN, MOST_WORDS = 3, 24
"""Words of a span where nobody says how many, and the most that may be said of a relation."""
LONGEST_UNSPACED = 16
"""Characters of a span in a script without spaces; two of them count as a word."""


def word_spans(text: str, longest: int = LONGEST_SPAN, joiners: Collection[str] = ()) -> list[str]:
    """Every run of one to `longest` words with single spaces between them, each once, in the text's order.

    The full stop of an initial or a short title ends no run: Ann B. Lee, St. Louis. It may also end a sentence. Nor
    does the comma of a date, or what stands in `joiners`: ", " for Paris, France. A possessive is offered without its
    ending too: Auckland's North Shore is in Auckland; so is $5, 12% or U.S. without its sign or stop. Parts of a word
    joined by hyphens count as words of their own besides.
    """
    words = list(_WORD.finditer(text))
    joined = [_joined(text, *pair, joiners) for pair in itertools.pairwise(words)]
    sizes = [_size(word.group()) for word in words]
    spans: dict[str, None] = {}
    for first, word in enumerate(words):
        begin, size = word.start(), 0.0
        for last in range(first, len(words)):
            size += sizes[last]
            if size > max(1, longest) or (last - first >= LONGEST_UNSPACED and size < last - first):
                break
            for span in _spelled(text[begin : words[last].end()]):
                spans[span] = None
            if last == len(joined) or not joined[last]:
                break
        if not word.group().isalnum():
            parts = re.split("[-/&]", word.group())
            spans |= dict.fromkeys(filter(None, parts) if len(parts) > 1 else ())
    return list(spans)


def longest_and_joiners(answers: Iterable[str]) -> tuple[int, frozenset[str]]:
    """How many words a span has that quotes the longest of the answers, and what stands between the words of some."""
    longest, joiners = 1.0, set[str]()
    for answer in answers:
        words = list(_WORD.finditer(answer))
        longest = max(longest, len(answer.split()), sum(_size(word.group()) for word in words))
        for before, after in itertools.pairwise(words):
            if not _joined(answer, before, after):
                joiners.add(answer[before.end() : after.start()])
    return int(longest + 0.5), frozenset(filter(is_joiner, joiners))


def is_joiner(text: str) -> bool:
    """Whether a text may stand between the words of a span: not a bracket, of which the span would have one half."""
    return 0 < len(text) <= _LONGEST_JOINER and not _HALVES.intersection(text)


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
    whole = {run[:end] for run in runs for end in (len(run), *_ends(run))}
    return frozenset(inside.difference(*map(_spelled, whole)))


def _ends(run: str) -> Iterator[int]:
    """Where a sentence may end within a run: not after an initial, unless what follows begins sentences."""
    for stop in re.finditer(r"(?<!\w)(\w*)\. (?=(\w+))", run):
        initial = len(stop[1]) == 1 and run[stop.start() - 1 : stop.start()] != "."  # U.S. is none
        if not initial or stop[2].lower() in _BEGINS_SENTENCES:
            yield stop.end(1) + 1


def _spelled(span: str) -> Sequence[str]:
    """A span, and what is left without a possessive ending, a sign or a full stop."""
    if span[-1] in _BEHIND or span[0] in _BEFORE:
        return span, span.rstrip(_BEHIND), span.lstrip(_BEFORE), span.rstrip(_BEHIND).lstrip(_BEFORE)
    return (span, _POSSESSIVE.sub("", span)) if span[-1] == "s" else (span,)


def _size(word: str) -> float:
    """How many words it counts as."""
    return 0.5 if not word.isascii() and _UNSPACED.match(word) else 1.0


def _joined(text: str, before: re.Match[str], after: re.Match[str], joiners: Collection[str] = ()) -> bool:
    """Whether nothing but a space stands between two words, or the full stop of an initial before a capital."""
    between = text[before.end() : after.start()]
    if between == " " or between in joiners:
        return True
    word, following = before.group(), after.group()
    if not between:  # 1901年
        return _size(word) < 1 or _size(following) < 1
    if between == ", ":  # May 12, 1901
        return word.isdigit() and len(word) <= 2 and following.isdigit() and len(following) == 4
    short = word in _TITLES or (len(word) == 1 and word.isupper())
    return between == ". " and short and following[0].isupper()


def shape(span: str) -> str:
    """What a span looks like: a number or date, a name with a capital, or other words."""
    if any(character.isdigit() for character in span):
        return "number"
    return "name" if span[:1].isupper() else "words"
