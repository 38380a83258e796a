"""Nothing goes on when nobody listens: a closed stream ends its text, ctrl-C ends every process."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def server(run, tmp_path):
    """`loci web` as a process of its own, at its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "loci", "web", str(run), "--no-browser", "--port", str(port), "--out", "out"]
    process: Any = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert "the web lab is at" in process.stdout.readline()
    process.url = f"http://127.0.0.1:{port}"
    until(lambda: answers(process.url))
    yield process
    process.send_signal(signal.SIGINT)  # also when a test failed: what it started ends with it
    process.wait(300)
    process.stdout.close()


def until(holds, seconds=300):
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.05)
    return found


def answers(url):
    try:
        return get(f"{url}/healthz")
    except OSError:
        return None


def get(url):
    with urllib.request.urlopen(url, timeout=300) as response:
        return response.read().decode()


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    return urllib.request.urlopen(request, timeout=300)


def children(pid):
    found = Path(f"/proc/{pid}/task/{pid}/children")
    threads = Path(f"/proc/{pid}/task").iterdir() if found.exists() else []
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]


def written(url):
    line = next(line for line in get(f"{url}/metrics").splitlines() if line.startswith("loci_characters_total "))
    return int(line.split()[1])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are counted in /proc")
def test_a_closed_stream_stops_its_text_and_ctrl_c_leaves_no_process(server):
    with post(f"{server.url}/api/generate", {"run": "run", "prompt": "Where", "length": 2000}) as stream:
        assert "text" in json.loads(stream.readline())
    until(lambda: json.loads(get(f"{server.url}/healthz"))["waiting"] == 0)
    count = written(server.url)
    time.sleep(0.3)
    assert 0 < written(server.url) == count < 2000
    post(f"{server.url}/api/trainings", {"kind": "recipe", "people": 40, "characters": 20_000_000}).close()
    running = until(lambda: children(server.pid))
    server.send_signal(signal.SIGINT)
    assert server.wait(300) is not None
    for pid in running:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
