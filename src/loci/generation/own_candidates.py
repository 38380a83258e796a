"""Log-probabilities of candidates that differ from prompt to prompt, many prompts at once.

Each prompt has a trie of its own. Prompts of similar length are read together, once; what several have up to their
first stop id, such as a line that is asked about more than once, is read once for all of them. Then the tries are read
in rounds of a few characters: a round takes every beginning that is still likely enough some characters further, all
prompts in one pass, as the nodes of a tree behind each prompt (`loci.generation.tree`). Beginnings less likely than
`least` are left unread unless nothing likelier is found, so a sure reader costs hardly more than a plain forward pass.
Works on ids.
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from loci.errors import LociError
from loci.generation.context import Prompt, check_prompt, reading
from loci.generation.scoring import score_candidates
from loci.generation.tree import FEWEST_NODES, TreeClock, Trie, fits_tree
from loci.model import GPT
from loci.model.cache import Cache, LayerCache

LEAST = 1e-3
READ_CHARACTERS = 8192
"""Characters of prompts read in one pass."""
ROUND_DEPTH = 8
"""Characters that a round goes further."""
ROUND_NODES = 64
"""Nodes behind one prompt in one round; what does not fit waits for the next."""

Ids = tuple[int, ...]


def score_own_candidates(
    model: GPT,
    prompts: Sequence[Prompt],
    candidates: Sequence[Sequence[Sequence[int]]],
    *,
    stop_id: int,
    least: float = LEAST,
) -> list[NDArray[np.float64]]:
    """log p(candidate, stop id | prompt) of each prompt's own candidates.

    A candidate whose beginning is less likely than `least` may get −∞, but never the likeliest candidate nor any that
    is more than `least` times as likely as that one. 0 scores all of them.
    """
    checked = [check_prompt(prompt, model.config.vocab_size) for prompt in prompts]
    own = [[tuple(map(int, ids)) for ids in mine] for mine in candidates]
    if any(stop_id in ids for mine in own for ids in mine):
        raise LociError("a candidate holds the id that ends an answer")
    longest = max((ids for mine in own for ids in mine), key=len, default=())
    if not fits_tree(model, checked, [longest]):
        return [
            score_candidates(model, [prompt], mine, stop_id=stop_id)[0] if mine else np.empty(0)
            for prompt, mine in zip(checked, own, strict=True)
        ]
    floor = math.log(least) if least > 0 else -math.inf
    found: list[NDArray[np.float64]] = [np.full(len(mine), -math.inf) for mine in own]
    first = [_first_part(prompt, stop_id) for prompt in checked]
    order = sorted(range(len(checked)), key=lambda index: (len(first[index]), first[index], len(checked[index])))
    with reading(model):
        while order:
            rows = max(1, READ_CHARACTERS // len(checked[order[-1]]))  # longest lines first: then it fits later
            rows = max(1, READ_CHARACTERS // max(len(checked[index]) for index in order[-rows:]))
            batch, order = order[-rows:], order[:-rows]
            _score([found[index] for index in batch], model, checked, first, own, batch, stop_id, floor)
    return found


class _Row:
    """One prompt's trie, and how far it is read."""

    def __init__(self, candidates: Sequence[Ids], scores: NDArray[np.float64], stop_id: int, floor: float):
        self.trie, self.scores, self.stop_id, self.floor = Trie(candidates), scores, stop_id, floor
        self.waiting: list[tuple[float, int]] = []
        """Nodes to be read, each with the log-probability of getting there."""
        self.nodes: list[int] = []
        self.heads: dict[int, float] = {}
        self.limit = floor
        """Nodes less likely than this stay unread."""

    def going(self) -> bool:
        """Whether there is anything to read: what is likely, or else what might still be the likeliest."""
        likeliest = max(self.waiting, default=(-math.inf, 0))[0]
        if likeliest < self.limit:
            self.limit = max(self.scores, default=-math.inf) + self.floor
        return bool(self.waiting) and likeliest >= self.limit

    def reach(self, node: int, so_far: float, log_p: NDArray[np.float64], *, read: Container[int] = ()) -> None:
        """A node was read: score the candidates that end there; its children wait, if they are not `read`."""
        for number in self.trie.ends.get(node, ()):
            self.scores[number] = so_far + log_p[self.stop_id]
        for symbol, child in self.trie.children[node].items():
            if child not in read:
                self.waiting.append((so_far + float(log_p[symbol]), child))

    def choose(self, room: int) -> list[int]:
        """The nodes of the next round, parents first: the likeliest that wait, with what leads to them."""
        chosen: dict[int, None] = {}
        self.heads, left = {}, []
        for so_far, head in sorted(self.waiting, reverse=True):
            if so_far >= self.limit:
                before = self.trie.path(self.trie.parents[head])
                below = self.trie.below(head, self.trie.depths[head] + ROUND_DEPTH - 1)[: room - len(before)]
                more = chosen | dict.fromkeys([*before, *below])
                if not chosen or len(more) <= room:
                    chosen, self.heads[head] = more, so_far
                    continue
            left.append((so_far, head))
        self.waiting = left
        self.nodes = sorted(chosen)  # a parent has a smaller number than its children
        return self.nodes

    def take(self, log_p: NDArray[np.float64]) -> None:
        """What a round read: (nodes, V), in the order of `nodes`."""
        place = {node: index for index, node in enumerate(self.nodes)}
        reached = dict(self.heads)
        for index, node in enumerate(self.nodes):
            parent = self.trie.parents[node]
            if node not in reached and parent in reached:
                so_far = reached[parent] + float(log_p[place[parent], self.trie.ids[node]])
                if so_far < self.limit:
                    self.waiting.append((so_far, node))
                    continue
                reached[node] = so_far
            if node in reached:  # others only lead to a head
                self.reach(node, reached[node], log_p[index], read=place)


