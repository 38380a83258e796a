"""Exact log-probabilities of given answers: every candidate for every prompt.

Candidates share their beginnings, so what is read is a trie, not a list, and the prompt is read once. Where the
attention class allows it the trie is read in a few wide passes (`loci.generation.tree`). Everywhere else, and when
unlikely beginnings are to be dropped, it is walked level by level, the rows of the cache branching. Works on ids.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from loci.errors import LociError
from loci.generation.context import Prompt, check_prompt, reading, start_context
from loci.generation.decode import length_batches
from loci.generation.sampling import FORBIDDEN
from loci.generation.tree import fits_tree, score_tree
from loci.generation.trie import Trie
from loci.model import GPT

#: Rows of the cache that a walk holds at most, unless one prompt alone needs more.
WALK_ROWS = 2048
#: Candidates walked together when nothing is pruned.
WALK_CANDIDATES = 512


@dataclass(frozen=True)
class Pruning:
    """Which beginnings of answers are not followed any further."""

    beam: int | None = None
    """Only this many likeliest beginnings of each length go on, for each prompt."""
    min_log_probability: float | None = None
    """Beginnings (and answers) less likely than this are dropped."""

    def __post_init__(self) -> None:
        if self.beam is not None and self.beam < 1:
            raise LociError(f"beam must be at least 1, it is {self.beam}")
        if self.min_log_probability is not None and not self.min_log_probability <= 0:
            raise LociError(f"min_log_probability must be 0 or less, it is {self.min_log_probability}")

    @property
    def prunes(self) -> bool:
        """Whether anything is dropped at all."""
        return self.beam is not None or self.min_log_probability is not None

    def most_rows(self, candidates: int) -> int:
        """How many beginnings of one length can be alive for one prompt."""
        most = candidates if self.beam is None else min(candidates, self.beam)
        if self.min_log_probability is not None:  # no more than 1/p texts can each be likelier than p
            most = min(most, math.floor(math.exp(min(-self.min_log_probability, 30.0))))
        return max(1, most)


def score_candidates(
    model: GPT,
    prompts: Sequence[Prompt],
    candidates: Sequence[Prompt],
    *,
    stop_id: int,
    beam: int | None = None,
    min_log_probability: float | None = None,
    use_cache: bool = True,
) -> NDArray[np.float64]:
    """log p(candidate, stop id | prompt) for every pair: (prompts, candidates).

    Without pruning every number is exact. With it, a number is exact or −∞: `min_log_probability` gives −∞ to exactly
    the candidates that are less likely; `beam` to those that fell out of the likeliest beginnings on the way.

    Args:
        model: Any GPT.
        prompts: Ids of each prompt, at least one.
        candidates: Ids of each candidate, without the stop id; may be empty or equal.
        stop_id: What ends an answer.
        beam: Beginnings that go on, for each prompt and length.
        min_log_probability: Drop what is less likely than this.
        use_cache: False reads every beginning with its prompt anew; same results.
    """
    pruning = Pruning(beam, min_log_probability)
    vocab_size = model.config.vocab_size
    checked = [check_prompt(prompt, vocab_size) for prompt in prompts]
    sequences = [tuple(int(index) for index in candidate) for candidate in candidates]
    Trie(sequences, stop_id=stop_id).check(vocab_size, stop_id)
    scores = np.full((len(checked), len(sequences)), FORBIDDEN)
    whole = not pruning.prunes and use_cache and fits_tree(model, checked, sequences)
    with reading(model):
        if whole:
            score_tree(model, checked, sequences, stop_id, scores)
        else:
            for part in _parts(sequences, WALK_CANDIDATES if not pruning.prunes else len(sequences)):
                trie = Trie([sequences[index] for index in part], stop_id=stop_id)
                scores[:, part] = _walk(model, checked, trie, pruning, use_cache)
    return scores


def _parts(sequences: Sequence[tuple[int, ...]], size: int) -> Iterator[list[int]]:
    """Indices of candidates in parts; those with a common beginning stay together."""
    order = sorted(range(len(sequences)), key=lambda index: sequences[index])
    for begin in range(0, len(order), size):
        yield order[begin : begin + size]


def _walk(
    model: GPT, prompts: list[Int[Tensor, "T"]], trie: Trie, pruning: Pruning, use_cache: bool
) -> NDArray[np.float64]:
    """Score all sequences of the trie, level by level."""
    at_node = torch.full((len(prompts), len(trie)), FORBIDDEN, dtype=torch.float64)  # by the node before the stop id
    for batch in length_batches(prompts, max(1, WALK_ROWS // pruning.most_rows(len(trie.sequences)))):
        rows = [prompts[index] for index in batch]
        context, logits = start_context(model, rows, room=trie.longest - 1, use_cache=use_cache)
        owners, states = torch.tensor(batch), trie.start(len(batch))
        totals = torch.zeros(len(batch), dtype=torch.float64)
        while True:
            log_p = logits.cpu().double().log_softmax(-1)
            parents, ids, nodes = trie.children(states)
            scores = totals[parents] + log_p[parents, ids]
            if pruning.min_log_probability is not None:
                keep = scores >= pruning.min_log_probability
                parents, ids, nodes, scores = parents[keep], ids[keep], nodes[keep], scores[keep]
            ended = nodes == trie.end
            at_node[owners[parents[ended]], states[parents[ended]]] = scores[ended]
            parents, ids, nodes, scores = (part[~ended] for part in (parents, ids, nodes, scores))
            if pruning.beam is not None:
                keep = _likeliest(owners[parents], scores, pruning.beam)
                parents, ids, nodes, scores = parents[keep], ids[keep], nodes[keep], scores[keep]
            if not len(parents):
                break
            context.select(parents)
            owners, states, totals = owners[parents], nodes, scores
            logits = context.step(ids.to(context.device))
    return at_node[:, trie.last_nodes].numpy()


def _likeliest(owners: Int[Tensor, "R"], scores: Float[Tensor, "R"], count: int) -> Int[Tensor, "k"]:
    """The rows with the `count` highest scores of each owner, in their old order."""
    order = torch.argsort(scores, descending=True, stable=True)
    order = order[torch.argsort(owners[order], stable=True)]  # by owner, likeliest first
    sizes = torch.unique_consecutive(owners[order], return_counts=True)[1]
    ranks = torch.arange(len(order)) - torch.repeat_interleave(sizes.cumsum(0) - sizes, sizes)
    return order[ranks < count].sort().values
