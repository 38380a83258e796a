"""A large corpus, compiled once into arrays that are mapped into memory: reading it again takes no time and no memory.

    wiki.txt.compiled/  ids.npy           every character of the text as an id of the corpus's own vocabulary
                        offsets.npy       where each line begins
                        subjects.npy, subject_offsets.npy    the subjects' names, UTF-8, line after line
                        names.npy, keys.npy, by_key.npy      hashes of the names, to find the lines of a subject
                        corpus.json       vocabulary, hash of the text
                        manifest.json     hashes of all these files

All processes of a machine share the mapped pages. It is compiled anew when the text's hash is another one. `read_large`
gives a `Corpus` whose lines are made when they are asked for. Knows nothing of batches or models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from loci.files import sha256_file
from loci.text.compiling import ABOUT, FORMAT, KIND, About, compile_corpus, name_hash
from loci.text.corpus import Corpus, Line
from loci.text.findings import Finding
from loci.text.mapped import Array, folder_for, opened_or_made, read_arrays
from loci.text.mapped_lines import MappedLine, MappedLines
from loci.text.source import has_surrogate
from loci.text.subject_index import SubjectIndex, subject_key, without_article
from loci.text.vocab import Vocab

LARGE = 32 << 20
"""Bytes from which on a corpus is compiled; a smaller one is read into memory in a second or two."""
_ARRAYS = ("ids", "offsets", "subjects", "subject_offsets", "names", "keys", "by_key")


def is_large(path: Path) -> bool:
    """Whether a corpus is large enough to be compiled."""
    return path.is_file() and path.stat().st_size >= LARGE


def read_large(path: Path) -> Corpus | None:
    """The corpus of a text file as mapped arrays, compiled if need be; None where it must be read in memory."""
    digest, folder = sha256_file(path), folder_for(path)
    return opened_or_made(folder, lambda: _opened(folder, path, digest), lambda: compile_corpus(path, folder, digest))


def _opened(folder: Path, path: Path, digest: str) -> CompiledCorpus | None:
    found = read_arrays(folder, KIND, FORMAT, About, ABOUT, _ARRAYS)
    if found is None or found[0].sha256 != digest or not _fit_together(*found):
        return None
    return CompiledCorpus(path, *found)


def _fit_together(about: About, arrays: Mapping[str, Array]) -> bool:
    """Whether every place that the arrays name is one of the text: the folder may come from a stranger."""
    ids, offsets, names = arrays["ids"], arrays["offsets"], arrays["subject_offsets"]
    one_row = all(array.ndim == 1 and array.dtype.kind in "iu" for array in arrays.values())
    if not one_row or len(offsets) < 2 or len(names) != len(offsets) or not about.symbols:
        return False
    lines = len(offsets) - 1
    return (
        all(len(symbol) == 1 and not has_surrogate(symbol) for symbol in about.symbols)
        and (int(offsets[0]), int(offsets[-1])) == (0, len(ids))
        and (int(names[0]), int(names[-1])) == (0, len(arrays["subjects"]))
        and bool((np.diff(offsets) > 0).all() and (np.diff(names) >= 0).all())
        and all(len(arrays[name]) == lines for name in ("names", "keys", "by_key"))
        and int(arrays["by_key"].min()) >= 0
        and int(arrays["by_key"].max()) < lines
        and int(ids.max()) < len(about.symbols)
    )


class CompiledCorpus(Corpus):
    """A `Corpus` whose lines are in mapped arrays."""

    def __init__(
        self,
        path: Path,
        about: About,
        arrays: Mapping[str, Array],
        added: Mapping[int, str] | None = None,
        *,
        bare: bool = False,
    ):
        own = {"path": path, "findings": (), "about_text": about, "arrays": arrays, "added": dict(added or {})}
        own |= {"bare": bare}
        own |= {"offsets": arrays["offsets"], "symbols": np.array([ord(symbol) for symbol in about.symbols], "<u4")}
        for name, value in own.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "lines", MappedLines(self))
        object.__setattr__(self, "_tables", {})

    path: Path
    findings: tuple[Finding, ...]
    about_text: About
    arrays: Mapping[str, Array]
    added: dict[int, str]
    """Subjects that questions name, of lines that tell none themselves."""
    bare: bool
    """Whether subjects have lost their articles, as questions have it."""
    offsets: Array
    symbols: Array
    _tables: dict[str, tuple[Array, bool]]
    """The ids of another vocabulary, by its hash, and whether it lacks some symbol."""

    def text(self, index: int) -> str:
        """The text of a line."""
        return self.between(int(self.offsets[index]), int(self.offsets[index + 1]) - 1)

    def between(self, start: int, stop: int) -> str:
        """The text from one character to another."""
        return self.symbols[self.arrays["ids"][start:stop]].tobytes().decode("utf-32-le")

    def length(self, index: int) -> int:
        """The characters of a line."""
        return int(self.offsets[index + 1]) - int(self.offsets[index]) - 1

    def encoded(self, index: int, vocab: Vocab) -> NDArray[np.int64]:
        """The characters of a line as ids of another vocabulary."""
        if vocab.hash not in self._tables:
            table = np.array([vocab.ids.get(symbol, -1) for symbol in self.about_text.symbols])
            self._tables[vocab.hash] = table, bool(table.min() < 0)
        table, lacking = self._tables[vocab.hash]
        found: NDArray[np.int64] = table[self.arrays["ids"][self.offsets[index] : self.offsets[index + 1] - 1]]
        if lacking and len(found) and found.min() < 0:
            vocab.encode(self.text(index))  # says what is missing
        return found

    def subject(self, index: int) -> str:
        """The subject of a line."""
        begin, end = self.arrays["subject_offsets"][index : index + 2]
        found = self.arrays["subjects"][begin:end].tobytes().decode(errors="replace") or self.added.get(index, "")
        return without_article(found) if self.bare else found

    @property
    def raw(self) -> str:
        """The whole text, put together anew each time: prefer the lines."""
        end = int(self.offsets[-1])
        return self.between(0, end if self.about_text.final_newline else end - 1)

    @cached_property
    def hash(self) -> str:
        """Short name of this exact text."""
        return self.about_text.sha256[:16]

    @cached_property
    def vocab(self) -> Vocab:
        """The symbols of this corpus."""
        return Vocab(self.about_text.symbols)

    @cached_property
    def filled(self) -> Sequence[Line]:
        """The lines that say anything."""
        blank = [index for index in np.flatnonzero(np.diff(self.offsets) < 4) if not self.text(int(index)).strip()]
        if not blank:  # longer lines of nothing but space are rare enough to be learned from
            return self.lines
        return MappedLines(self, np.delete(np.arange(len(self.lines)), blank))

    @cached_property
    def by_subject(self) -> Mapping[str, tuple[Line, ...]]:
        """Subject → its lines, in the file's order."""
        return _BySubject(self)

    @property
    def first_lines(self) -> Sequence[Line]:
        """The first line of each subject."""
        return MappedLines(self, _BySubject(self).firsts)

    @property
    def repeated(self) -> Mapping[str, tuple[Line, ...]]:
        """The subjects of more than one line."""
        if self.added:
            return super().repeated
        _, firsts, counts = np.unique(self.arrays["names"], return_index=True, return_counts=True)
        names = [self.subject(int(index)) for index in np.sort(firsts[counts > 1])]
        return {name: self.by_subject[name] for name in names if name}

    def about(self, subject: str) -> tuple[Line, ...]:
        """The lines of this subject; where none is spelled so, of the only one that differs in case or article."""
        alike = [MappedLine(self, index) for index in self.alike(subject)]
        if len(alike) == 1:  # spelled so or not
            return tuple(alike)
        exact = tuple(line for line in alike if line.subject == subject)
        return exact or (tuple(alike) if len({line.subject for line in alike}) == 1 else ())

    def alike(self, subject: str) -> list[int]:
        """The lines whose subject has the same key."""
        if not subject:
            return []
        keys, key, found = self.arrays["keys"], name_hash(subject_key(subject)), []
        for at in range(int(keys.searchsorted(key)), len(keys)):
            if keys[at] != key:
                break
            found.append(int(self.arrays["by_key"][at]))
        if self.added:
            found += [index for index, name in self.added.items() if subject_key(name) == subject_key(subject)]
        return sorted(found)

    def _with_articles(self) -> Iterator[str]:
        """The subjects that begin with an article."""
        yield from (name for name in self.added.values() if without_article(name) != name)
        data, begins = self.arrays["subjects"], self.arrays["subject_offsets"][:-1]
        if not len(data):
            return
        first, second = (data[np.minimum(begins + at, len(data) - 1)] | 32 for at in (0, 1))  # in lower case
        like_one = ((first == ord("t")) & (second == ord("h"))) | ((first == ord("a")) & np.isin(second, list(b" n")))
        for index in np.flatnonzero(like_one):
            if without_article(name := self.subject(int(index))) != name:
                yield name

    def knowing(self, subjects: Iterable[str]) -> Corpus:
        """The same corpus, its subjects as these are spelled: see `Corpus.knowing`."""
        asked = list(subjects)
        nameless = np.flatnonzero(np.diff(self.arrays["subject_offsets"]) == 0)
        bare = self.lacks_articles(asked)
        if not len(nameless) and not bare:
            return self
        index = SubjectIndex(asked)
        named = ((int(one), index.named_in(self.text(int(one)))) for one in nameless)
        added = {one: name for one, name in named if name}
        return CompiledCorpus(self.path, self.about_text, self.arrays, added, bare=bare)

    def __repr__(self) -> str:
        return f"Corpus({self.path.name!r}: {len(self.lines):,} lines about {len(self.by_subject):,} subjects, mapped)"


