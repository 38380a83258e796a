"""The entity sketch of a line: its capitalised words and the few words that lead up to each, without numbers.

It is about half as long as the line and contains nearly every name and place with the words that say what it is to the
subject ("born in", "moved to"). A rule of spelling, no list of places and nothing about any
relation. Knows nothing of models.
"""

from __future__ import annotations

LEADING = 2
"""How many words before a capitalised one are kept with it."""
_OPENING = "(\"'`[*“‘"


def entity_sketch(text: str, *, leading: int = LEADING) -> str:
    """The entity sketch of a text; of one without a capital or number to go by, the text itself."""
    words = text.split(" ")
    kept = [False] * len(words)
    for position, word in enumerate(words):
        if not word.lstrip(_OPENING)[:1].isupper():
            continue
        kept[position] = True
        before, wanted = position - 1, leading
        while before >= 0 and wanted and not kept[before]:
            if not _has_digit(words[before]):
                kept[before] = True
                wanted -= 1
            before -= 1
    chosen = [word for word, keep in zip(words, kept, strict=True) if keep and word and not _has_digit(word)]
    return " ".join(chosen) or text


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)
