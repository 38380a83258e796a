"""Many short texts in one block of bytes: a fifth of the memory of as many strings, and it can be mapped from a file.

Knows nothing of what the texts say.
"""

from __future__ import annotations

import hashlib
import itertools
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np

from loci.text.mapped import Array

_AT_ONCE = 1 << 12
"""Texts that are decoded together."""


class Packer:
    """Texts as they come."""

    def __init__(self) -> None:
        self.data, self.offsets = bytearray(), array("q", [0])

    def add(self, text: str) -> None:
        """One more."""
        self.data += text.encode(errors="replace") + b"\n"
        self.offsets.append(len(self.data))

    def texts(self) -> Texts:
        """All of them."""
        return Texts(np.frombuffer(self.data, dtype=np.uint8), np.frombuffer(self.offsets, dtype=np.int64))


class Texts(Sequence[str]):
    """Texts without line ends, in UTF-8, each followed by one: text i is `data[offsets[i] : offsets[i + 1] - 1]`."""

    def __init__(self, data: Array, offsets: Array):
        self.data, self.offsets = data, offsets
        self._data, self._offsets = data.data, offsets.data  # quicker than numpy for one at a time

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """Pack texts, one after the other."""
        packer = Packer()
        for text in texts:
            packer.add(text)
        return packer.texts()

    def is_sound(self) -> bool:
        """Whether data and offsets fit together: they may come from a stranger's file."""
        ends = self.offsets[1:]
        return (
            (self.data.ndim, self.data.dtype.str, self.offsets.ndim, self.offsets.dtype.str) == (1, "|u1", 1, "<i8")
            and len(self.offsets) > 0
            and (int(self.offsets[0]), int(self.offsets[-1])) == (0, len(self.data))
            and bool((np.diff(self.offsets) > 0).all() and (self.data[ends - 1] == ord("\n")).all())
            and int((self.data == ord("\n")).sum()) == len(ends)
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Texts: ...
    def __getitem__(self, index: int | slice) -> str | Texts:
        if isinstance(index, slice):
            begin, end, step = index.indices(len(self))
            if step != 1:
                return Texts.of(self[at] for at in range(begin, end, step))
            offsets = self.offsets[begin : max(begin, end) + 1]
            return Texts(self.data[offsets[0] : offsets[-1]], offsets - offsets[0])
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        return str(self._data[self._offsets[index] : self._offsets[index + 1] - 1], "utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return itertools.chain.from_iterable(block.split("\n") for block in self._blocks())

    def _blocks(self) -> Iterator[str]:
        for begin in range(0, len(self), _AT_ONCE):
            end = min(begin + _AT_ONCE, len(self))
            yield str(self._data[self._offsets[begin] : self._offsets[end] - 1], "utf-8", "replace")

    def characters(self) -> set[str]:
        """The characters that occur in any of the texts."""
        return set().union(*self._blocks()) - {"\n"}

    def sha256(self) -> str:
        """The hash of all texts as lines of a file."""
        return hashlib.sha256(self._data).hexdigest()
