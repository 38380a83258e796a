"""A list of allowed answers as a tree of ids, for decoding that can only say one of them.

Every sequence is followed by the stop id. States are node numbers (0 is the root), whole batches of states are advanced
at once, and the memory is that of the edges, not of nodes × vocabulary. Knows nothing of models or texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy.typing import NDArray
from torch import Tensor

from loci.errors import LociError

ROOT = 0
_ID_BITS = 32  # an edge's key is parent << 32 | id, so that one sorted list finds any edge


class Trie:
    """The tree. Node `end` is reached by every stop id and leads to itself by the stop id only."""

    def __init__(self, sequences: Iterable[Sequence[int] | NDArray[np.integer]], *, stop_id: int):
        self.stop_id = stop_id
        self.sequences: tuple[tuple[int, ...], ...] = tuple(tuple(int(i) for i in ids) for ids in sequences)
        if not self.sequences:
            raise LociError("a constraint needs at least one allowed answer")
        children: list[dict[int, int]] = [{}]
        depths = [0]
        last: list[int] = []
        for ids in self.sequences:
            node = ROOT
            for index in ids:
                if index < 0 or index == stop_id:
                    raise LociError(f"an allowed answer holds the id {index}, which is the stop id or negative")
                if index not in children[node]:
                    children[node][index] = len(children)
                    children.append({})
                    depths.append(depths[node] + 1)
                node = children[node][index]
            last.append(node)
        self.end = len(children)
        for node in set(last):
            children[node][stop_id] = self.end
        children.append({stop_id: self.end})
        depths.append(max(depths) + 1)
        edges = sorted(
            (node << _ID_BITS | index, child) for node, row in enumerate(children) for index, child in row.items()
        )
        self._keys = torch.tensor([key for key, _ in edges])
        self._targets = torch.tensor([child for _, child in edges])
        counts = torch.tensor([len(row) for row in children])
        self._offsets = torch.cat((torch.zeros(1, dtype=torch.long), counts.cumsum(0)))
        #: The node of each sequence's last id, before its stop id.
        self.last_nodes: Int[Tensor, "N"] = torch.tensor(last)
        #: How many ids lead to each node; for `end` one more than for the deepest other node.
        self.depths: Int[Tensor, "nodes"] = torch.tensor(depths)

    def __len__(self) -> int:
        return self.end + 1

    @property
    def longest(self) -> int:
        """Ids of the longest sequence, its stop id included."""
        return int(self.depths[self.end])

    def start(self, rows: int) -> Int[Tensor, "B"]:
        """`rows` states at the root."""
        return torch.full((rows,), ROOT)

    def children(self, states: Int[Tensor, "B"]) -> tuple[Int[Tensor, "E"], Int[Tensor, "E"], Int[Tensor, "E"]]:
        """All edges out of the states: the row each belongs to, its id, the node it leads to."""
        starts = self._offsets[states]
        counts = self._offsets[states + 1] - starts
        rows = torch.repeat_interleave(torch.arange(len(states)), counts)
        within = torch.arange(len(rows)) - torch.repeat_interleave(counts.cumsum(0) - counts, counts)
        edges = starts[rows] + within
        return rows, self._keys[edges] & ((1 << _ID_BITS) - 1), self._targets[edges]

    def allowed(self, states: Int[Tensor, "B"], vocab_size: int) -> Bool[Tensor, "B V"]:
        """True where an id may follow."""
        rows, ids, _ = self.children(states)
        mask = torch.zeros(len(states), vocab_size, dtype=torch.bool)
        mask[rows, ids] = True
        return mask

    def step(self, states: Int[Tensor, "B"], ids: Int[Tensor, "B"]) -> Int[Tensor, "B"]:
        """The states after these ids, which must be allowed."""
        keys = states << _ID_BITS | ids
        edges = torch.searchsorted(self._keys, keys).clamp(max=len(self._keys) - 1)
        assert bool((self._keys[edges] == keys).all()), "an id that the constraint does not allow was chosen"
        return self._targets[edges]

    def check(self, vocab_size: int, stop_id: int | None) -> None:
        """Refuse ids outside the vocabulary and another stop id than the decoder's."""
        if stop_id is not None and stop_id != self.stop_id:
            raise LociError(f"the constraint stops at id {self.stop_id}, the decoder at {stop_id}")
        largest = max(self.stop_id, *(max(ids, default=0) for ids in self.sequences))
        if largest >= vocab_size:
            raise LociError(f"the constraint holds id {largest}, the vocabulary ends at {vocab_size - 1}")
