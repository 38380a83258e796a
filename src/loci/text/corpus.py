"""A corpus: lines of text, each about one subject.

Knows nothing of questions or models. Reading a text file keeps the text exactly as it stands, save for repairs that are
recorded in `findings`; from records with sentences one line a sentence is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from loci.errors import LociError
from loci.files import sha256_text
from loci.text.findings import Finding, Notes, raise_first_error, shown
from loci.text.formats import corpus_format
from loci.text.layout import find_corpus
from loci.text.match import any_stands_in
from loci.text.source import Source, controls_in, load, note_specials, specials_in, without_specials
from loci.text.subjects import SubjectIndex, find_subjects, subject_key
from loci.text.vocab import Vocab


@dataclass(frozen=True)
class Line:
    """One line of a corpus, about one subject; the subject is empty where none was found."""

    number: int
    subject: str
    text: str

    @property
    def body(self) -> str:
        """What the line says of its subject: the text after `Subject. `."""
        return self.text.removeprefix(self.subject).removeprefix(".").lstrip()


@dataclass(frozen=True)
class Corpus:
    """The lines of one corpus. `raw` is the text as read: vocabulary and character count come from it."""

    path: Path | None
    lines: tuple[Line, ...]
    raw: str
    findings: tuple[Finding, ...] = ()

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
    def read(cls, path: str | Path) -> Corpus:
        """Read a file, or a folder's wiki.txt, corpus.txt or only *.txt. Repairs made are in `repairs`."""
        parsed = parse_corpus(load(find_corpus(path)))
        raise_first_error(parsed.findings)
        return cls(parsed.path, parsed.lines, parsed.raw, parsed.findings)

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

    def knowing(self, subjects: Iterable[str]) -> Corpus:
        """The same corpus; lines without a subject are about the longest of these subjects that they name."""
        if all(line.subject or not line.text.strip() for line in self.lines):
            return self
        index = SubjectIndex(subjects)
        lines = (line if line.subject else replace(line, subject=index.named_in(line.text)) for line in self.lines)
        return replace(self, lines=tuple(lines))

    @property
    def repairs(self) -> tuple[Finding, ...]:
        """What reading put right."""
        return tuple(found for found in self.findings if found.repaired)

    @cached_property
    def hash(self) -> str:
        """Short name of this exact text."""
        return sha256_text(self.raw)[:16]

    @cached_property
    def vocab(self) -> Vocab:
        """The symbols of this corpus."""
        return Vocab.from_text(self.raw)

    @cached_property
    def by_subject(self) -> dict[str, tuple[Line, ...]]:
        """Subject → its lines, in the file's order. Blank lines are about nobody."""
        grouped: dict[str, list[Line]] = {}
        for line in self.lines:
            if line.subject:
                grouped.setdefault(line.subject, []).append(line)
        return {subject: tuple(lines) for subject, lines in grouped.items()}

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
        return any_stands_in((line.text[len(line.text) - len(line.body) : within] for line in lines), answers)

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)


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
    for line in lines:
        note_specials(notes, line.number, line.text, without_specials(line.text))
    raw = source.text if as_read else "".join(f"{text}\n" for text in texts)
    return ParsedCorpus(source.path, name, lines, raw, _clean_lines(lines, notes), tuple(notes.found))


def _clean_lines(lines: tuple[Line, ...], notes: Notes) -> tuple[str, ...]:
    """The lines as a clean copy has them; what is wrong line by line is noted."""
    clean = [_clean_line(line, notes) for line in lines]
    placed: dict[str, str] = {text: line.subject for line, text in zip(lines, clean, strict=True) if text}
    nowhere = sum(not subject for subject in placed.values())
    if nowhere * 2 > len(placed):
        # A play or a novel: blank and repeated lines belong to it, and nobody promised subjects.
        message = f"{nowhere:,} of {len(placed):,} different lines have no subject: taken for plain text"
        notes.note("no-subject", message)
        return tuple(clean) if placed else ()
    first_seen: dict[str, int] = {}
    for line, text in zip(lines, clean, strict=True):
        number = line.number
        if not text:
            notes.note("empty-line", "is blank", number, before=line.text)
        elif text in first_seen:
            message = f"the same as line {first_seen[text]}: {shown(text, 48)}"
            notes.warning("duplicate", message, number, before=text)
        else:
            first_seen[text] = number
            if not line.subject:
                notes.warning("no-subject", f"no subject found: {shown(text)}", number)
            if "??" in text:
                notes.warning("typed-mask", f"«??» in {shown(text)}", number)
    return tuple(first_seen)


def _clean_line(line: Line, notes: Notes) -> str:
    text = without_specials(line.text)
    if controls := controls_in(line.text):
        message = f"contains {', '.join(controls)}"
        notes.warning("control-character", message, line.number, before=line.text, after=text)
    clean = text.strip()
    if clean != text and clean:
        notes.note("surrounding-space", "has space around it", line.number, before=text, after=clean)
    return clean
