"""A corpus: lines of text, each about one subject.

Knows nothing of questions or models. Reading a text file keeps the text exactly as it stands, save for repairs that are
recorded in `findings`; from records with sentences one line a sentence is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from loci.errors import LociError
from loci.files import sha256_text
from loci.text.asked_subjects import subjects_as_asked
from loci.text.findings import Finding, Notes, raise_first_error
from loci.text.formats import corpus_format
from loci.text.layout import find_corpora
from loci.text.line_findings import clean_text, note_lines
from loci.text.match import any_stands_in
from loci.text.scripts import STOPS
from loci.text.source import Source, load, note_specials, specials_in, without_specials
from loci.text.subject_index import subject_key, without_article
from loci.text.subjects import find_subjects
from loci.text.vocab import Vocab

_AFTER_NAME = frozenset("." + STOPS)


@dataclass(frozen=True)
class Line:
    """One line of a corpus, about one subject; the subject is empty where none was found."""

    number: int
    subject: str
    text: str

    @property
    def length(self) -> int:
        """Its characters."""
        return len(self.text)

    def ids(self, vocab: Vocab) -> NDArray[np.int64]:
        """Its characters as ids of a vocabulary."""
        return vocab.encode(self.text)

    @property
    def body(self) -> str:
        """What the line says of its subject: the text after `Subject. `, or after `The Subject. `."""
        text, subject = self.text, self.subject
        named = without_article(text)
        text = named if subject and named.startswith(f"{subject}.") else text
        said = text.removeprefix(subject)
        return (said[1:] if subject and said[:1] in _AFTER_NAME else said).lstrip()


@dataclass(frozen=True)
class Corpus:
    """The lines of one corpus. `raw` is the text as read: vocabulary and character count come from it."""

    path: Path | None
    lines: Sequence[Line]
    raw: str
    findings: tuple[Finding, ...] = ()
    files: tuple[tuple[Path, int], ...] = ()
    """Of several files read as one: each with the number of the line before its first."""

    def __post_init__(self) -> None:
        if specials_in(self.raw):
            notes = Notes(self.path)
            for number, text in enumerate(self.raw.split("\n"), start=1):
                note_specials(notes, number, text, without_specials(text))
            raise_first_error(notes.found)

    def __repr__(self) -> str:
        name = f"{self.path.name!r}: " if self.path is not None else ""
        return f"Corpus({name}{len(self.lines):,} lines about {len(self.by_subject):,} subjects)"

    @classmethod
    def read(cls, path: str | Path, *, mapped: bool = True) -> Corpus:
        """Read a file, or a folder's texts and documents as one, else its files of records. Repairs made are in
        `repairs`.

        A large file is compiled once and mapped into memory (`loci.text.compiled`), unless `mapped` is False.
        """
        from loci.text import compiled  # later: it builds on this module

        file, *others = find_corpora(path)
        if others:
            return cls.joined(Path(path), [cls.read(one, mapped=False) for one in (file, *others)])
        if mapped and compiled.is_large(file) and (found := compiled.read_large(file)) is not None:
            return found
        parsed = parse_corpus(load(file))
        raise_first_error(parsed.findings)
        return cls(parsed.path, parsed.lines, parsed.raw, parsed.findings)

    @classmethod
    def joined(cls, folder: Path, corpora: Sequence[Corpus]) -> Corpus:
        """The corpora of several files of a folder as one, their lines counted through."""
        lines: list[Line] = []
        files: list[tuple[Path, int]] = []
        for corpus in corpora:
            before = lines[-1].number if lines else 0
            files.append((corpus.path or folder, before))
            lines += [replace(line, number=before + line.number) for line in corpus]
        findings = tuple(found for corpus in corpora for found in corpus.findings)
        return cls(folder, tuple(lines), "".join(corpus.raw for corpus in corpora), findings, tuple(files))

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> Corpus:
        """A corpus of `lines` in memory; the text written from its `raw` reads back the same."""
        texts = [line.removesuffix("\n") for line in lines]
        for number, text in enumerate(texts, start=1):
            if "\n" in text or "\r" in text:
                raise LociError("a line of a corpus contains no line end", line=number, remedy="split it first")
        subjects = find_subjects(texts)
        made = tuple(Line(number, *pair) for number, pair in enumerate(zip(subjects, texts, strict=True), start=1))
        return cls(None, made, "".join(f"{text}\n" for text in texts))

    def place(self, number: int) -> tuple[Path | None, int]:
        """Of several files the one with the line of this number, and its number there; else no file and the number."""
        return next(
            ((file, number - before) for file, before in reversed(self.files) if number > before), (None, number)
        )

    def knowing(self, subjects: Iterable[str]) -> Corpus:
        """The same corpus, its subjects as these are spelled.

        Lines about nobody, or begun with a name that nobody asks about, may be about one of these
        (`loci.text.asked_subjects`). Where these lack the articles of the corpus ("Where is the {subject} made?" and
        "The Delta Desk. It is …"), all subjects lose theirs.
        """
        asked = list(subjects)
        own = [line.subject for line in self.lines]
        known = subjects_as_asked([line.text for line in self.lines], own, asked)
        if self.lacks_articles(asked):
            known = list(map(without_article, known))
        if known == own:
            return self
        lines = (replace(line, subject=name) for line, name in zip(self.lines, known, strict=True))
        return replace(self, lines=tuple(lines))

    def lacks_articles(self, subjects: Sequence[str]) -> bool:
        """Whether some of these are subjects of the corpus but for their article, and none has one."""
        asked: set[str] | None = None
        for own in self._with_articles():
            if asked is None:
                asked = set(subjects)
                if any(without_article(subject) != subject for subject in asked):
                    return False
            subject = without_article(own)
            if subject in asked and any(line.subject == own for line in self.about(subject)):
                return True
        return False

    def _with_articles(self) -> Iterator[str]:
        """The subjects that begin with an article."""
        return (name for name in self.by_subject if without_article(name) != name)

    @property
    def repairs(self) -> tuple[Finding, ...]:
        """What reading put right."""
        return tuple(found for found in self.findings if found.repaired)

    @cached_property
    def filled(self) -> Sequence[Line]:
        """The lines that say anything."""
        return [line for line in self.lines if line.text.strip()]

    @cached_property
    def hash(self) -> str:
        """Short name of this exact text."""
        return sha256_text(self.raw)[:16]

    @cached_property
    def vocab(self) -> Vocab:
        """The symbols of this corpus."""
        return Vocab.from_text(self.raw)

    @cached_property
    def by_subject(self) -> Mapping[str, tuple[Line, ...]]:
        """Subject → its lines, in the file's order. Blank lines are about nobody."""
        grouped: dict[str, list[Line]] = {}
        for line in self.lines:
            if line.subject:
                grouped.setdefault(line.subject, []).append(line)
        return {subject: tuple(lines) for subject, lines in grouped.items()}

    @property
    def first_lines(self) -> Sequence[Line]:
        """The first line of each subject."""
        return [lines[0] for lines in self.by_subject.values()]

    @property
    def repeated(self) -> Mapping[str, tuple[Line, ...]]:
        """The subjects of more than one line."""
        return {subject: lines for subject, lines in self.by_subject.items() if len(lines) > 1}

    def about(self, subject: str) -> tuple[Line, ...]:
        """The lines of this subject; where none is spelled so, of the only one that differs in case or article."""
        return self.by_subject.get(subject) or self.by_subject.get(self._by_key.get(subject_key(subject), ""), ())

    @cached_property
    def _by_key(self) -> dict[str, str]:
        keys = [subject_key(subject) for subject in self.by_subject]
        several = {key for key, count in Counter(keys).items() if count > 1}
        return {key: subject for key, subject in zip(keys, self.by_subject, strict=True) if key not in several}

    def tells(self, subject: str | None, answers: Sequence[str], *, within: int | None = None) -> bool:
        """Whether a line about the subject says one of the answers after its name, in its first `within` characters."""
        lines = self.about(subject) if subject else ()
        return any_stands_in((_told(line, within) for line in lines), answers)

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)


