"""How the subjects of a corpus were found, told from its lines, with examples; and the lines that are about nobody.

Knows the rules of `loci.text.subjects` by what they leave to see: a subject and the line it stands in. Applies none.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from loci.text.corpus import Corpus
from loci.text.findings import visible
from loci.text.list_marks import without_list_marks
from loci.text.subject_index import without_article
from loci.text.subjects import PRONOUNS, name_before_stop

EXAMPLES = 3
MOST_LINES = 100_000
"""Lines that are looked at: how the subjects of a larger corpus were found is seen from its beginning."""
_WIDTH = 80
RECORD = "named by the record"
STOP = "name before the full stop"
HEADING = "heading"
PRONOUN = "pronoun after a line about it"
BEGINS = "name at the beginning"
WITHIN = "named in the line"
BEFORE = "part of the name in the line before"


@dataclass(frozen=True)
class Example:
    """A line and its subject, empty where none was found."""

    line: int
    subject: str
    text: str
    file: str | None = None
    """Its file, where the corpus has several; the line is counted there."""

    @property
    def where(self) -> str:
        """The line, behind its file where there are several."""
        return f"{self.file}:{self.line}" if self.file else f"line {self.line}"


@dataclass(frozen=True)
class FoundBy:
    """How many lines have a subject that was found in one way; examples are of different subjects."""

    way: str
    lines: int
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class FoundSubjects:
    """The subjects of a corpus; of its first `lines` lines, how they were found and which have none."""

    subjects: int
    lines: int
    ways: tuple[FoundBy, ...]
    not_placed: FoundBy


def found_subjects(corpus: Corpus, *, records: bool = False) -> FoundSubjects:
    """How the subjects were found; `records` name theirs."""
    counts: dict[str, int] = {}
    examples: dict[str, dict[str, Example]] = {}
    before = heading = ""
    lines = list(itertools.islice(corpus.lines, MOST_LINES))
    for line, text in zip(lines, without_list_marks([line.text for line in lines]), strict=True):
        if not text.strip():
            continue
        heading = line.subject if text.strip("#= ") == line.subject or heading == line.subject else ""
        way = RECORD if records and line.subject else _way(text.strip(), line.subject, before, heading)
        counts[way] = counts.get(way, 0) + 1
        own = examples.setdefault(way, {})
        if len(own) < EXAMPLES:
            shown = visible(line.text.strip()[:_WIDTH])
            file, number = corpus.place(line.number)
            example = Example(number, visible(line.subject), shown, file.name if file else None)
            own.setdefault(line.subject or shown, example)
        before = line.subject or before
    ways = {way: FoundBy(way, count, tuple(examples[way].values())) for way, count in counts.items()}
    nowhere = ways.pop("", FoundBy("", 0, ()))
    ordered = sorted(ways.values(), key=lambda found: -found.lines)
    return FoundSubjects(len(corpus.by_subject), min(len(corpus), MOST_LINES), tuple(ordered), nowhere)


def _way(text: str, subject: str, before: str, heading: str) -> str:
    if not subject:
        return ""
    if subject in (name := name_before_stop(text) or "", without_article(name)):
        return STOP
    if subject == heading:
        return HEADING
    if subject == before and text.split(None, 1)[0].lower() in PRONOUNS:
        return PRONOUN
    if without_article(text).startswith(subject):
        return BEGINS
    return BEFORE if subject == before and subject not in text else WITHIN