def _score(
    scores: list[NDArray[np.float64]],
    model: GPT,
    prompts: list[Tensor],
    first: list[Ids],
    candidates: list[list[Ids]],
    batch: list[int],
    stop_id: int,
    floor: float,
) -> None:
    """Score the candidates of one batch of prompts."""
    device = model.tok_emb.weight.device
    rows = [_Row(candidates[index], mine, stop_id, floor) for index, mine in zip(batch, scores, strict=True)]
    lengths = torch.tensor([len(prompts[index]) for index in batch], device=device)
    longest = int(lengths.max())
    deepest = max((len(ids) for index in batch for ids in candidates[index]), default=0)
    room = max(ROUND_NODES, deepest)
    room = max(room if model.limit is None else min(room, model.limit - longest), FEWEST_NODES)
    cache, last = _read(model, [prompts[index] for index in batch], [first[index] for index in batch], room)
    after = _log_p(model, last)
    for row, log_p in zip(rows, after, strict=True):
        row.reach(0, 0.0, log_p)
    layers = cache.layers
    while going := [index for index, row in enumerate(rows) if row.going()]:
        if len(going) < len(rows):  # who is done is read no further
            kept = torch.tensor(going, device=device)
            rows, lengths = [rows[index] for index in going], lengths[kept]
            for layer in layers:
                layer.select(kept)
        chosen = [row.choose(room) for row in rows]
        for row, log_p in zip(rows, _round(model, layers, lengths, longest, rows, chosen), strict=True):
            row.take(log_p)


def _first_part(prompt: Tensor, stop_id: int) -> Ids:
    """The prompt up to its first stop id, that one included; nothing, where nothing stands behind it."""
    ids = tuple(prompt.tolist())
    end = ids.index(stop_id) + 1 if stop_id in ids else len(ids)
    return ids[:end] if end < len(ids) else ()


def _read(model: GPT, prompts: list[Tensor], first: list[Ids], room: int) -> tuple[Cache, Tensor]:
    """Read the prompts, first parts that are equal once: a cache with room behind them, the state of each last id."""
    device = model.tok_emb.weight.device
    numbers: dict[Ids, int] = {}
    rows = torch.tensor([numbers.setdefault(part, len(numbers)) for part in first], device=device)
    rest = [prompt[len(part) :] for prompt, part in zip(prompts, first, strict=True)]
    padded = max(map(len, first)) + max(map(len, rest))
    shared = all(first) and len(numbers) < len(first) and (model.limit is None or padded <= model.limit)
    if not shared:
        rest, padded = prompts, max(map(len, prompts))
    cache = model.make_cache(len(numbers) if shared else len(prompts), padded + room)
    if shared:
        parts = [torch.tensor(part) for part in numbers]
        model.hidden(torch.nn.utils.rnn.pad_sequence(parts, batch_first=True).to(device), cache=cache)
        cache.clock.set_lengths(torch.tensor(list(map(len, parts)), device=device))
        cache.select(rows)
    hidden, _ = model.hidden(torch.nn.utils.rnn.pad_sequence(rest, batch_first=True).to(device), cache=cache)
    ends = torch.tensor(list(map(len, rest)), device=device) - 1
    return cache, hidden[torch.arange(len(rest), device=device), ends]


def _log_p(model: GPT, hidden: Tensor) -> NDArray[np.float64]:
    found: NDArray[np.float64] = model.logits(hidden).cpu().double().log_softmax(-1).numpy()
    return found


def _round(
    model: GPT, layers: list[LayerCache], lengths: Tensor, longest: int, rows: list[_Row], chosen: list[list[int]]
) -> list[NDArray[np.float64]]:
    """Read the chosen nodes behind every prompt in one pass: log p after each."""
    width = max(max(map(len, chosen)), FEWEST_NODES)
    ids = np.zeros((len(rows), width), dtype=np.int64)
    depths = np.zeros((len(rows), width), dtype=np.int64)
    sees = np.zeros((len(rows), width, width), dtype=bool)
    sees[:, np.arange(width), np.arange(width)] = True  # filling sees itself, and nobody sees it
    for number, (row, nodes) in enumerate(zip(rows, chosen, strict=True)):
        place = {node: index for index, node in enumerate(nodes)}
        ids[number, : len(nodes)] = [row.trie.ids[node] for node in nodes]
        depths[number, : len(nodes)] = [row.trie.depths[node] - 1 for node in nodes]
        for index, node in enumerate(nodes):
            if parent := row.trie.parents[node]:
                sees[number, index] |= sees[number, place[parent]]
    device = lengths.device
    clock = TreeClock(lengths, layers[0].clock.capacity, longest)
    clock.place(torch.from_numpy(depths).to(device), torch.from_numpy(sees).to(device)[:, None])
    for layer in layers:
        layer.clock = clock
    hidden, _ = model.hidden(torch.from_numpy(ids).to(device), cache=Cache(clock, layers))
    log_p = _log_p(model, hidden)
    return [log_p[number, : len(nodes)] for number, nodes in enumerate(chosen)]
