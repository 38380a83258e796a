"""A corpus: lines of text, each about one subject.

Reads a text file, or Google-RE records as one line a sentence. Knows nothing of questions or models. Reading keeps the
text exactly as it stands, save for repairs that are recorded in `findings`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from loci.errors import LociError
from loci.files import sha256_text
from loci.text import google_re
from loci.text.findings import Finding, finding, raise_first_error, shown
from loci.text.layout import find_corpus
from loci.text.match import any_stands_in
from loci.text.source import Source, controls_in, load, special_finding, specials_in, without_specials
from loci.text.vocab import Vocab

_BREAK = ". "
_ABBREVIATIONS = {"Dr", "Mr", "Mrs", "Ms", "St", "Ste"}
_LONGEST_NAME_PART = 5  # words between two breaks of one name: "Theodore J. van den Broek" has three


@dataclass(frozen=True)
class Line:
    """One line of a corpus, about one subject."""

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
            raise_first_error(_special_findings(self.path, enumerate(self.raw.split("\n"), start=1)))

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
                raise LociError("a line of a corpus holds no line end", line=number, remedy="split it first")
        made = tuple(Line(number, subject_of(text), text) for number, text in enumerate(texts, start=1))
        return cls(None, made, "".join(f"{text}\n" for text in texts))

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
        """The lines of exactly this subject."""
        return self.by_subject.get(subject, ())

    def tells(self, subject: str | None, answers: Sequence[str], *, within: int | None = None) -> bool:
        """Whether a line about the subject says one of the answers after its name, in its first `within` characters."""
        lines = self.about(subject) if subject else ()
        return any_stands_in((line.text[len(line.text) - len(line.body) : within] for line in lines), answers)

    def documents(self) -> list[str]:
        """The texts of the lines that are not blank."""
        return [line.text for line in self.lines if line.text.strip()]

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)


def subject_of(text: str) -> str:
    """The subject of a line: what stands before the first ". "; the whole line if there is none.

    A break behind an initial or "St" belongs to the name when a name goes on behind it: the subject of
    "J. E. P. Aldous. Born in Sheffield, ..." is "J. E. P. Aldous", and of "Malcolm X. Malcolm X was ..." "Malcolm X".
    """
    end = text.find(_BREAK)
    if end < 0:
        return text
    while _ends_with_initial(text[:end]):
        following = text.find(_BREAK, end + len(_BREAK))
        if following < 0 or not _continues_name(text[:end], text[end + len(_BREAK) : following]):
            break
        end = following
    return text[:end]


def _ends_with_initial(name: str) -> bool:
    last = re.split(r"[\s.\-]", name)[-1]
    return (len(last) == 1 and last.isupper()) or last in _ABBREVIATIONS


def _continues_name(name: str, part: str) -> bool:
    words = part.split()
    first = re.split(r"[\s.]", name)[0]
    if not 1 <= len(words) <= _LONGEST_NAME_PART or (len(first) > 1 and words[0] == first):
        return False  # a part that begins with the name again is the sentence; "J. J. Stevenson" is a name
    if not all(word[0].isupper() or (word.isalpha() and len(word) <= 3) for word in words):
        return False
    return words[-1][0].isupper() and not re.search(r"[()\[\]:;]", part)


@dataclass(frozen=True)
class ParsedCorpus:
    """A corpus file as found, errors and all: `lines` and `raw` as read, `clean` as a repaired copy has them."""

    path: Path | None
    lines: tuple[Line, ...]
    raw: str
    clean: tuple[str, ...]
    findings: tuple[Finding, ...]


def parse_corpus(source: Source) -> ParsedCorpus:
    """Find the lines of a corpus and everything that is wrong with them; raises nothing."""
    path, found = source.path, list(source.findings)
    if google_re.holds_relations(source):
        relations, bad = google_re.relations(source)
        found += bad
        lines = tuple(
            Line(number, relation.subject, f"{relation.subject}. {sentence}")
            for number, relation in relations
            for sentence in relation.sentences
        )
        raw = "".join(f"{line.text}\n" for line in lines)
    else:
        lines = tuple(Line(number, subject_of(text), text) for number, text in enumerate(source.lines(), start=1))
        raw = source.text
    if not any(error.severity == "error" for error in found) and not any(line.text.strip() for line in lines):
        found.append(finding("empty", "error", "holds no text", path))
    found += _special_findings(path, ((line.number, line.text) for line in lines)) if specials_in(raw) else []
    clean = _inspect_lines(path, lines, found)
    return ParsedCorpus(path, lines, raw, clean, tuple(found))


def _special_findings(path: Path | None, lines: Iterable[tuple[int, str]]) -> list[Finding]:
    return [
        special_finding(path, number, symbols, text, without_specials(text))
        for number, text in lines
        if (symbols := specials_in(text))
    ]


def _inspect_lines(path: Path | None, lines: tuple[Line, ...], found: list[Finding]) -> tuple[str, ...]:
    """The lines as a clean copy has them; what is wrong line by line is added to `found`."""
    clean = [_clean_line(path, line, found) for line in lines]
    different = set(clean) - {""}
    without_subject = sum(_BREAK not in text for text in different)
    if without_subject * 2 > len(different):
        # A play or a novel: blank and repeated lines belong to it, and nobody promised subjects.
        message = f"{without_subject:,} of {len(different):,} different lines have no subject: taken for plain text"
        found.append(finding("no-subject", "note", message, path))
        return tuple(clean) if different else ()
    first_seen: dict[str, int] = {}
    for line, text in zip(lines, clean, strict=True):
        where = (path, line.number)
        if not text:
            found.append(finding("empty-line", "note", "is blank", *where, repairable=True, before=line.text))
        elif text in first_seen:
            message = f"the same as line {first_seen[text]}: {shown(text, 48)}"
            found.append(finding("duplicate", "warning", message, *where, repairable=True, before=text))
        else:
            first_seen[text] = line.number
            if _BREAK not in text:
                found.append(finding("no-subject", "warning", f"no «. » behind a subject: {shown(text)}", *where))
            if "??" in text:
                found.append(finding("typed-mask", "warning", f"«??» in {shown(text)}", *where))
    return tuple(first_seen)


def _clean_line(path: Path | None, line: Line, found: list[Finding]) -> str:
    where, text = (path, line.number), without_specials(line.text)
    if controls := controls_in(line.text):
        message = f"holds {', '.join(controls)}"
        found.append(
            finding("control-character", "warning", message, *where, repairable=True, before=line.text, after=text)
        )
    clean = text.strip()
    if clean != text and clean:
        message = "has space around it"
        found.append(finding("surrounding-space", "note", message, *where, repairable=True, before=text, after=clean))
    return clean
