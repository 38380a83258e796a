"""Nothing is lost: killed, out of disk, or several at once, a run ends with the weights of an undisturbed one."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("fuzz_kills.py")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks processes, which Windows does not")


@pytest.fixture(scope="module")
def disturbed():
    """What became of each kind of disturbed training, and what its processes said. One process forks all of them."""
    return _disturbed("kill=20", "full=8", "both=6")


def _disturbed(*kinds):
    memory = Path("/dev/shm")  # where there is one: thousands of fsyncs on a busy disk take minutes
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        command = [sys.executable, str(SCRIPT), folder, "0", *kinds]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-3000:]
    lines = result.stderr.strip().splitlines()
    told = json.loads(result.stdout)
    found = {kind: (told[kind], [line for line in lines if f"/{kind}/" in line]) for kind in told}
    assert sum(len(said) for _, said in found.values()) == len(lines), result.stderr[-3000:]
    return found


def test_twenty_kills_at_random_points_change_nothing(disturbed):
    found, _ = disturbed["kill"]
    assert found.pop("codes").count(-signal.SIGKILL) == 20
    assert all(found.values()), found


@pytest.mark.slow
def test_learning_killed_in_every_phase_ends_as_if_nobody_had():
    found, _ = _disturbed("learn=8")["learn"]
    assert found.pop("codes").count(-signal.SIGKILL) == 8
    assert all(found.values()), found


def test_a_full_disk_is_one_line_and_the_run_goes_on_when_there_is_room_again(disturbed):
    found, said = disturbed["full"]
    assert found.pop("codes").count(2) == 8
    assert all(found.values()), found
    assert len(said) == 8
    assert all(line.startswith("refused: ") and "free some space" in line for line in said), said


def test_of_several_at_once_one_writes_and_the_others_say_who(disturbed):
    found, said = disturbed["both"]
    codes = found.pop("codes")
    assert set(codes) <= {0, 2}
    assert codes.count(0) >= 1
    assert all(found.values()), found
    # One that looked before the folder was there, and locked it after, finds a run where none was.
    known = ("is being written by process", "is being written by another process", "holds a run already")
    assert all(any(words in line for words in known) for line in said), said
