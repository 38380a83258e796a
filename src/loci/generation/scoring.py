"""Exact log-probabilities of given answers: every candidate for every prompt.

Candidates share their beginnings, so what is read is a trie, not a list, and the prompt is read once. Where the
attention class allows it the trie is read in a few wide passes (`loci.generation.tree`). Everywhere else it is walked
level by level, the rows of the cache branching. Works on ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from loci.errors import LociError
from loci.generation.context import Prompt, check_prompt, reading, start_context
from loci.generation.decode import length_batches
from loci.generation.tree import Trie, fits_tree, score_tree
from loci.model import GPT

#: Rows of the cache that a walk holds at most, unless one prompt alone needs more.
WALK_ROWS = 2048
#: Candidates walked together when nothing is pruned.
WALK_CANDIDATES = 512


def score_candidates(
    model: GPT,
    prompts: Sequence[Prompt],
    candidates: Sequence[Prompt],
    *,
    stop_id: int,
    use_cache: bool = True,
) -> NDArray[np.float64]:
    """log p(candidate, stop id | prompt) for every pair: (prompts, candidates).

    Args:
        model: Any GPT.
        prompts: Ids of each prompt, at least one.
        candidates: Ids of each candidate, without the stop id; may be empty or equal.
        stop_id: What ends an answer.
        use_cache: False reads every beginning with its prompt anew; same results.
    """
    vocab_size = model.config.vocab_size
    checked = [check_prompt(prompt, vocab_size) for prompt in prompts]
    sequences = [tuple(int(index) for index in candidate) for candidate in candidates]
    if not sequences:
        raise LociError("there are no candidates to score")
    for index in {index for sequence in sequences for index in sequence}:
        if not 0 <= index < vocab_size or index == stop_id:
            raise LociError(f"a candidate holds the id {index}, which is the stop id or outside the vocabulary")
    scores = np.empty((len(checked), len(sequences)))
    with reading(model):
        if use_cache and fits_tree(model, checked, sequences):
            score_tree(model, checked, sequences, stop_id, scores)
        else:
            for part in _parts(sequences, WALK_CANDIDATES):
                trie = _Edges([sequences[index] for index in part], stop_id=stop_id)
                scores[:, part] = _walk(model, checked, trie, use_cache)
    return scores


def _parts(sequences: Sequence[tuple[int, ...]], size: int) -> Iterator[list[int]]:
    """Indices of candidates in parts; those with a common beginning stay together."""
    order = sorted(range(len(sequences)), key=lambda index: sequences[index])
    for begin in range(0, len(order), size):
        yield order[begin : begin + size]


def _walk(model: GPT, prompts: list[Int[Tensor, "T"]], trie: _Edges, use_cache: bool) -> NDArray[np.float64]:
    """Score all sequences of the trie, level by level."""
    at_node = torch.empty((len(prompts), len(trie)), dtype=torch.float64)  # by the node before the stop id
    for batch in length_batches(prompts, max(1, WALK_ROWS // trie.n_sequences)):
        rows = [prompts[index] for index in batch]
        context, logits = start_context(model, rows, room=trie.longest - 1, use_cache=use_cache)
        owners, states = torch.tensor(batch), torch.zeros(len(batch), dtype=torch.long)
        totals = torch.zeros(len(batch), dtype=torch.float64)
        while True:
            log_p = logits.cpu().double().log_softmax(-1)
            parents, ids, nodes = trie.children(states)
            scores = totals[parents] + log_p[parents, ids]
            ended = nodes == trie.end
            at_node[owners[parents[ended]], states[parents[ended]]] = scores[ended]
            parents, ids, nodes, scores = (part[~ended] for part in (parents, ids, nodes, scores))
            if not len(parents):
                break
            context.select(parents)
            owners, states, totals = owners[parents], nodes, scores
            logits = context.step(ids.to(context.device))
    return at_node[:, trie.last_nodes].numpy()


class _Edges:
    """The edges of a trie as tensors; by the stop id each candidate leads to the node `end`."""

    def __init__(self, sequences: Sequence[tuple[int, ...]], *, stop_id: int):
        trie = Trie(sequences)
        children = trie.children
        self.n_sequences, self.longest, self.end = len(sequences), max(trie.depths) + 1, len(children)
        self.last_nodes: Int[Tensor, "N"] = torch.empty(len(sequences), dtype=torch.long)
        for node, candidates in trie.ends.items():
            children[node][stop_id] = self.end
            self.last_nodes[candidates] = node
        self._ids = torch.tensor([index for row in children for index in row])
        self._targets = torch.tensor([child for row in children for child in row.values()])
        self._counts = torch.tensor([len(row) for row in children])
        self._starts = self._counts.cumsum(0) - self._counts

    def __len__(self) -> int:
        return self.end + 1

    def children(self, states: Int[Tensor, "B"]) -> tuple[Int[Tensor, "E"], Int[Tensor, "E"], Int[Tensor, "E"]]:
        """All edges out of the states: the row each belongs to, its id, the node it leads to."""
        counts = self._counts[states]
        rows = torch.repeat_interleave(torch.arange(len(states)), counts)
        within = torch.arange(len(rows)) - torch.repeat_interleave(counts.cumsum(0) - counts, counts)
        edges = self._starts[states][rows] + within
        return rows, self._ids[edges], self._targets[edges]
