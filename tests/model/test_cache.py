from __future__ import annotations

import pytest
import torch

from loci.model.cache import Cache, Clock, LayerCache

CPU = torch.device("cpu")


def test_a_clock_starts_even_and_becomes_ragged() -> None:
    clock = Clock(3, 10, CPU)
    assert clock.positions(2).tolist() == [[0, 1]]
    clock.advance(4)
    assert clock.uniform == 4
    clock.set_lengths(torch.tensor([2, 4, 1]))
    assert clock.uniform is None
    assert clock.positions(2).tolist() == [[2, 3], [4, 5], [1, 2]]
    clock.advance(1)
    assert clock.positions(1).tolist() == [[3], [5], [2]]
    clock.select(torch.tensor([1, 1]))
    assert clock.uniform == 5
    assert clock.positions(1).tolist() == [[5]]


def test_a_query_sees_its_own_row_up_to_itself() -> None:
    clock = Clock(2, 6, CPU)
    clock.advance(3)
    clock.set_lengths(torch.tensor([1, 3]))
    visible = clock.visible(2)[:, 0].long()
    assert visible.tolist() == [[[1, 1, 0, 0, 0], [1, 1, 1, 0, 0]], [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]]


def test_a_full_cache_is_our_own_mistake() -> None:
    clock = Clock(1, 3, CPU)
    clock.advance(3)
    with pytest.raises(AssertionError, match="full"):
        clock.advance(1)


def test_rows_are_written_at_their_own_places() -> None:
    clock = Clock(2, 5, CPU)
    layer = LayerCache(clock)
    layer.extend("k", torch.ones(2, 1, 3, 1))
    clock.advance(3)
    clock.set_lengths(torch.tensor([1, 3]))
    stored = layer.extend("k", torch.full((2, 1, 1, 1), 7.0))
    assert stored[:, 0, :, 0].tolist() == [[1, 7, 1, 0], [1, 1, 1, 7]]


def test_rows_taken_out_and_put_back() -> None:
    clock = Clock(3, 2, CPU)
    layer = LayerCache(clock)
    layer.extend("v", torch.arange(3.0).view(3, 1, 1, 1))
    part = layer.take(torch.tensor([2, 0]), Clock(2, 2, CPU))
    part.stores["v"] += 10
    assert layer.stores["v"][:, 0, 0, 0].tolist() == [0, 1, 2]
    layer.put(torch.tensor([2, 0]), part)
    assert layer.stores["v"][:, 0, 0, 0].tolist() == [10, 1, 12]


def test_selecting_rows_moves_clock_and_stores_together() -> None:
    clock = Clock(2, 4, CPU)
    layer = LayerCache(clock)
    cache = Cache(clock, [layer])
    layer.extend("k", torch.arange(2.0).view(2, 1, 1, 1))
    clock.advance(1)
    cache.select(torch.tensor([1, 0, 1]))
    assert clock.batch == 3
    assert layer.stores["k"][:, 0, 0, 0].tolist() == [1, 0, 1]
