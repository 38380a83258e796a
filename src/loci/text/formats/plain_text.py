"""A corpus as plain text: one line a document."""

from __future__ import annotations

from loci.text.findings import Notes
from loci.text.formats.base import Format, Passage
from loci.text.source import Source


def passages(source: Source, notes: Notes) -> list[Passage]:
    """Every line; whom it is about is found later, from all of them together."""
    return [Passage(number, text) for number, text in enumerate(source.lines(), start=1)]


FORMAT = Format("a corpus, one line a document", (".txt",), lambda source: True, passages=passages)
