from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from loci.errors import LociError
from loci.generation.trie import Trie

STOP = 1
VOCAB = 8
sequence_lists = st.lists(st.lists(st.integers(2, VOCAB - 1), max_size=5), min_size=1, max_size=12)


@given(sequence_lists)
def test_the_trie_says_exactly_what_the_list_allows(sequences: list[list[int]]) -> None:
    trie = Trie(sequences, stop_id=STOP)
    wanted = {tuple(sequence) for sequence in sequences}
    said: set[tuple[int, ...]] = set()
    frontier: list[tuple[tuple[int, ...], int]] = [((), 0)]
    while frontier:
        prefix, state = frontier.pop()
        mask = trie.allowed(torch.tensor([state]), VOCAB)[0]
        by_definition = {s[len(prefix)] for s in wanted if s[: len(prefix)] == prefix and len(s) > len(prefix)}
        by_definition |= {STOP} if prefix in wanted else set()
        assert set(mask.nonzero()[:, 0].tolist()) == by_definition
        for index in by_definition:
            after = int(trie.step(torch.tensor([state]), torch.tensor([index])))
            if index == STOP:
                assert after == trie.end
                said.add(prefix)
            else:
                frontier.append(((*prefix, index), after))
    assert said == wanted
    assert trie.longest == max(map(len, sequences)) + 1


@given(sequence_lists)
def test_batches_of_states_are_what_single_states_are(sequences: list[list[int]]) -> None:
    trie = Trie(sequences, stop_id=STOP)
    states = torch.arange(len(trie))
    together = trie.allowed(states, VOCAB)
    for state in states:
        assert torch.equal(together[state], trie.allowed(state[None], VOCAB)[0])
    rows, ids, nodes = trie.children(states)
    assert torch.equal(trie.step(states[rows], ids), nodes)
    for sequence, node in zip(sequences, trie.last_nodes, strict=True):
        assert trie.depths[node] == len(sequence)


def test_after_the_end_there_is_only_the_stop_id() -> None:
    trie = Trie([[2]], stop_id=STOP)
    end = torch.tensor([trie.end])
    assert trie.allowed(end, VOCAB)[0].nonzero().tolist() == [[STOP]]
    assert int(trie.step(end, torch.tensor([STOP]))) == trie.end


@pytest.mark.parametrize(("sequences", "word"), [([], "at least one"), ([[2, STOP]], "stop id"), ([[-1]], "negative")])
def test_impossible_lists_are_refused(sequences: list[list[int]], word: str) -> None:
    with pytest.raises(LociError, match=word):
        Trie(sequences, stop_id=STOP)


def test_ids_and_stop_ids_must_match_the_decoder() -> None:
    trie = Trie([[2, 9]], stop_id=STOP)
    with pytest.raises(LociError, match="id 9"):
        trie.check(VOCAB, STOP)
    with pytest.raises(LociError, match="stops at"):
        trie.check(10, 3)
    trie.check(10, None)


def test_a_choice_outside_the_list_is_our_own_mistake() -> None:
    with pytest.raises(AssertionError):
        Trie([[2, 3]], stop_id=STOP).step(torch.tensor([0]), torch.tensor([3]))
