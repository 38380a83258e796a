"""Two processes train one model: the same curve as one, one writer, and on again after one of them is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from loci.cli.main import main
from loci.training import checkpoint as ckpt
from loci.training.run import read_metrics, read_run

RECIPE = ["--recipe", "course-2024", "--seed", "4", "--device", "cpu"]
SMALL = ["model.n_layer=1", "model.n_embd=16", "model.n_head=2", "model.embd_pdrop=0", "model.attn_pdrop=0"]
SMALL += ["model.resid_pdrop=0", "pretrain.batch_size=9", "finetune.batch_size=7"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("distributed") / "world"
    assert main(["world", "--people", "30", "--out", str(folder)]) == 0
    return folder


def arguments(world, out, *changes):
    settings = [part for change in (*SMALL, *changes) for part in ("--set", change)]
    return ["train", *RECIPE, "--data", str(world), "--out", str(out), *settings]


def start(command, *options, marker=""):
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "LOCI_TEST_MARKER": marker}
    return subprocess.Popen(
        [*launch, "-m", "loci", *command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def test_two_processes_have_the_loss_curve_of_one(world, tmp_path):
    """Batches of 9 and 7 fall apart unevenly, a pass ends with a short one, and questions count few targets."""
    budget = ("pretrain.steps=8", "finetune.steps=6", "finetune.accumulate=2")
    assert main(arguments(world, tmp_path / "one", *budget)) == 0
    process = start(arguments(world, tmp_path / "two", *budget))
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    assert output.count("trained 14 steps") == 1  # one writer, one voice
    one, two = (read_metrics(tmp_path / name) for name in ("one", "two"))
    assert [row["total_steps"] for row in two] == list(range(1, 15))
    assert [row["loss"] for row in two] == pytest.approx([row["loss"] for row in one], rel=2e-5)
    assert [row["characters"] for row in two] == [row["characters"] for row in one]
    weights = [ckpt.load_model(tmp_path / name).model.state_dict() for name in ("one", "two")]
    assert all((weights[0][name] - weights[1][name]).abs().max() < 1e-4 for name in weights[0])


def workers(marker):
    """Process ids of the training processes (not of torchrun itself) that carry the marker in their environment."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes()
            if marker.encode() in environment and b"\0LOCAL_RANK=" in b"\0" + environment:
                rank = environment.split(b"LOCAL_RANK=")[1].split(b"\0")[0]
                found[int(rank)] = int(entry.name)
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds the worker to kill in /proc")
def test_the_group_goes_on_after_a_worker_is_killed(world, tmp_path):
    marker = f"marker-{os.getpid()}-{time.time_ns()}"
    out = tmp_path / "run"
    steps = 800
    command = arguments(world, out, f"pretrain.steps={steps}", "finetune.steps=3")
    process = start([*command, "--save-every", "20"], "--max-restarts", "2", "--monitor-interval", "0.2", marker=marker)
    try:
        deadline = time.monotonic() + 120
        while not ckpt.checkpoints(out) and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.05)
        before = int(ckpt.checkpoints(out)[-1].name.split("-")[1])
        os.kill(workers(marker)[1], signal.SIGKILL)
        output, _ = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, output
    assert before < steps  # it was killed on the way
    assert read_run(out).finished
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [row["total_steps"] for row in rows] == list(range(1, steps + 4))
    assert not list(out.rglob(".*.tmp"))
