"""A text that is no list of lines: a play, a novel. Cut into pieces that a language model takes windows of.

Knows nothing of vocabularies or models.
"""

from __future__ import annotations

from loci.text.corpus import Line


def pieces(text: str, length: int) -> list[Line]:
    """Overlapping pieces of 2·length − 1 characters, one beginning at every length-th character.

    A random window of `length` characters in a random piece is then any window of the text with the same probability
    (only the last piece may be shorter, and its windows a little likelier). A text shorter than that is one piece.
    """
    cut, line, counted = [], 1, 0
    for start in range(0, max(0, len(text) - length) + 1, length):
        line += text.count("\n", counted, start)
        counted = start
        cut.append(Line(line, "", text[start : start + 2 * length - 1]))
    return cut
