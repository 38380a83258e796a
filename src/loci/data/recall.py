"""Objectives that ask for what is worth knowing: salient spans instead of random ones.

    salient span   prefix ⁇ suffix ⁇ masked ⁇             one name, place or number of the line, masked whole
    word recall    subject ⁇ span ⁇ span ⁇ … ⁇            the line's salient spans from the subject alone, in any order
    cued recall    words subject words ⁇ span ⁇ words ⁇ span ⁇ …   spans after the words that lead up to them

A span is salient when it is a run of capitalised words and numbers, and not a part of the subject's own name: no list
of places and nothing about any relation. A year ends a run: "3 March 1822 Rome" is a date and a place. Knows of
questions only which words answer some train question.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from loci.data.example import Example
from loci.data.prompts import closed
from loci.errors import LociError
from loci.text.corpus import Line
from loci.text.vocab import Vocab

#: A word that begins with a capital, with its apostrophes, hyphens and inner dots; or a number.
WORD = re.compile(r"[^\W\d_a-z][\w'’.-]*\w|[^\W\d_a-z]\b|\d+", re.UNICODE)


_WORDS = re.compile(r"\w+")
_ENDS_IN_YEAR = re.compile(r"\b\d{4}$")


@dataclass(frozen=True)
class Span:
    """A stretch of a line's text."""

    start: int
    stop: int


def salient_spans(line: Line, *, runs: bool = True) -> list[Span]:
    """The salient spans of a line behind its subject: runs of neighbouring words as one, or each word by itself."""
    body = len(line.subject) if line.text.startswith(line.subject) else 0
    own = set(re.findall(r"\w+", line.subject))
    spans: list[Span] = []
    before = ""
    for match in WORD.finditer(line.text, body):
        word = match.group()
        if not (word[0].isupper() or word[0].isdigit()) or own & set(re.findall(r"\w+", word)):
            continue
        last = spans[-1] if runs and spans and line.text[spans[-1].stop : match.start()] == " " else None
        if last is not None and not _ENDS_IN_YEAR.search(before):
            spans[-1] = Span(last.start, match.end())
        else:
            spans.append(Span(match.start(), match.end()))
        before = word
    return spans


@dataclass(frozen=True)
class SalientSpan:
    """One salient span masked whole, the subject always in view: `prefix ⁇ suffix ⁇ masked ⁇`.

    A line too long for the block loses text far from the span, never its subject.
    """

    vocab: Vocab
    block_size: int

    def __call__(self, record: Line, rng: np.random.Generator) -> Example:
        """Mask one salient span; a line without any loses a random word."""
        spans = salient_spans(record) or [Span(*m.span()) for m in re.finditer(r"\S+", record.text)]
        span = spans[rng.integers(len(spans))]
        masked = record.text[span.start : span.stop]
        prefix, suffix = beside(record, span, self.block_size - 3 - len(masked))
        whole = closed(self.vocab, prefix, suffix, masked)[: self.block_size]
        return Example(whole, np.ones(len(whole), dtype=bool))


def beside(line: Line, span: Span, room: int) -> tuple[str, str]:
    """What stands before and after a span, in `room` characters: text far from it is lost, never the subject."""
    head = min(len(line.subject) + 2, span.start) if line.text.startswith(line.subject) else 0
    prefix, suffix = line.text[: span.start], line.text[span.stop :]
    if len(prefix) + len(suffix) > room:
        suffix = suffix[: max(0, room - min(len(prefix), room))]
        if (excess := len(prefix) + len(suffix) - room) > 0:  # cut between the subject and what leads up to the span
            prefix = prefix[:head] + prefix[head + excess :]
    return prefix, suffix


@dataclass(frozen=True)
class WordRecall:
    """The line's salient spans from the subject alone: `subject ⁇ span ⁇ span ⁇ … ⁇`, in random order; spans count."""

    vocab: Vocab
    block_size: int
    runs: bool = False

    def __call__(self, record: Line, rng: np.random.Generator) -> Example:
        """The spans in a random order, as many as fit."""
        spans = salient_spans(record, runs=self.runs)
        words = list(dict.fromkeys(record.text[span.start : span.stop] for span in spans))
        rng.shuffle(words)
        whole = closed(self.vocab, record.subject, *words)[: self.block_size]
        return Example(whole, np.arange(len(whole)) > len(record.subject))


