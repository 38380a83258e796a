"""Several processes train one model: the same curve as one, one writer, and on again after a process or a node died.

Every group meets on 127.0.0.1, and only processes that a test has started are ended.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from loci.cli.main import main
from loci.errors import LociError
from loci.interop.params_file import read_params
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


def start(command, *options, processes=2, marker="", node=("--standalone",)):
    launch = [sys.executable, "-m", "torch.distributed.run", "--local-addr", "127.0.0.1", *node]
    launch += ["--nproc_per_node", str(processes), *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "LOCI_TEST_MARKER": marker}
    return subprocess.Popen(
        [*launch, "-m", "loci", *command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def together(command, *options, **more):
    process = start(command, *options, **more)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    return output


BUDGET = ("pretrain.steps=8", "finetune.steps=6", "finetune.accumulate=2")


def require_same_training(one, other):
    rows, others = read_metrics(one), read_metrics(other)
    assert [row["total_steps"] for row in others] == list(range(1, 15))
    assert [row["loss"] for row in others] == pytest.approx([row["loss"] for row in rows], rel=2e-5)
    assert [row["characters"] for row in others] == [row["characters"] for row in rows]
    weights = [ckpt.load_model(run).model.state_dict() for run in (one, other)]
    assert all((weights[0][name] - weights[1][name]).abs().max() < 1e-4 for name in weights[0])


def test_two_processes_have_the_loss_curve_of_one(world, tmp_path):
    """Batches of 9 and 7 fall apart unevenly, a pass ends with a short one, and questions count few targets."""
    assert main(arguments(world, tmp_path / "one", *BUDGET)) == 0
    output = together(arguments(world, tmp_path / "two", *BUDGET))
    assert output.count("trained 14 steps") == 1  # one writer, one voice
    require_same_training(tmp_path / "one", tmp_path / "two")


def test_the_courses_pretraining_in_two_processes_says_and_writes_everything_once(world, tmp_path):
    params = tmp_path / "vanilla.params"
    files = ["vanilla", str(world / "wiki.txt"), "--writing_params_path", str(params)]
    output = together(["course", "pretrain", *files, "--max_epochs", "2", "--copy_every", "1"])
    for said in ("as in 2021", "number of parameters", "epoch-1.params\n", f"wrote {params} after"):
        assert output.count(said) == 1, output
    copies = [tmp_path / f"vanilla.epoch-{epoch}.params" for epoch in (1, 2)]
    first, last, whole = map(read_params, (*copies, params))
    assert all(torch.equal(last[name], whole[name]) for name in whole)
    assert not torch.equal(first["head.weight"], last["head.weight"])
    rows = read_metrics(tmp_path / "vanilla.params.run")
    steps = -(-(1 + (world / "wiki.txt").read_text(encoding="utf-8").count("\n")) // 128)
    assert [row["step"] for row in rows] == list(range(1, 2 * steps + 1))


@pytest.mark.slow
def test_a_sharded_model_trains_as_a_whole_one_and_resumes_in_any_number_of_processes(world, tmp_path):
    """Muon's matrices are gathered, checkpoints are written in parts, and a narrow model has parts of no rows."""
    changes = [*BUDGET, "pretrain.optimiser=muon", "finetune.optimiser=muon", "model.tied_head=true"]
    one, sharded = tmp_path / "one", tmp_path / "sharded"
    assert main([*arguments(world, one, *changes), "--save-every", "5"]) == 0
    together([*arguments(world, sharded, *changes), "--save-every", "5", "--parallel", "fsdp"])
    require_same_training(one, sharded)
    assert [ckpt.is_sharded(folder) for folder in ckpt.checkpoints(sharded)] == [True, True]
    for folder in (sharded / ckpt.FINAL, ckpt.checkpoints(sharded)[-1]):  # back to where ten steps were done
        shutil.rmtree(folder)
    with pytest.raises(LociError, match="sharded") as refused:
        ckpt.load_model(sharded)
    assert "loci consolidate" in (refused.value.remedy or "")
    copies = {name: shutil.copytree(sharded, tmp_path / name) for name in ("alone", "ddp", "three", "consolidated")}
    resume = ["train", "--resume", "--device", "cpu", "--out"]
    assert main([*resume, str(copies["alone"])]) == 0
    together([*resume, str(copies["ddp"]), "--parallel", "ddp"])
    together([*resume, str(copies["three"]), "--parallel", "fsdp"], processes=3)
    assert main(["consolidate", str(copies["consolidated"])]) == 0
    (whole,) = ckpt.checkpoints(copies["consolidated"])
    (plain,) = [folder for folder in ckpt.checkpoints(one) if folder.name == whole.name]
    assert {file.name for file in whole.iterdir()} == {file.name for file in plain.iterdir()}
    state, other = (load_file(folder / ckpt.STATE_TENSORS) for folder in (whole, plain))
    assert {name: tensor.shape for name, tensor in state.items()} == {n: tensor.shape for n, tensor in other.items()}
    assert main([*resume, str(copies["consolidated"])]) == 0
    for run in copies.values():
        require_same_training(one, run)


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


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds the worker to kill in /proc")
def test_the_group_goes_on_after_a_node_is_killed(world, tmp_path):
    """Two agents of torchrun, one process each; one dies with its process, and the other goes on by itself."""
    marker, out, steps = f"marker-{os.getpid()}-{time.time_ns()}", tmp_path / "run", 800
    endpoint = f"127.0.0.1:{free_port()}"
    node = ["--nnodes", "1:2", "--rdzv-backend", "c10d", "--rdzv-endpoint", endpoint, "--rdzv-id", marker]
    node += ["--rdzv-conf", "last_call_timeout=5,keep_alive_interval=1,keep_alive_max_attempt=3"]
    command = [*arguments(world, out, f"pretrain.steps={steps}", "finetune.steps=3"), "--save-every", "20"]
    options = ["--max-restarts", "4", "--monitor-interval", "0.2"]
    stays = start(command, *options, processes=1, node=[*node, "--node-rank", "0"], marker=f"{marker}-stays")
    time.sleep(1)  # the first one keeps the meeting point
    dies = start(command, *options, processes=1, node=[*node, "--node-rank", "1"], marker=f"{marker}-dies")
    try:
        deadline = time.monotonic() + 400
        while not (ckpt.checkpoints(out) and workers(f"{marker}-dies")) and time.monotonic() < deadline:
            assert stays.poll() is None, stays.communicate()[0]
            time.sleep(0.05)
        before = int(ckpt.checkpoints(out)[-1].name.split("-")[1])
        worker = workers(f"{marker}-dies")[0]
        dies.kill()
        os.kill(worker, signal.SIGKILL)
        output, _ = stays.communicate(timeout=600)
    finally:
        for agent in (stays, dies):
            agent.kill()
            agent.wait()
            assert agent.stdout is not None
            agent.stdout.close()
        for left in workers(marker).values():  # an agent that is killed leaves its process behind
            os.kill(left, signal.SIGKILL)
    assert stays.returncode == 0, output
    assert before < steps
    assert read_run(out).finished
    assert [row["total_steps"] for row in read_metrics(out)] == list(range(1, steps + 4))
