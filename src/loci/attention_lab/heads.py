"""Attention heads as parsers: does a head look where the syntax says, better than a fixed distance does?

A causal model sees only what came before: of the two words of an arc, the later one can look at the earlier, never
the reverse. So an arc whose head comes first can only be seen as its *dependent looking at the head*, and an arc
whose dependent comes first only as its *head looking at the dependent*; *either* counts every arc, the later word
looking at the earlier. Each is scored over the arcs it can see, and the fixed-distance baseline over the same ones.

The best of many heads looks good by luck alone. So heads and distances are chosen on the sentences of even number and
scored on those of odd number, and the other way round. Works on numpy arrays; knows nothing of models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray

from loci.attention_lab.distribution import Array
from loci.attention_lab.parses import Parse, base_relation
from loci.attention_lab.trees import maximum_arborescence, maximum_spanning_trees
from loci.errors import LociError
from loci.evaluation.metrics import Rate, wilson

Direction = Literal["dependent", "head", "either"]
DIRECTIONS: tuple[Direction, ...] = ("dependent", "head", "either")
ALL = "all"
FARTHEST = 8

Floats = NDArray[np.floating]


def word_attention(
    weights: Float[Floats, "*heads t t"], spans: Sequence[tuple[int, int]]
) -> Float[Floats, "*heads n n"]:
    """Attention between words from attention between characters: summed over the attended word, averaged over the
    other.

    Weight on a word is weight on any of its characters, so it is summed; the attending word has as many opinions as
    characters, so they are averaged. What falls on spaces belongs to no word, hence rows sum to at most 1.
    """
    width = weights.shape[-1]
    if spans and spans[-1][1] > width:
        raise LociError(f"a word ends at character {spans[-1][1]}, the attention covers {width}")
    member = np.zeros((len(spans), width), dtype=weights.dtype)
    for word, (start, stop) in enumerate(spans):
        member[word, start:stop] = 1
    average = member / member.sum(axis=1, keepdims=True)
    words: Floats = average @ weights @ member.T
    return words


def looks_back(weights: Float[Floats, "*heads n n"]) -> Int[NDArray[np.int64], "*heads n"]:
    """The earlier word that each word looks at most; the first word has none (−1)."""
    n = weights.shape[-1]
    earlier = np.tril(np.ones((n, n), dtype=bool), k=-1)
    best: NDArray[np.int64] = np.where(earlier, weights, -np.inf).argmax(axis=-1)
    best[..., 0] = -1
    return best


@dataclass(frozen=True)
class Arcs:
    """Every arc of some sentences, one row each, and which heads found it."""

    relations: tuple[str, ...]
    head_later: Bool[NDArray[np.bool_], "a"]
    """The head comes after its dependent, so it is the one that looks."""
    distances: Int[NDArray[np.int64], "a"]
    sentences: Int[NDArray[np.int64], "a"]
    hits: Bool[NDArray[np.bool_], "a l h"]

    def __len__(self) -> int:
        return len(self.relations)

    def seen(self, direction: Direction, relation: str = ALL) -> Bool[NDArray[np.bool_], "a"]:
        """The arcs of a relation that a direction can see."""
        chosen = np.array([relation in (ALL, own) for own in self.relations])
        if direction == "either":
            return chosen
        return chosen & (self.head_later if direction == "head" else ~self.head_later)


def collect_arcs(parses: Sequence[Parse], attentions: Sequence[Float[Floats, "l h _ _"]]) -> Arcs:
    """The arcs of the sentences; a head finds an arc when the later word looks at the earlier one most."""
    relations, head_later, distances, sentences, hits = [], [], [], [], []
    for number, (parse, weights) in enumerate(zip(parses, attentions, strict=True)):
        looked = looks_back(weights)
        for head, word, relation in parse.arcs:
            later, earlier = max(head, word), min(head, word)
            relations.append(base_relation(relation))
            head_later.append(head == later)
            distances.append(later - earlier)
            sentences.append(number)
            hits.append(looked[..., later] == earlier)
    if not relations:
        raise LociError("no sentence has an arc to look for", remedy="give sentences of two words or more")
    return Arcs(tuple(relations), np.array(head_later), np.array(distances), np.array(sentences), np.stack(hits))


@dataclass(frozen=True)
class RelationScore:
    """One relation in one direction: the best head next to the best fixed distance."""

    relation: str
    direction: Direction
    rate: Rate
    head: tuple[int, int]
    """Layer and head, counted from 0, best over all sentences."""
    baseline: Rate
    distance: int
    """How many words back the baseline looks."""


def cross_fitted(hits: Bool[NDArray[np.bool_], "a c"], sentences: Int[NDArray[np.int64], "a"]) -> tuple[Rate, int]:
    """The rate of the best candidate, chosen on one half of the sentences, scored on the other; and the best of all."""
    fold = sentences % 2
    found = 0
    for half in (0, 1):
        choose, score = hits[fold == half], hits[fold != half]
        if len(score):
            found += int(score[:, choose.mean(axis=0).argmax() if len(choose) else 0].sum())
    return wilson(found, len(hits)), int(hits.mean(axis=0).argmax())


def relation_scores(arcs: Arcs, *, least: int = 30) -> list[RelationScore]:
    """Every relation with at least `least` arcs in a direction, the most frequent first; `all` pools them."""
    ordered = [ALL, *(name for name, _ in Counter(arcs.relations).most_common())]
    by_distance = arcs.distances[:, None] == np.arange(1, FARTHEST + 1)
    flat = arcs.hits.reshape(len(arcs), -1)
    rows = []
    for relation in ordered:
        for direction in DIRECTIONS:
            chosen = arcs.seen(direction, relation)
            if chosen.sum() < max(least, 1):
                continue
            rate, best = cross_fitted(flat[chosen], arcs.sentences[chosen])
            baseline, distance = cross_fitted(by_distance[chosen], arcs.sentences[chosen])
            layer, head = divmod(best, arcs.hits.shape[2])
            rows.append(RelationScore(relation, direction, rate, (layer, head), baseline, distance + 1))
    return rows


@dataclass(frozen=True)
class TreeScore:
    """Attachment of whole trees. The root is given for directed ones: attention has no column for it."""

    undirected: Rate
    """Edges of the maximum spanning tree of one head's attention."""
    head: tuple[int, int]
    directed: Rate
    """Heads found by the best directed tree over two heads: one whose words look at heads, one whose words look at
    dependents."""
    chain_undirected: Rate
    """Baseline: every word attached to its neighbour."""
    chain_directed: Rate