class _BySubject(Mapping[str, tuple[Line, ...]]):
    def __init__(self, corpus: CompiledCorpus):
        self.corpus = corpus
        self.hash = corpus.hash

    @cached_property
    def firsts(self) -> Array:
        """The first line of each subject."""
        names, firsts = np.unique(self.corpus.arrays["names"], return_index=True)
        found = firsts[names != 0]
        seen = {self.corpus.subject(index) for index in self.corpus.added}
        more = [next(i for i, name in self.corpus.added.items() if name == one) for one in seen if not self._has(one)]
        return np.sort(np.concatenate([found, np.array(more, dtype=found.dtype)]))

    def _has(self, name: str) -> bool:
        return any(
            self.corpus.subject(index) == name and index not in self.corpus.added for index in self.corpus.alike(name)
        )

    def __len__(self) -> int:
        return len(self.firsts)

    def __iter__(self) -> Iterator[str]:
        return (self.corpus.subject(int(index)) for index in self.firsts)

    def __contains__(self, subject: object) -> bool:
        return isinstance(subject, str) and any(self.corpus.subject(i) == subject for i in self.corpus.alike(subject))

    def __getitem__(self, subject: str) -> tuple[Line, ...]:
        found = tuple(self.corpus.lines[i] for i in self.corpus.alike(subject) if self.corpus.subject(i) == subject)
        if not found:
            raise KeyError(subject)
        return found
