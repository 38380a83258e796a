"""Reading a whole tree of continuations in one pass.

The nodes of a trie are laid side by side after the prompt. Each has its own position (prompt length + depth) and sees
the prompt and its own ancestors only. So one wide pass gives what as many narrow ones would, and the prompt's keys are
shared by all nodes instead of being copied for each. This needs attention that sees keys through the clock's mask and
nothing else: dot product, naive, folded. A synthesizer scores positions, not keys, and a perceiver counts characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy.typing import NDArray
from torch import Tensor

from loci.generation.decode import length_batches
from loci.model import GPT
from loci.model.attention import DotAttention, FoldedAttention, NaiveAttention
from loci.model.cache import Cache, Clock
from loci.model.trunk import PlainTrunk

#: Classes whose keys may lie in any order; their own subclasses must be added by name.
UNORDERED_KEYS = (DotAttention, NaiveAttention, FoldedAttention)
#: Nodes in one pass, and characters (prompts × nodes) in one pass: wide enough for fast products, and not wider.
GROUP_NODES = 96
PASS_CHARACTERS = 4096
#: A pass of one node would take the road of a single next character, which sees everything stored.
FEWEST_NODES = 2


def fits_tree(model: GPT, prompts: Sequence[Int[Tensor, "T"]], sequences: Sequence[tuple[int, ...]]) -> bool:
    """Whether this model can read these continuations as a tree."""
    trunk = model.trunk
    if type(trunk) is not PlainTrunk or not all(type(block.attn) in UNORDERED_KEYS for block in trunk.layers):
        return False
    deepest = max(map(len, sequences), default=0)
    return model.limit is None or max(map(len, prompts), default=0) + max(deepest, FEWEST_NODES) <= model.limit


class Trie:
    """Candidates as a tree of ids: nodes in an order that puts parents first; 0 is the prompt itself."""

    def __init__(self, candidates: Sequence[tuple[int, ...]]):
        self.ids, self.parents, self.depths = [-1], [-1], [0]
        self.children: list[dict[int, int]] = [{}]
        self.ends: dict[int, list[int]] = {}  # the candidates that end in a node
        for number, candidate in enumerate(candidates):
            node = 0
            for symbol in candidate:
                if (child := self.children[node].get(symbol)) is None:
                    child = self.children[node][symbol] = len(self.ids)
                    self.ids.append(symbol)
                    self.parents.append(node)
                    self.depths.append(self.depths[node] + 1)
                    self.children.append({})
                node = child
            self.ends.setdefault(node, []).append(number)

    def path(self, node: int) -> list[int]:
        """The nodes from the first character to this one."""
        found = []
        while node:
            found.append(node)
            node = self.parents[node]
        return found[::-1]

    def below(self, node: int, depth: int) -> list[int]:
        """The node and what lies below it, down to `depth`."""
        found = [node]
        for at in found:
            if self.depths[at] < depth:
                found += self.children[at].values()
        return found


@dataclass(frozen=True)
class Group:
    """Some candidates as a tree: its nodes in any order that puts parents first."""

    ids: Int[Tensor, "N"]
    depths: Int[Tensor, "N"]
    """0 for the first id after the prompt."""
    parents: Int[Tensor, "N"]
    """Number of the parent node, −1 for the prompt itself."""
    sees: Bool[Tensor, "N N"]
    """True for a node's ancestors and itself."""
    members: list[int]
    """The candidates that end in this group."""
    ends: Int[Tensor, "M"]
    """The last node of each member, −1 for an empty one."""


def groups(sequences: Sequence[tuple[int, ...]], size: int) -> Iterator[Group]:
    """Cut the candidates into trees of about `size` nodes; a beginning shared over a cut is in both."""
    order = sorted(range(len(sequences)), key=lambda index: sequences[index])
    nodes: dict[tuple[int, ...], int] = {(): -1}
    members: list[int] = []
    for index in order:
        sequence = sequences[index]
        missing = [sequence[:n] for n in range(1, len(sequence) + 1) if sequence[:n] not in nodes]
        if members and len(nodes) - 1 + len(missing) > size:
            yield _group(nodes, members, sequences)
            nodes, members = {(): -1}, []
            missing = [sequence[:n] for n in range(1, len(sequence) + 1)]
        for prefix in missing:
            nodes[prefix] = len(nodes) - 1
        members.append(index)
    if members:
        yield _group(nodes, members, sequences)


def _group(nodes: dict[tuple[int, ...], int], members: list[int], sequences: Sequence[tuple[int, ...]]) -> Group:
    prefixes = [prefix for prefix in nodes if prefix]
    parents = [nodes[prefix[:-1]] for prefix in prefixes]
    sees = torch.eye(len(prefixes), dtype=torch.bool)
    for node, parent in enumerate(parents):
        if parent >= 0:
            sees[node] |= sees[parent]
    return Group(
        ids=torch.tensor([prefix[-1] for prefix in prefixes], dtype=torch.long),
        depths=torch.tensor([len(prefix) - 1 for prefix in prefixes], dtype=torch.long),
        parents=torch.tensor(parents, dtype=torch.long),
        sees=sees,
        members=members,
        ends=torch.tensor([nodes[sequences[index]] for index in members]),
    )


