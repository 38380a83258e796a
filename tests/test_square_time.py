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


def test_one_slow_measurement_is_not_believed(clock):
    slow = iter([100.0])
    assert not square_time.grows_with_the_square(lambda size: clock(next(slow, size / 100)), 100)
