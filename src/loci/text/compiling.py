"""Compiling a corpus: three passes over its text, a block of it in memory at a time (`loci.text.compiled` reads it).

Knows nothing of lines and their use.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from loci.files import atomic_folder
from loci.text.formats import corpus_format
from loci.text.mapped import Array, finish_folder
from loci.text.source import LARGEST, LONGEST_LINE, ZERO_WIDTH, Source
from loci.text.subject_index import subject_key
from loci.text.subjects import certain_subject, find_subjects
from loci.text.vocab import MASK, PAD

KIND, FORMAT, ABOUT = "compiled corpus", 5, "corpus.json"
_BLOCK = 1 << 22


class About(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What corpus.json says."""

    sha256: str
    """Of the text."""
    symbols: tuple[str, ...]
    final_newline: bool


def name_hash(name: str) -> np.uint64:
    """A name as one number, never 0."""
    return np.uint64(int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") | 1)


def _blocks(path: Path) -> Iterator[str]:
    """The text in blocks of whole lines; every block ends with a newline."""
    with open(path, "rb") as handle:
        rest = b""
        while block := handle.read(_BLOCK):
            whole, newline, rest = (rest + block).rpartition(b"\n")
            if len(rest) > LONGEST_LINE:
                raise _NotPlain
            if newline:
                yield (whole + newline).decode()
        if rest:
            yield rest.decode() + "\n"


def compile_corpus(path: Path, folder: Path, digest: str) -> bool:
    """Write the arrays of a text; False where it is no plain UTF-8 text of lines ended by a newline."""
    try:
        symbols, n_characters, n_lines = _survey(path)
    except (UnicodeDecodeError, _NotPlain):
        return False
    size = np.uint8 if len(symbols) <= 1 << 8 else np.uint16 if len(symbols) <= 1 << 16 else np.uint32
    table = np.zeros(max(map(ord, symbols)) + 1, dtype=size)
    for index, symbol in enumerate(symbols):
        table[ord(symbol)] = index
    newline = table[ord("\n")]
    with atomic_folder(folder) as temporary:
        ids = np.lib.format.open_memmap(temporary / "ids.npy", mode="w+", dtype=size, shape=(n_characters,))
        offsets = np.zeros(n_lines + 1, dtype=np.int64)
        at, line = 0, 0
        for text in _blocks(path):
            own = table[np.frombuffer(text.encode("utf-32-le"), dtype="<u4")]
            ids[at : at + len(own)] = own
            ends = np.flatnonzero(own == newline) + at + 1
            offsets[line + 1 : line + 1 + len(ends)] = ends
            at, line = at + len(own), line + len(ends)
        ids.flush()
        arrays = {"offsets": offsets, **_subjects(path, n_lines)}
        for name, array in arrays.items():
            np.save(temporary / f"{name}.npy", array)
        with open(path, "rb") as handle:
            handle.seek(-1, os.SEEK_END)
            about = About(digest, tuple(symbols), handle.read() == b"\n")
        finish_folder(temporary, KIND, FORMAT, about, ABOUT)
    return True


class _NotPlain(Exception):
    """The text needs a repair, or is of another form."""


def _survey(path: Path) -> tuple[list[str], int, int]:
    """The symbols of a text, its characters and its lines."""
    characters: set[str] = set()
    n_characters = n_lines = 0
    for text in _blocks(path):
        if not n_lines and corpus_format(Source(path, text[: 1 << 16]))[0] != "text":
            raise _NotPlain
        characters |= set(text)
        n_characters += len(text)
        n_lines += text.count("\n")
    if not n_lines or not characters.isdisjoint({PAD, MASK, "\t", "\r", "\0", *ZERO_WIDTH}):
        raise _NotPlain
    return [PAD, MASK, *sorted(characters)], n_characters, n_lines


def _subjects(path: Path, n_lines: int) -> dict[str, Array]:
    """The subjects of all lines as arrays, found by the rules of `loci.text.subjects`."""
    lines = (line for text in _blocks(path) for line in text.removesuffix("\n").split("\n"))
    named = filled = 0
    found = _Names()
    too_large = path.stat().st_size > LARGEST  # to look at all lines together
    for line in lines:
        name, like_one = certain_subject(line)
        named, filled = named + like_one, filled + bool(line.strip())
        if not name and line.strip() and not too_large:
            break
        found.add(name)
    else:
        if too_large or named * 2 >= filled:
            return found.arrays()
    # Some line does not begin with its subject's name: the other rules look at all lines together.
    texts = [line for text in _blocks(path) for line in text.removesuffix("\n").split("\n")]
    found = _Names()
    for name in find_subjects(texts):
        found.add(name)
    return found.arrays()


class _Names:
    """The subjects of lines as they come: 40 bytes a line, whatever is long about it."""

    def __init__(self) -> None:
        self.text, self.offsets = bytearray(), array("q", [0])
        self.names, self.keys = array("Q"), array("Q")

    def add(self, name: str) -> None:
        self.text += name.encode()
        self.offsets.append(len(self.text))
        self.names.append(int(name_hash(name)) if name else 0)
        self.keys.append(int(name_hash(subject_key(name))) if name else 0)

    def arrays(self) -> dict[str, Array]:
        keys = np.frombuffer(self.keys, dtype=np.uint64)
        order = np.argsort(keys, kind="stable")
        return {
            "subjects": np.frombuffer(self.text, dtype=np.uint8),
            "subject_offsets": np.frombuffer(self.offsets, dtype=np.int64),
            "names": np.frombuffer(self.names, dtype=np.uint64),
            "keys": keys[order],
            "by_key": order.astype(np.uint32 if len(keys) < 1 << 32 else np.uint64),
        }