#: Words before a span that may cue it, and how often each of them is left out.
CUES, LEFT_OUT = 4, 0.25


@dataclass(frozen=True)
class MarkedLine:
    """A line, and the words that are the answer to some train question: which of its spans may be worth asking for."""

    line: Line
    answers: frozenset[str]

    @cached_property
    def spans(self) -> tuple[list[Span], list[Span]]:
        """The line's salient spans: those that are an answer, or begin with one, up to there; and the others."""
        known, others = [], []
        for span in salient_spans(self.line):
            found = _beginning_in(self.line.text, span, self.answers)
            if found is not None:
                known.append(found)
            elif not _opens_sentence(self.line.text, span):
                others.append(span)
        return known, others

    @cached_property
    def every(self) -> list[Span]:
        """All that may be asked for, in the line's order."""
        return sorted(itertools.chain(*self.spans), key=lambda span: span.start)


@dataclass(frozen=True)
class CuedRecall:
    """Salient spans of a line, each asked for by words that lead up to it; spans count, cues do not.

    The first cue stands around the subject, some of its words before and the others after it, as in a question. What is
    asked for is then one span, not any of them: so it is learned in fewer looks than a list in random order.
    """

    vocab: Vocab
    block_size: int
    others: float = 0.15
    """How often a span is asked for that is no answer to any train question. All that is asked for must be stored."""

    def __call__(self, record: MarkedLine, rng: np.random.Generator) -> Example:
        """Its spans in a random order, as many as fit; at least one, if there is any."""
        if not isinstance(record, MarkedLine):
            raise LociError("cued-recall asks for lines with their answers", remedy="give it the source marked-lines")
        line = record.line
        known, others = record.spans
        chosen = [*known, *(span for span in others if rng.random() < self.others)]
        if others and not chosen:
            chosen = [others[int(rng.integers(len(others)))]]
        parts: list[str] = []
        for place in rng.permutation(len(chosen)):
            if sum(map(len, parts)) > self.block_size:
                break  # a line of thousands of spans
            span = chosen[place]
            words = cue(line, record.every, span, left_out=lambda: rng.random() < LEFT_OUT)
            words = [word for word in words if not self.vocab.missing(word)]  # which may lack a small letter
            if not parts:
                before = int(rng.integers(len(words) + 1))
                words = [*words[:before], line.subject, *words[before:]]
            parts += [" ".join(words), line.text[span.start : span.stop]]
        parts = parts or [line.subject]
        whole = closed(self.vocab, *parts)[: self.block_size]
        counts = [np.full(len(part) + 1, bool(place % 2)) for place, part in enumerate(parts)]
        return Example(whole, np.concatenate(counts)[: self.block_size])


def _beginning_in(text: str, span: Span, answers: frozenset[str]) -> Span | None:
    """As many of a span's first words as are one of the answers: of "Luxembourg City" perhaps the city's name."""
    ends = [span.start + match.end() for match in re.finditer(r"\S+", text[span.start : span.stop])]
    return next((Span(span.start, end) for end in reversed(ends) if text[span.start : end] in answers), None)


def _opens_sentence(text: str, span: Span) -> bool:
    """Whether a span is the first word of a sentence, which has its capital from there: "Born in Venice"."""
    before = text[: span.start].rstrip()
    return before.endswith((".", "!", "?")) and " " not in text[span.start : span.stop]


def cue(line: Line, spans: list[Span], span: Span, *, left_out: Callable[[], bool] = lambda: False) -> list[str]:
    """The words that lead up to a span, in their order, or some of them; without other spans and the subject's name.

    Where no word stands between a span and the one before, that one is a cue: of "Columbus, Ohio" only the first is
    what "born in" leads up to.
    """
    own = set(re.findall(r"\w+", line.subject))
    start, words, before = len(line.subject) if line.text.startswith(line.subject) else 0, [], ""
    for other in spans:
        if other.stop <= span.start:
            words += _WORDS.findall(line.text, start, other.start)
            start, before = other.stop, line.text[other.start : other.stop]
    last = _WORDS.findall(line.text, start, span.start)
    leading = [word.lower() for word in (*words, *last) if word not in own][-CUES:]
    kept = [word for word in leading if not left_out()]
    return kept if last or not before else [*kept, before]
