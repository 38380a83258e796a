"""Objectives that learn to read a line, and to say it from memory.

    memorize   subject. text ⁇              the text counts: the line from the subject alone
    reading    line ⁇ question ⁇ answer ⁇   the answer counts, and the subject in the question, as both are copied
                                            from the line; names are swapped, so that only reading helps
               line ⁇ question ⁇⁇           the same with the telling words removed: the empty answer means "not told"

The line is the line itself, or its entity sketch without the subject's own name (`loci.text.entity_sketch`). Long ones
are memorized up to a word, and read in parts of whole sentences. Knows nothing of batches or models.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from loci.data.example import NOWHERE, Example
from loci.data.prompts import closed, line_of, said_twice
from loci.data.reading_examples import EntitySwap, ReadingExample, augment
from loci.data.untold import without_answer
from loci.errors import LociError
from loci.text.corpus import Line
from loci.text.entity_sketch import entity_sketch
from loci.text.match import position_of, stands_in
from loci.text.subjects import sentences
from loci.text.vocab import Vocab

LineFormat = Literal["line", "entity-sketch"]
_OTHER_LINE = 0.5
_SHORTEST_PART = 40
LONGEST = 160
"""Characters of a line that are memorized, its subject included."""


def formatted_line(subject: str, text: str, line_format: LineFormat) -> str:
    """`Subject. text`, or `Subject. sketch`, where the words of the subject's own name are not repeated."""
    if line_format == "entity-sketch":
        own = set(subject.split())
        words = text.removeprefix(subject).lstrip().split(" ")
        text = entity_sketch(" ".join(word for word in words if _bare(word) not in own))
    return line_of(subject, text)


def _bare(word: str) -> str:
    """A word without what leans on it."""
    return word.strip("(),.;:").removesuffix("'s")


def shortened(text: str, longest: int) -> str:
    """The text, or as many of its first words as fit."""
    if len(text) <= longest:
        return text
    cut = text[: longest + 1].rfind(" ")
    return text[: cut if cut > 0 else longest]


def in_parts(subject: str, text: str, room: int) -> list[str]:
    """`Subject. text`; where that does not fit, sentences that fit together, each part behind the subject.

    A sentence that does not fit alone is cut after a word. Next to a very long subject only the beginning is kept.
    """
    whole, left = line_of(subject, text), room - len(line_of(subject))
    if len(whole) <= room or left < _SHORTEST_PART:
        return [shortened(whole, room)]
    parts: list[str] = []
    for sentence in sentences(text):
        while sentence:
            piece = shortened(sentence, left)
            sentence = sentence[len(piece) :].lstrip()
            if parts and len(parts[-1]) + 1 + len(piece) <= left:
                parts[-1] += f" {piece}"
            else:
                parts.append(piece)
    return [line_of(subject, part) for part in parts]


@dataclass(frozen=True)
class Memorize:
    """A line from its subject: what stands after `subject. ` counts, and its end."""

    vocab: Vocab
    block_size: int
    longest: int = LONGEST
    line_format: LineFormat = "line"
    count_subject: bool = False
    """The subject counts too: so the model knows how likely a name is."""

    def __call__(self, record: Line, rng: np.random.Generator) -> Example:
        """The line, cut after a word where it is too long."""
        whole = formatted_line(record.subject, record.body, self.line_format)
        text = shortened(whole, min(self.longest, self.block_size - 2))
        ids = closed(self.vocab, text)
        given = 0 if self.count_subject else min(len(line_of(record.subject)), len(text))
        return Example(ids, np.arange(len(ids)) >= given)


@dataclass(frozen=True)
class Reading:
    """A reading example, augmented: line and question are given; the answer counts, and the question's subject.

    A line too long for the block loses its end, or, where the answer stands there, is the part that tells it.
    """

    vocab: Vocab
    block_size: int
    subject: float = EntitySwap.subject
    answer: float = EntitySwap.answer
    word: float = EntitySwap.word
    from_answers: float = EntitySwap.from_answers
    sentences: float = EntitySwap.sentences
    line_format: LineFormat = "line"
    untold: float = 0.0
    """How many examples lose the words that tell the answer, or have another line about the subject that does not tell
    it; their answer is empty."""
    twice: bool = False
    """The line is shown twice: a causal reader has then met what follows a name when it comes to it."""

    def __call__(self, record: ReadingExample, rng: np.random.Generator) -> Example:
        """The example with some of its words swapped."""
        silent = bool(self.untold) and rng.random() < self.untold
        if silent and record.others and rng.random() < _OTHER_LINE:
            record = replace(record, line=record.others[int(rng.integers(len(record.others)))])
        swaps = EntitySwap(self.subject, self.answer, self.word, self.from_answers, self.sentences)
        given = augment(record, swaps, rng)
        room = _room(self.block_size, given.question, given.answer, record.question.number)
        room = max(1, (room - 1) // 2) if self.twice else room
        parts = in_parts(given.subject, given.text, room)
        if silent and len(parts) > 1 and self.line_format == "line" and rng.random() < _OTHER_LINE:
            without = [part for part in parts if not stands_in(part, given.answer)]
            if without:
                text = without[int(rng.integers(len(without)))]
                return self._example(text, given.question, "", given.subject)
        if silent and (left := without_answer(given.text, given.answer, rng)):
            text = shortened(formatted_line(given.subject, left, self.line_format), room)
            return self._example(text, given.question, "", given.subject)
        whole = formatted_line(given.subject, given.text, self.line_format)
        text = shortened(whole, room)
        if not stands_in(text.removeprefix(given.subject), given.answer, whole=True):
            # A sketch may lose an answer, the line holds it.
            named = len(given.subject)
            telling = (part for part in parts if position_of(part, given.answer, named) >= 0)
            text = next(telling, None) or _around(line_of(given.subject, given.text), given.answer, named, room)
        return self._example(text, given.question, given.answer, given.subject)

    def _example(self, text: str, question: str, answer: str, subject: str) -> Example:
        """`text ⁇ question ⁇ answer ⁇`: the answer counts, and the question's subject where the text begins with it."""
        first = len(text) + 1 if self.twice else 0  # the answer is copied from where the line stands last
        text = said_twice(text) if self.twice else text
        ids = closed(self.vocab, text, question, answer)
        asked = len(text) + 1
        counts = np.arange(len(ids)) > asked + len(question)
        copied = np.full(len(ids), NOWHERE)
        start = line_of(subject)
        named = len(start) if text.startswith(start) else 0
        if named and (stands := position_of(question, subject)) >= 0:
            counts[asked + stands : asked + stands + len(subject)] = True
        if answer and (stands := position_of(text, answer, first + named)) >= 0:
            copied[-len(answer) - 1 : -1] = stands + np.arange(len(answer))
        return Example(ids, counts, copied)


def _around(text: str, words: str, start: int, room: int) -> str:
    """The end of a text; where the words stand before it, as much as fits on both sides of them."""
    end = text[-room:]
    position = position_of(text, words, start)
    if position < 0 or stands_in(end, words, whole=True):
        return end
    begin = max(0, position - (room - len(words)) // 2)
    return text[begin : begin + room]


def _room(block_size: int, question: str, answer: str, number: int) -> int:
    """Characters of a line that fit next to question and answer."""
    room = block_size - len(question) - len(answer) - 3
    if room < 1:
        raise LociError(
            f"question and answer leave no room for a line in a block of {block_size}",
            line=number,
            remedy="train with a larger block_size",
        )
    return room