def _told(line: Line, within: int | None) -> str:
    """What the line says of its subject, in its first `within` characters."""
    return line.body if within is None else (text := line.text)[len(text) - len(line.body) : within]


def line_lengths(lines: Sequence[Line], positions: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """The characters of lines, or of those at some positions; a compiled corpus tells them all at once."""
    positions = np.arange(len(lines)) if positions is None else positions
    tell: Callable[[NDArray[np.int64]], NDArray[np.int64]] | None = getattr(lines, "lengths", None)
    return tell(positions) if tell is not None else np.array([lines[at].length for at in positions.tolist()], np.int64)


@dataclass(frozen=True)
class ParsedCorpus:
    """A corpus file as found, errors and all: `lines` and `raw` as read, `clean` as a repaired copy has them."""

    path: Path | None
    form: str
    lines: tuple[Line, ...]
    raw: str
    clean: tuple[str, ...]
    findings: tuple[Finding, ...]


def parse_corpus(source: Source) -> ParsedCorpus:
    """Find the lines of a corpus and everything that is wrong with them; raises nothing."""
    notes = Notes(source.path, source.findings)
    name, form = corpus_format(source)
    assert form.passages is not None
    passages = form.passages(source, notes)
    texts = [passage.text for passage in passages]
    as_read = all(passage.subject is None for passage in passages)
    subjects = find_subjects(texts) if as_read else [passage.subject or "" for passage in passages]
    lines = tuple(
        Line(passage.number, subject, passage.text) for passage, subject in zip(passages, subjects, strict=True)
    )
    if not notes.failed and not any(text.strip() for text in texts):
        notes.error("empty", "contains no text")
    clean = tuple(clean_text(lines[place]) for place in note_lines(lines, notes, records=not as_read))
    raw = source.text if as_read and texts == source.lines() else "".join(f"{text}\n" for text in texts)
    return ParsedCorpus(source.path, name, lines, raw, clean, tuple(notes.found))
