"""Characters to ids and back.

Id 0 is the pad `□`, id 1 the mask `⁇`, then the corpus's characters in sorted order: the published layout, so that
weights of the course's files keep their meaning. A model from elsewhere brings its own symbols: characters in another
order without the two special ones, or longer tokens with the tokenizer that finds them. Such a model can be read and
scored, not asked. Knows nothing of corpora beyond their characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from loci.errors import LociError
from loci.files import sha256_text

PAD = "□"
MASK = "⁇"
PAD_ID = 0
MASK_ID = 1
Layout = Literal["loci", "characters", "tokens"]
"""Ours with pad and mask; characters of a model from elsewhere; tokens that a tokenizer of the same finds."""


@dataclass(frozen=True)
class Vocab:
    """The symbols of one corpus; the position of a symbol in the tuple is its id."""

    symbols: tuple[str, ...]
    layout: Layout = "loci"
    tokenizer: bytes | None = None
    """What tokenizer.json holds, for the layout `tokens`."""

    def __post_init__(self) -> None:
        if (self.layout == "tokens") != (self.tokenizer is not None):
            raise LociError("tokens come with their tokenizer, characters without")
        if self.layout == "loci" and self.symbols[:2] != (PAD, MASK):
            raise LociError(f"a vocabulary starts with {PAD!r} and {MASK!r}, this one with {self.symbols[:2]!r}")
        if len(set(self.symbols)) != len(self.symbols):
            raise LociError("a vocabulary contains each symbol once")

    @classmethod
    def from_text(cls, text: str) -> Vocab:
        """The vocabulary of a corpus. The two special symbols may not occur in the text itself."""
        characters = set(text)
        for special, name in ((PAD, "pad"), (MASK, "mask")):
            if special in characters:
                line, message = text.count("\n", 0, text.index(special)) + 1, f"the text contains {special!r}"
                remedy = "remove it from the corpus; loci check --repair does"
                raise LociError(f"{message}, which is the {name} symbol", line=line, remedy=remedy)
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
        if self.layout == "tokens":
            return []  # bytes are tokens too, so nothing is
        return sorted(set(text) - self.ids.keys())

    def encode(self, text: str) -> NDArray[np.int64]:
        """Ids of the characters of `text`; an unknown character is a `LociError`."""
        if self.layout == "tokens":
            return np.array(self._library.encode(text, add_special_tokens=False).ids, dtype=np.int64)
        try:
            return np.fromiter((self.ids[character] for character in text), dtype=np.int64, count=len(text))
        except KeyError:
            raise LociError(
                f"{text[:60]!r} contains {', '.join(map(repr, self.missing(text)))}, which the vocabulary lacks",
                remedy="train on a corpus that has these characters, or drop the question; loci check lists them",
            ) from None

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`, special symbols included."""
        if self.layout == "tokens":
            return str(self._library.decode(list(ids), skip_special_tokens=False))
        return "".join(self.symbols[index] for index in ids)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The text of each id by itself, as it is shown to a person."""
        return [self.decode([index]) for index in ids]

    def positions(self, text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Spans of characters as spans of ids: from the first token that holds a character of one to its last."""
        if self.layout != "tokens":
            return list(spans)
        offsets = self._library.encode(text, add_special_tokens=False).offsets
        found = []
        for start, stop in spans:
            inside = [index for index, (begin, end) in enumerate(offsets) if begin < stop and end > start]
            found.append((inside[0], inside[-1] + 1) if inside else (0, 0))
        return found

    def require_mask(self) -> None:
        """A `LociError` unless there is a mask to ask with."""
        if self.layout != "loci":
            raise LociError(
                "this imported model has no mask ⁇, so it cannot be asked or taught",
                remedy="loci sample, look --answer, heads, repetition work, and score, loss, activations in Python",
            )

    @cached_property
    def _library(self) -> Any:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            remedy = "pip install 'loci-lab[hf]'"
            raise LociError("this model's tokens need the tokenizers library", remedy=remedy) from None
        assert self.tokenizer is not None
        try:
            return Tokenizer.from_str(self.tokenizer.decode())
        except Exception as error:  # the library's errors are plain Exceptions
            raise LociError(f"the model's tokenizer.json cannot be read: {error}") from None
