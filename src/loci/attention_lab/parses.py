"""Dependency parses: words, heads, relations, where the words are in the text, and attention that follows them.

A `Parse` is a tree or it is not made. Words count from 0 inside Loci; a head of −1 is the root's. Parses are read from
CoNLL-U: ten tab-separated columns per word, a blank line after each sentence. What the lab relies on is checked
(columns, running numbers, heads that make a tree), and what is wrong is named by its line. Multiword tokens
(`3-4  don't`) give their words' positions in the text; empty nodes (`8.1`) belong to enhanced graphs and are left out.
Knows nothing of models (`heads`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from jaxtyping import Float

from loci.attention_lab.distribution import Array
from loci.errors import LociError, naming
from loci.text.source import load_sound
from loci.text.world.parse import find_cycle

ROOT = -1
MOST_SHOWN = 12
"""Words of a cycle that a message names."""
COLUMNS = 10
"""Of CoNLL-U."""


@dataclass(frozen=True)
class Fault:
    """Why heads are no tree, and at which word."""

    word: int
    reason: str


def tree_fault(heads: Sequence[int]) -> Fault | None:
    """The first thing that keeps `heads` from being a tree with one root, or None."""
    n = len(heads)
    roots = [word for word, head in enumerate(heads) if head == ROOT]
    for word, head in enumerate(heads):
        if not ROOT <= head < n:
            return Fault(word, f"head {head + 1} is no word of the sentence, which has {n}")
        if head == word:
            return Fault(word, f"word {word + 1} is its own head")
    if len(roots) > 1:
        return Fault(roots[1], f"a second root: words {roots[0] + 1} and {roots[1] + 1} both have head 0")
    if cycle := find_cycle(heads):
        steps = [str(step + 1) for step in (*cycle, cycle[0])]
        shown = steps if len(steps) <= MOST_SHOWN else [*steps[:MOST_SHOWN], "…"]
        return Fault(cycle[0], "a cycle: " + " → ".join(shown))
    return None if roots or not n else Fault(0, "no root: no word has head 0")


@dataclass(frozen=True)
class Parse:
    """One sentence and its tree."""

    text: str
    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    """Each word's first character in the text, and the one after its last."""
    line: int | None = None
    """Where the sentence begins in its file."""

    def __post_init__(self) -> None:
        if not self.words:
            raise LociError("a parse has at least one word", line=self.line)
        assert len(self.words) == len(self.heads) == len(self.relations) == len(self.spans)
        if fault := tree_fault(self.heads):
            raise LociError(fault.reason, line=self.line)
        end = 0
        for word, (start, stop) in zip(self.words, self.spans, strict=True):
            assert end <= start < stop <= len(self.text), f"the span of {word!r} is out of order"
            end = stop

    def __len__(self) -> int:
        return len(self.words)

    @property
    def root(self) -> int:
        """The word that has no head."""
        return self.heads.index(ROOT)

    @property
    def arcs(self) -> list[tuple[int, int, str]]:
        """(head, dependent, relation) of every word but the root."""
        rows = zip(self.heads, range(len(self)), self.relations, strict=True)
        return [(head, word, relation) for head, word, relation in rows if head != ROOT]


def make_parse(words: Sequence[str], heads: Sequence[int], relations: Sequence[str]) -> Parse:
    """A parse of words separated by single spaces; heads count from 1 as in CoNLL-U, 0 for the root."""
    if not len(words) == len(heads) == len(relations):
        raise LociError(f"{len(words)} words have {len(heads)} heads and {len(relations)} relations")
    spans, at = [], 0
    for word in words:
        spans.append((at, at + len(word)))
        at += len(word) + 1
    return Parse(" ".join(words), tuple(words), tuple(head - 1 for head in heads), tuple(relations), tuple(spans))


def denver() -> Parse:
    """The exercise's sentence."""
    return make_parse(
        ["I", "prefer", "the", "morning", "flight", "through", "Denver"],
        [2, 0, 5, 5, 2, 7, 5],
        ["nsubj", "root", "det", "compound", "obj", "case", "nmod"],
    )


def base_relation(relation: str) -> str:
    """`nsubj:pass` → `nsubj`: the relation without its language's refinement."""
    return relation.partition(":")[0]


def parse_attention(parse: Parse, label: str) -> Float[Array, "n n"]:
    """α(label, word, w): the attention of a head that knows one relation and follows it without fail.

    A word whose head by `label` is w puts all its weight on w. A word without such an arc looks at itself: weights must
    sum to 1, and its own value adds nothing new. Every row is a categorical distribution, so a softmax reaches it in
    the limit of large scores, and such heads, one per label, carry the whole parse.
    """
    weights = np.eye(len(parse))
    for head, word, relation in parse.arcs:
        if relation == label:
            weights[word, word], weights[word, head] = 0.0, 1.0
    return weights


