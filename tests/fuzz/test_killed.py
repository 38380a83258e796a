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


@pytest.fixture
def place():
    """A folder in memory where there is one: thousands of fsyncs on a busy disk take minutes."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


def disturbed(kind, folder, times, seed=0):
    command = [sys.executable, str(SCRIPT), kind, str(folder), str(times), str(seed)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-3000:]
    assert "Traceback" not in result.stderr, result.stderr[-3000:]
    return json.loads(result.stdout), result.stderr


def test_twenty_kills_at_random_points_change_nothing(place):
    found, _ = disturbed("kill", place, 20)
    assert found.pop("codes").count(-signal.SIGKILL) == 20
    assert all(found.values()), found


def test_a_full_disk_is_one_line_and_the_run_goes_on_when_there_is_room_again(place):
    found, said = disturbed("full", place, 8)
    assert found.pop("codes").count(2) == 8
    assert all(found.values()), found
    lines = said.strip().splitlines()
    assert len(lines) == 8
    assert all(line.startswith(f"refused: {place}") and "free some space" in line for line in lines), lines


def test_of_several_at_once_one_writes_and_the_others_say_who(place):
    found, said = disturbed("both", place, 6)
    codes = found.pop("codes")
    assert set(codes) <= {0, 2}
    assert codes.count(0) >= 1
    assert all(found.values()), found
    # One that looked before the folder was there, and locked it after, finds a run where none was.
    known = ("is being written by process", "is being written by another process", "holds a run already")
    assert all(any(words in line for words in known) for line in said.strip().splitlines()), said
