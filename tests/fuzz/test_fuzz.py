"""A hundred cases of the fuzzer, the same every time, 500 among the slow tests; `make fuzz` has 5,000 new ones."""

import subprocess
import sys
from pathlib import Path

import pytest

DRIVER = Path(__file__).with_name("fuzz_driver.py")
CASES = 100


@pytest.mark.skipif(sys.platform == "win32", reason="the driver forks, Windows does not")
@pytest.mark.parametrize("first", [0, *(pytest.param(n * CASES, marks=pytest.mark.slow) for n in range(1, 6))])
def test_no_damage_ends_in_a_traceback_a_hang_or_an_excess(first, tmp_path):
    command = [sys.executable, str(DRIVER), "--seed", "0", "--first", str(first), "--cases", str(CASES)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
    assert f"seed 0, {CASES} cases" in result.stdout
