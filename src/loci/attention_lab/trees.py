"""The best tree over given scores: undirected by Prim's algorithm, directed by Chu–Liu/Edmonds.

Pure functions of a score matrix. Knows nothing of words or attention.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from loci.attention_lab.distribution import Array
from loci.attention_lab.parses import ROOT
from loci.errors import LociError
from loci.text.world.parse import find_cycle


def _require_square(scores: Array) -> int:
    if scores.ndim < 2 or scores.shape[-1] != scores.shape[-2] or not scores.size:
        raise LociError(f"tree scores are a square matrix, not {scores.shape}")
    return int(scores.shape[-1])


def maximum_spanning_trees(scores: Float[Array, "k n m"]) -> Int[NDArray[np.int64], "k e 2"]:
    """For each of k score matrices the n−1 undirected edges (small, large) of largest total score.

    Of scores[i, j] and scores[j, i] the larger counts. Grown from word 0: the best edge that leaves the part grown so
    far belongs to some best tree, for if a best tree lacked it, exchanging it for the edge with which that tree leaves
    the part would lose nothing. All k trees grow in step.
    """
    n = _require_square(scores)
    # Nothing is below the least number there is, so that −∞ can mark words that are already in.
    both = np.maximum(np.maximum(scores, scores.swapaxes(-1, -2)), np.finfo(np.float64).min)
    rows = np.arange(len(scores))
    reach = both[:, 0].copy()  # best score by which each word joins the grown part
    via = np.zeros(reach.shape, dtype=np.int64)
    outside = np.broadcast_to(np.arange(n) > 0, reach.shape).copy()
    edges = np.zeros((len(scores), n - 1, 2), dtype=np.int64)
    for step in range(n - 1):
        new = np.where(outside, reach, -np.inf).argmax(axis=1)
        edges[:, step] = np.sort(np.stack([new, via[rows, new]], axis=1), axis=1)
        outside[rows, new] = False
        joined = both[rows, new]
        better = joined > reach
        reach = np.where(better, joined, reach)
        via = np.where(better, new[:, None], via)
    return edges


def maximum_arborescence(scores: Float[Array, "n m"], root: int) -> list[int]:
    """Each word's head in the tree of largest Σ scores[head, word] rooted at `root`; the root's own head is −1.

    Every word takes its best head. If that makes no cycle it is the best tree. Otherwise a cycle is drawn together into
    one word: entering it at v by (u, v) costs the edge that v gives up, so the edge counts scores[u, v] −
    scores[head(v), v]. The best tree of the smaller graph enters the cycle exactly once, which says where it is opened.
    (Chu and Liu; Edmonds.)
    """
    n = _require_square(scores)
    if not 0 <= root < n:
        raise LociError(f"there is no word {root} to be the root: the words are 0 to {n - 1}")
    table = scores.astype(np.float64).copy()
    np.fill_diagonal(table, -math.inf)
    table[:, root] = -math.inf
    return _arborescence(table, root)


def _arborescence(table: Array, root: int) -> list[int]:
    heads = [int(head) for head in table.argmax(axis=0)]
    heads[root] = ROOT
    if not (cycle := find_cycle(heads)):
        return heads
    rest = [word for word in range(len(table)) if word not in cycle]
    kept = table[[heads[word] for word in cycle], cycle]  # what each word of the cycle has now
    # Words of the smaller graph: the rest in order, then the cycle as one.
    smaller = np.full((len(rest) + 1, len(rest) + 1), -math.inf)
    smaller[:-1, :-1] = table[np.ix_(rest, rest)]
    entering = table[np.ix_(rest, cycle)] - kept
    leaving = table[np.ix_(cycle, rest)]
    smaller[:-1, -1] = entering.max(axis=1)
    smaller[-1, :-1] = leaving.max(axis=0)
    answer = _arborescence(smaller, rest.index(root))
    for index, word in enumerate(rest):
        if (head := answer[index]) == len(rest):
            heads[word] = cycle[int(leaving[:, index].argmax())]
        else:
            heads[word] = ROOT if head == ROOT else rest[head]
    source = answer[-1]
    heads[cycle[int(entering[source].argmax())]] = rest[source]
    return heads
