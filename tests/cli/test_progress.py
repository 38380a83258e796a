import pytest

from loci.cli import progress
from loci.cli.progress import ProgressBar, duration
from loci.training.reports import SmoothedLoss, StepReport


def test_a_few_losses_are_smoothed_to_their_own_mean():
    smooth = SmoothedLoss()
    assert smooth.add(5.0) == 5.0
    assert smooth.add(3.0) == pytest.approx(4.0, abs=0.06)


def test_without_a_terminal_lines_say_how_much_time_is_left(capsys, monkeypatch):
    monkeypatch.setattr(progress, "PLAIN_EVERY_SECONDS", -1.0)
    with ProgressBar() as bar:
        for step in (1, 2):
            bar.on_step(StepReport("read", step, step, step / 4, 2.0, 0.0, 1e-3, 100 * step, 10.0 * step, held_out=1.5))
        bar.labelling(1, 4)
        bar.labelling(2, 4)
    said = capsys.readouterr().err.splitlines()
    assert said[1] == "read 50 % loss 2.000 held out 1.500 10 characters/s, 20 s left"
    assert said[2].startswith("label 25 % 1 of 4 readings")
    assert said[3].startswith("label 50 % 2 of 4 readings")
    assert said[3].endswith("left")


@pytest.mark.parametrize(("seconds", "said"), [(4.2, "4 s"), (600, "10 min"), (9000, "2.5 h")])
def test_durations_are_said_as_people_say_them(seconds, said):
    assert duration(seconds) == said
