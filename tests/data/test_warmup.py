import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.data.warmup import GRAIN, Warmup
from loci.errors import LociError


@given(st.integers(0, 500), st.floats(0.01, 1), st.integers(0, 600), st.integers(1, 300))
def test_sizes_grow_to_the_whole_and_stay(steps, start, step, n):
    warmup = Warmup(steps, start)
    assert 0 < warmup.share(step) <= warmup.share(step + 1) <= 1
    assert warmup.share(steps) == 1
    chosen = warmup.chosen(step, n)
    assert 1 <= len(chosen) <= len(warmup.chosen(step + 1, n)) <= n
    assert len(set(chosen)) == len(chosen)
    assert max(chosen) < n
    assert warmup.chosen(steps, n) == list(range(n))


def test_the_line_and_its_grains():
    warmup = Warmup(100, 0.25)
    assert [warmup.share(step) for step in (0, 50, 100)] == [0.25, 0.625, 1.0]
    assert [warmup.length(step, 128) for step in (0, 1, 50, 99, 100)] == [32, 32, 80, 128, 128]
    assert warmup.length(3, 20) == GRAIN
    assert Warmup(10, 0.5).chosen(0, 8) == [0, 2, 5, 7]


@pytest.mark.parametrize("wrong", [(-1, 0.5), (3, 0.0), (3, 1.5)])
def test_impossible_warm_ups_are_refused(wrong):
    with pytest.raises(LociError, match="warm-up"):
        Warmup(*wrong)