@dataclass(frozen=True)
class Treebank:
    """The sentences of a file, and how many were left out because a word is spelt differently in the text."""

    parses: tuple[Parse, ...]
    respelt: int


@dataclass
class _Sentence:
    """A sentence being read."""

    line: int
    text: str = ""
    words: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    multiword_until: int = 0
    multiword_rest: str = ""
    multiword_end: str = ""
    respelt: bool = False


def read_conllu(path: str | Path, *, limit: int | None = None) -> Treebank:
    """The first `limit` sentences of a file (all, if None)."""
    source = load_sound(path)
    with naming(path, remedy="CoNLL-U has ten tab-separated columns per word, and numbers words and heads from 1"):
        return parse_conllu(source.text, limit=limit)


def parse_conllu(text: str, *, limit: int | None = None) -> Treebank:
    """The first `limit` sentences of a text in CoNLL-U."""
    if limit is not None and limit < 1:
        raise LociError(f"the limit must be at least 1, it is {limit}")
    parses: list[Parse] = []
    respelt = 0
    for parse in map(_finish, _sentences(text)):
        if parse is None:
            respelt += 1
        else:
            parses.append(parse)
        if len(parses) == limit:
            break
    if not parses:
        raise LociError("contains no sentence", remedy="CoNLL-U has ten tab-separated columns per word")
    return Treebank(tuple(parses), respelt)


def _sentences(text: str) -> Iterator[_Sentence]:
    sentence: _Sentence | None = None
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.rstrip("\r")
        if not line.strip():
            if sentence is not None:
                yield sentence
            sentence = None
        elif not line.startswith("#"):
            sentence = sentence or _Sentence(number)
            _add_row(sentence, line.split("\t"), number)
    if sentence is not None:  # the last blank line is often missing
        yield sentence


def _add_row(sentence: _Sentence, columns: list[str], line: int) -> None:
    if len(columns) != COLUMNS:
        message = f"a word has {COLUMNS} columns, this line has {len(columns)}"
        raise LociError(message, line=line, remedy="columns are set apart by tabs")
    number, form, head, relation, misc = columns[0], columns[1], columns[6], columns[7], columns[9]
    space = "" if "SpaceAfter=No" in misc.split("|") else " "
    if "." in number:
        return
    if "-" in number:
        first, _, last = number.partition("-")
        numbers = first.isdecimal() and last.isdecimal()
        if not numbers or int(first) != len(sentence.words) + 1 or int(last) < int(first):
            raise LociError(f"{number!r} is not a range of the words that follow", line=line)
        sentence.multiword_until, sentence.multiword_rest, sentence.multiword_end = int(last), form, space
        return
    if not number.isdecimal() or int(number) != len(sentence.words) + 1:
        raise LociError(f"word number {number!r}, {len(sentence.words) + 1} was expected", line=line)
    if not head.isdecimal():
        remedy = "0 is the root, other heads are word numbers"
        raise LociError(f"head {head!r} is not a number", line=line, remedy=remedy)
    if not form.strip():
        raise LociError("a word without a form", line=line)
    sentence.words.append(form)
    sentence.heads.append(int(head) - 1)
    sentence.relations.append(relation)
    sentence.lines.append(line)
    if (
        len(sentence.words) <= sentence.multiword_until
    ):  # the words of a multiword token must spell it, else their positions are unknown
        sentence.respelt |= not sentence.multiword_rest.startswith(form)
        sentence.multiword_rest = sentence.multiword_rest[len(form) :]
        ends = len(sentence.words) == sentence.multiword_until
        sentence.respelt |= ends and bool(sentence.multiword_rest)
        space = sentence.multiword_end if ends else ""
    sentence.spans.append((len(sentence.text), len(sentence.text) + len(form)))
    sentence.text += form + space


def _finish(sentence: _Sentence) -> Parse | None:
    if sentence.multiword_until > len(sentence.words):
        raise LociError("a multiword token ranges beyond the sentence", line=sentence.line)
    if not sentence.words:
        raise LociError("a sentence without words", line=sentence.line)
    if fault := tree_fault(sentence.heads):
        raise LociError(fault.reason, line=sentence.lines[fault.word], remedy="a parse is one tree with one root")
    if sentence.respelt:
        return None
    words, heads, relations = tuple(sentence.words), tuple(sentence.heads), tuple(sentence.relations)
    return Parse(sentence.text.rstrip(" "), words, heads, relations, tuple(sentence.spans), sentence.line)