class TreeClock(Clock):
    """A clock that stands still at the end of the prompts and places the nodes of one group after the other behind it.

    Nodes are stored behind the longest prompt, the same slots for every row; what lies between a shorter prompt and
    these slots is never seen.
    """

    def __init__(self, lengths: Int[Tensor, "B"], capacity: int, longest: int):
        super().__init__(len(lengths), capacity, lengths.device)
        self.lengths = lengths
        self.longest = longest
        self.uniform = self.longest  # where nodes are stored, for all rows alike
        slots = torch.arange(self.longest, device=lengths.device)
        self.prompt_mask = (slots < lengths[:, None])[:, None, None]  # (B, 1, 1, W)

    def place(self, depths: Int[Tensor, "*B N"], sees: Bool[Tensor, "*B1 N N"]) -> None:
        """What the next pass reads: the same nodes for every row, or each row's own."""
        self.depths, self.sees = depths, sees

    def positions(self, width: int) -> Int[Tensor, "b T"]:
        """A node stands as far behind its prompt as it is deep."""
        return self.lengths[:, None] + self.depths

    def visible(self, width: int) -> Bool[Tensor, "b 1 T S"]:
        """The prompt, the ancestors, the node itself."""
        batch, nodes = len(self.lengths), self.depths.shape[-1]
        prompt = self.prompt_mask.expand(batch, 1, nodes, self.longest)
        return torch.cat((prompt, self.sees.expand(batch, 1, nodes, nodes)), dim=-1)

    def advance(self, width: int) -> None:
        """The next group is stored over this one."""


def score_tree(
    model: GPT,
    prompts: list[Int[Tensor, "T"]],
    sequences: Sequence[tuple[int, ...]],
    stop_id: int,
    scores: NDArray[np.float64],
) -> None:
    """Fill `scores` (prompts × sequences) with exact log-probabilities, stop id included. Inside `reading` only."""
    device = model.tok_emb.weight.device
    longest = max(map(len, prompts), default=0)
    size = GROUP_NODES if model.limit is None else min(GROUP_NODES, model.limit - longest)
    trees = list(groups(sequences, size))
    widest = max(max((len(tree.ids) for tree in trees), default=0), FEWEST_NODES)
    for batch in length_batches(prompts, max(1, PASS_CHARACTERS // widest)):
        rows = [prompts[index] for index in batch]
        lengths = torch.tensor([len(row) for row in rows], device=device)
        cache = model.make_cache(len(rows), int(lengths.max()) + widest)
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).to(device)
        hidden, _ = model.hidden(ids, cache=cache)
        after_prompt = model.logits(hidden[torch.arange(len(rows), device=device), lengths - 1]).log_softmax(-1)
        clock = TreeClock(lengths, cache.clock.capacity, int(lengths.max()))
        for layer in cache.layers:
            layer.clock = clock
        branching = Cache(clock, cache.layers)
        for tree in trees:
            scores[np.ix_(batch, tree.members)] = _score_group(model, branching, clock, tree, after_prompt, stop_id)


def _score_group(
    model: GPT, cache: Cache, clock: TreeClock, tree: Group, after_prompt: Tensor, stop_id: int
) -> NDArray[np.float64]:
    device, batch, nodes = after_prompt.device, len(after_prompt), len(tree.ids)
    fill = max(0, FEWEST_NODES - nodes)  # nodes that nobody sees and nobody asks about
    sees = torch.nn.functional.pad(tree.sees, (0, fill, 0, fill)) | torch.eye(nodes + fill, dtype=torch.bool)
    clock.place(torch.nn.functional.pad(tree.depths, (0, fill)).to(device), sees.to(device))
    ids = torch.nn.functional.pad(tree.ids, (0, fill)).to(device)
    hidden, _ = model.hidden(ids.expand(batch, -1), cache=cache)
    # Row 0 is the prompt's own distribution, row n + 1 that of node n: parent −1 needs no case of its own.
    log_p = torch.cat((after_prompt[:, None], model.logits(hidden[:, :nodes]).log_softmax(-1)), dim=1)
    edges = log_p[:, tree.parents.to(device) + 1, tree.ids.to(device)].double()  # (B, N)
    paths = edges @ tree.sees.to(device).T.double()  # a node's own edge and its ancestors'
    paths = torch.nn.functional.pad(paths, (1, 0))  # the empty candidate's path
    ends = tree.ends.to(device) + 1
    result: NDArray[np.float64] = (paths[:, ends] + log_p[:, ends, stop_id].double()).cpu().numpy()
    return result
