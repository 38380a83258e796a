import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.training.schedule import cosine, course, warmup_stable_decay

EPOCH = 23 * 128 * 127  # tokens as the course counts them, nearly


def test_the_course_rule_at_its_landmarks():
    assert course(5120, 10240, 10**6) == 0.5
    assert course(10240, 10240, 10**6) == pytest.approx(1.0)
    assert course((10**6 + 10240) // 2, 10240, 10**6) == pytest.approx(0.5)
    assert course(10**6, 10240, 10**6) == 0.1


def test_the_defect_of_2021_climbs_back_to_the_full_rate_near_epoch_400_and_2024_does_not():
    def rate(epoch: int, end: int) -> float:
        return course(epoch * EPOCH, 10240, end * EPOCH)

    assert rate(200, end=200) == 0.1
    assert rate(400, end=200) == pytest.approx(1.0, abs=1e-3)
    assert rate(600, end=200) == 0.1
    assert rate(400, end=650) == pytest.approx(0.32, abs=0.01)
    assert rate(650, end=650) == 0.1


@given(st.floats(0, 1), st.floats(0.001, 0.3), st.floats(0, 1))
def test_schedules_stay_between_zero_and_one_and_end_at_the_floor(progress, warmup, floor):
    for value in (cosine(progress, warmup, floor), warmup_stable_decay(progress, warmup, 0.3, floor)):
        assert 0 <= value <= 1 + 1e-12
    assert cosine(1.0, warmup, floor) == pytest.approx(floor)
    assert warmup_stable_decay(1.0, warmup, 0.3, floor) == pytest.approx(floor)


def test_warmup_stable_decay_has_its_plateau():
    assert [warmup_stable_decay(p, 0.1, 0.2, 0.0) for p in (0.05, 0.1, 0.5, 0.8, 0.9)] == pytest.approx(
        [0.5, 1, 1, 1, 0.5]
    )
