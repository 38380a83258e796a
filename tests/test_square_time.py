import pytest

import square_time


@pytest.fixture
def clock(monkeypatch):
    """CPU time that only the work below takes."""
    now = [0.0]
    monkeypatch.setattr(square_time.time, "process_time", lambda: now[0])

    def take(seconds):
        now[0] += seconds

    return take


@pytest.mark.parametrize(("power", "square"), [(1, False), (1.2, False), (2, True)])
def test_the_square_is_told_from_the_line(clock, power, square):
    assert square_time.grows_with_the_square(lambda size: clock((size / 100) ** power), 100) == square


def test_what_takes_no_time_is_nobodys_trouble(clock):
    assert not square_time.grows_with_the_square(lambda size: clock((size / 1e5) ** 2), 100)


@pytest.mark.parametrize("slow", range(2 * square_time.ROUNDS - 2))
def test_slow_measurements_are_not_believed(clock, slow):
    late = iter([100.0] * slow)
    assert not square_time.grows_with_the_square(lambda size: clock(next(late, 0) + size / 100), 100)
