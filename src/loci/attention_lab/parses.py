"""Dependency parses: words, heads, relations, where the words are in the text, and attention that follows them.

A `Parse` is a tree or it is not made. Words count from 0 inside Loci; a head of −1 is the root's. Knows nothing of
files (`conllu`) or models (`heads`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from loci.attention_lab.distribution import Array
from loci.errors import LociError

ROOT = -1


MOST_SHOWN = 12
"""Words of a cycle that a message names."""


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
    rooted = set(roots)  # words whose way up is known to end at the root
    for word in range(n):
        way: dict[int, None] = {}  # in order, and looked up at once
        at = word
        while at != ROOT and at not in rooted:
            if at in way:
                seen = list(way)
                steps = [str(step + 1) for step in (*seen[seen.index(at) :], at)]
                shown = steps if len(steps) <= MOST_SHOWN else [*steps[:MOST_SHOWN], "…"]
                return Fault(at, "a cycle: " + " → ".join(shown))
            way[at] = None
            at = heads[at]
        rooted.update(way)
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
