"""Lines of a compiled corpus, each looked up when it is read. Knows nothing of how the corpus was compiled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from loci.text.corpus import Line
from loci.text.mapped import Array
from loci.text.vocab import Vocab

if TYPE_CHECKING:
    from loci.text.compiled import CompiledCorpus

_AT_ONCE = 1 << 14
"""Lines whose texts are looked up together."""


class MappedLine(Line):
    """A line that is looked up when it is read."""

    def __init__(self, corpus: CompiledCorpus, index: int):
        object.__setattr__(self, "_corpus", corpus)
        object.__setattr__(self, "_index", index)

    @property
    def number(self) -> int:
        """Its number in the file."""
        return self._index + 1  # type: ignore[attr-defined, no-any-return]

    @property
    def subject(self) -> str:
        """Whom it is about."""
        return self._corpus.subject(self._index)  # type: ignore[attr-defined, no-any-return]

    @property
    def text(self) -> str:
        """What it says."""
        return self._corpus.text(self._index)  # type: ignore[attr-defined, no-any-return]

    @property
    def length(self) -> int:
        """Its characters."""
        return self._corpus.length(self._index)  # type: ignore[attr-defined, no-any-return]

    def ids(self, vocab: Vocab) -> NDArray[np.int64]:
        """Its characters as ids of a vocabulary."""
        return self._corpus.encoded(self._index, vocab)  # type: ignore[attr-defined, no-any-return]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Line) and (self.number, self.subject, self.text) == (
            other.number,
            other.subject,
            other.text,
        )

    def __hash__(self) -> int:
        return hash((self.number, self.text))

    def __repr__(self) -> str:
        return f"Line({self.number}, {self.subject!r}, {self.text!r})"


class MappedLines(Sequence[Line]):
    """Some lines of a compiled corpus, or all of them."""

    def __init__(self, corpus: CompiledCorpus, chosen: Array | None = None):
        self.corpus, self.chosen = corpus, chosen

    def __len__(self) -> int:
        return len(self.corpus.offsets) - 1 if self.chosen is None else len(self.chosen)

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | Sequence[Line]:
        if isinstance(index, slice):
            chosen = np.arange(*index.indices(len(self)))
            return MappedLines(self.corpus, chosen if self.chosen is None else self.chosen[chosen])
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        return MappedLine(self.corpus, index if self.chosen is None else int(self.chosen[index]))

    def texts(self) -> Iterator[str]:
        """What these lines say, one after the other: many are looked up at once."""
        if self.chosen is not None:
            yield from (self.corpus.text(int(index)) for index in self.chosen)
            return
        offsets = self.corpus.offsets
        for begin in range(0, len(self), _AT_ONCE):
            end = min(begin + _AT_ONCE, len(self))
            yield from self.corpus.between(int(offsets[begin]), int(offsets[end]) - 1).split("\n")

    def named(self) -> Array:
        """Which of these lines have a subject."""
        named: Array = np.diff(self.corpus.arrays["subject_offsets"]) > 0
        named[list(self.corpus.added)] = True
        return named if self.chosen is None else named[self.chosen]

    def lengths(self, positions: Array) -> Array:
        """The characters of some of these lines."""
        lines, offsets = positions if self.chosen is None else self.chosen[positions], self.corpus.offsets
        found: Array = offsets[lines + 1] - offsets[lines] - 1
        return found
