"""Finding subjects that are known by name in a text, as whole words.

Names are compared without punctuation, article and title. Knows nothing of lines, or of how subjects were found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from loci.text.scripts import PUNCTUATION, UNSPACED

#: What may stand before a whole name and is no part of it; "King" or "Lord" is, where no surname follows.
TITLES = frozenset("Dr Mr Mrs Ms Prof Rev Sir Dame Capt Col Gen Lt".split())
ARTICLES = frozenset(("the", "a", "an"))
_LONGEST_SUBJECT = 40  # words that are looked for in other lines: a table's titles of works are longer than names
_UNSPACED_NAME = re.compile(f"[{UNSPACED}]{{2,}}")


def subject_key(name: str) -> str:
    """What two spellings of one subject share: case, a leading article or title and repeated spaces do not count."""
    return " ".join(without_title(_without_article(name.casefold().split())))


def without_article(name: str) -> str:
    """A name or text without the article at its beginning: "The Delta Desk" is the "Delta Desk"."""
    first, space, rest = name.partition(" ")
    return rest if space and first.lower() in ARTICLES else name


class SubjectIndex:
    """Finds the longest of many subjects in a text, as whole words, spelled as they are.

    An article does not count, and a title may be left out.
    """

    def __init__(self, names: Iterable[str]):
        words = {name: list(map(_bare, _without_article(name.split()))) for name in names}
        untitled = {" ".join(without_title(own)): name for name, own in words.items()}
        self.names = untitled | {" ".join(own): name for name, own in words.items()}
        self.longest: dict[str, int] = {}
        for key in map(str.split, self.names):
            if 0 < len(key) <= _LONGEST_SUBJECT:
                self.longest[key[0]] = max(self.longest.get(key[0], 0), len(key))
        unspaced = filter(_UNSPACED_NAME.fullmatch, self.names)
        self.sizes = sorted({len(name) for name in unspaced if len(name) <= _LONGEST_SUBJECT}, reverse=True)

    def find(self, text: str) -> tuple[str, int, int] | None:
        """The longest subject, and where it begins and ends in the text."""
        tokens = list(re.finditer(r"\S+", text))
        words = [_bare(token.group()) for token in tokens]
        begin, best = 0, 0
        for start, word in enumerate(words):
            for size in range(min(self.longest.get(word, 0), len(words) - start), best, -1):
                if " ".join(words[start : start + size]) in self.names:
                    begin, best = start, size
                    break
        if not best:
            return self._find_unspaced(text)
        name = self.names[" ".join(words[begin : begin + best])]
        left = text.index(words[begin], tokens[begin].start())
        last = tokens[begin + best - 1]
        right = text.index(words[begin + best - 1], last.start()) + len(words[begin + best - 1])
        spelled = text[left:].startswith(name)  # with its bracket: "John Smith (footballer)"
        return name, left, left + len(name) if spelled else right

    def _find_unspaced(self, text: str) -> tuple[str, int, int] | None:
        """The same in a script without spaces between words, where a name may stand anywhere."""
        found = ((size, start) for size in self.sizes for start in range(len(text) - size + 1))
        for size, start in found if _UNSPACED_NAME.search(text) else ():
            if (key := text[start : start + size]) in self.names and _UNSPACED_NAME.fullmatch(key):
                return self.names[key], start, start + size
        return None

    def named_in(self, text: str) -> str:
        """The longest subject that the text names; "" if it names none."""
        found = self.find(text)
        return found[0] if found else ""


def _bare(word: str) -> str:
    """A word without the punctuation around it and without a possessive ending."""
    return re.sub(r"['’]s$", "", word.strip(PUNCTUATION))


def _without_article(words: list[str]) -> list[str]:
    return words[1:] if len(words) > 1 and words[0].lower() in ARTICLES else words


def without_title(words: list[str]) -> list[str]:
    """The words of a name without its titles, where a whole name is left: "Mr. Bean" stays."""
    while len(words) > 2 and is_title(words[0]):
        words = words[1:]
    return words


def is_title(word: str) -> bool:
    """Whether a word is a title, with its full stop or without."""
    return word.rstrip(".").capitalize() in TITLES
