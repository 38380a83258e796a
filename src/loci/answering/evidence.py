"""Which lines of the corpus speak for an answer.

First the lines of exactly the subject asked about, then what BM25 finds for subject and answer. In each line the places
where the answer stands are marked. Knows nothing of models: it shows what was written, not what was learnt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from loci.errors import LociError
from loci.text.corpus import Corpus, Line
from loci.text.match import spans_of

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Evidence:
    """One line of the corpus, how it was found, and where the answer stands in it."""

    number: int
    subject: str
    text: str
    found_by: Literal["subject", "search"]
    score: float | None
    marks: tuple[tuple[int, int], ...]
    file: str | None = None
    """The file that the line is in, where the corpus has several; its number is the one there."""

    @property
    def where(self) -> str:
        """The line's number, behind its file where there are several."""
        return f"{self.file}:{self.number}" if self.file else str(self.number)

    @property
    def supports(self) -> bool:
        """Whether the answer stands in the line at all."""
        return bool(self.marks)

    def segments(self) -> list[tuple[str, bool]]:
        """The text in pieces, each with whether it is marked."""
        pieces, end = [], 0
        for start, stop in self.marks:
            pieces += [(self.text[end:start], False), (self.text[start:stop], True)]
            end = stop
        return [(piece, marked) for piece, marked in [*pieces, (self.text[end:], False)] if piece]

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "line": self.number,
            "subject": self.subject,
            "text": self.text,
            "found_by": self.found_by,
            "score": self.score,
            "marks": [list(mark) for mark in self.marks],
            **({"file": self.file} if self.file else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Evidence:
        """The line whose `as_dict` this is."""
        named = {key: value for key, value in data.items() if key not in ("line", "marks")}
        return cls(number=data["line"], marks=tuple((start, stop) for start, stop in data["marks"]), **named)


class EvidenceIndex:
    """A corpus made searchable. The search index is built when it is first needed."""

    def __init__(self, corpus: Corpus):
        self.corpus = corpus

    def knows(self, subject: str) -> bool:
        """Whether any line is about exactly this subject."""
        return bool(self.corpus.about(subject))

    def find(self, question: str, *, subject: str | None = None, answer: str = "", limit: int = 3) -> list[Evidence]:
        """Up to `limit` lines: the subject's own first, then searched ones, best first, none twice."""
        own = self.corpus.about(subject)[:limit] if subject else ()
        found = [self._evidence(line, answer, "subject", None) for line in own]
        if len(found) < limit:
            found += self.search(
                f"{subject or question} {answer}", answer, limit, without={line.number for line in own}
            )
        return found[:limit]

    def search(self, query: str, answer: str, limit: int, without: set[int] | None = None) -> list[Evidence]:
        """The `limit` best lines for `query` by BM25 that share a word with it."""
        skipped = without or set()
        lines, index = self._index
        wanted = min(limit + len(skipped), len(lines))
        if not wanted:
            return []
        places, scores = index.retrieve([_words(query)], k=wanted, show_progress=False)
        ranked = zip(places[0].tolist(), scores[0].tolist(), strict=True)
        return [
            self._evidence(lines[place], answer, "search", score)
            for place, score in ranked
            if score > 0 and lines[place].number not in skipped
        ][:limit]

    def _evidence(
        self, line: Line, answer: str, found_by: Literal["subject", "search"], score: float | None
    ) -> Evidence:
        marks = tuple(spans_of(line.text, answer))
        file, number = self.corpus.place(line.number)
        return Evidence(number, line.subject, line.text, found_by, score, marks, file.name if file else None)

    @cached_property
    def _index(self) -> tuple[list[Line], Any]:
        try:
            import bm25s
        except ImportError:
            raise LociError("searching a corpus needs bm25s", remedy="pip install bm25s") from None
        lines = [line for line in self.corpus if line.text.strip()]
        index = bm25s.BM25()
        if lines:
            index.index([_words(line.text) for line in lines], show_progress=False)
        return lines, index


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
