"""Characters to ids and back.

Id 0 is the pad `□`, id 1 the mask `⁇`, then the corpus's characters in sorted order: the published layout, so that
weights of the course's files keep their meaning. Knows nothing of corpora beyond their characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from loci.errors import LociError
from loci.files import sha256_text

PAD = "□"
MASK = "⁇"
PAD_ID = 0
MASK_ID = 1


@dataclass(frozen=True)
class Vocab:
    """The symbols of one corpus; the position of a symbol in the tuple is its id."""

    symbols: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.symbols[:2] != (PAD, MASK):
            raise LociError(f"a vocabulary starts with {PAD!r} and {MASK!r}, this one with {self.symbols[:2]!r}")
        if len(set(self.symbols)) != len(self.symbols):
            raise LociError("a vocabulary contains each symbol once")

    @classmethod
    def from_text(cls, text: str) -> Vocab:
        """The vocabulary of a corpus. The two special symbols may not occur in the text itself."""
        characters = set(text)
        for special, name in ((PAD, "pad"), (MASK, "mask")):
            if special in characters:
                line = text[: text.index(special)].count("\n") + 1
                raise LociError(
                    f"the text contains {special!r}, which is the {name} symbol",
                    line=line,
                    remedy="remove it from the corpus; loci check --repair does",
                )
        return cls((PAD, MASK, *sorted(characters)))

    def with_characters(self, text: str) -> Vocab:
        """The vocabulary of a corpus that has these characters as well."""
        added = Vocab.from_text(text)
        return Vocab((PAD, MASK, *sorted({*self.symbols[2:], *added.symbols[2:]})))

    def __len__(self) -> int:
        return len(self.symbols)

    def __repr__(self) -> str:
        return f"Vocab({len(self)} symbols)"

    @cached_property
    def ids(self) -> dict[str, int]:
        """Symbol → id."""
        return {symbol: index for index, symbol in enumerate(self.symbols)}

    @cached_property
    def hash(self) -> str:
        """Short name of this exact vocabulary, kept next to weights and predictions."""
        return sha256_text("".join(self.symbols))[:16]

    def missing(self, text: str) -> list[str]:
        """The characters of `text` that this vocabulary lacks, sorted."""
        return sorted(set(text) - self.ids.keys())

    def encode(self, text: str) -> NDArray[np.int64]:
        """Ids of the characters of `text`; an unknown character is a `LociError`."""
        try:
            return np.fromiter((self.ids[character] for character in text), dtype=np.int64, count=len(text))
        except KeyError:
            raise LociError(
                f"{text[:60]!r} contains {', '.join(map(repr, self.missing(text)))}, which the vocabulary lacks",
                remedy="train on a corpus that has these characters, or drop the question; loci check lists them",
            ) from None

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`, special symbols included."""
        return "".join(self.symbols[index] for index in ids)