def directed_scores(to_head: Float[Array, "n n"], to_dependent: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """scores[head, word] for a causal pair of heads: the later word's look decides, by the head for that arc."""
    # A word after its head looks at it (row word, column head of `to_head`); a head after its word looks at that.
    return np.triu(to_head.T, k=1) + np.tril(to_dependent, k=-1)


def tree_scores(parses: Sequence[Parse], attentions: Sequence[Float[Floats, "l h _ _"]], arcs: Arcs) -> TreeScore:
    """Trees of every sentence, heads chosen on one half of the sentences and scored on the other."""
    heads = arcs.hits.shape[2]
    flat = [weights.reshape(-1, *weights.shape[2:]).astype(np.float64) for weights in attentions]
    found = np.stack([_edges_found(sentence, parse) for sentence, parse in zip(flat, parses, strict=True)])
    fold = np.arange(len(parses)) % 2
    undirected = directed = 0
    for half in (0, 1):
        choose = fold == half if (fold == half).any() else fold >= 0
        undirected += int(found[fold != half, found[choose].sum(axis=0).argmax()].sum())
        pair = [_best_head(arcs, direction, half) for direction in ("head", "dependent")]
        for number in np.flatnonzero(fold != half).tolist():
            to_dependent, to_head = (flat[number][index] for index in pair)
            guess = maximum_arborescence(directed_scores(to_head, to_dependent), parses[number].root)
            directed += _attached(guess, parses[number])
    total = sum(len(parse.arcs) for parse in parses)
    neighbours = int((arcs.distances == 1).sum())
    chained = sum(
        _attached([at + (1 if at < parse.root else -1) for at in range(len(parse))], parse) for parse in parses
    )
    layer, head = divmod(int(found.sum(axis=0).argmax()), heads)
    return TreeScore(
        undirected=wilson(undirected, total),
        head=(layer, head),
        directed=wilson(directed, total),
        chain_undirected=wilson(neighbours, total),
        chain_directed=wilson(chained, total),
    )


def _edges_found(weights: Float[Array, "k n n"], parse: Parse) -> Int[NDArray[np.int64], "k"]:
    gold = np.zeros((len(parse), len(parse)), dtype=np.int64)
    for head, word, _ in parse.arcs:
        gold[min(head, word), max(head, word)] = 1
    edges = maximum_spanning_trees(weights)
    found: NDArray[np.int64] = gold[edges[..., 0], edges[..., 1]].sum(axis=1)
    return found


def _best_head(arcs: Arcs, direction: Direction, half: int) -> int:
    chosen = arcs.seen(direction) & (arcs.sentences % 2 == half)
    return int(arcs.hits[chosen].mean(axis=0).argmax()) if chosen.any() else 0


def _attached(heads: Sequence[int], parse: Parse) -> int:
    return sum(heads[word] == head for head, word, _ in parse.arcs)
