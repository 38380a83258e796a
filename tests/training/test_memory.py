"""Limits of the C library and of oneDNN, and what they are for: training takes no more memory with every step."""

import os
import platform
import subprocess
import sys

import pytest

from loci.training.memory import keep_freed_memory

SCRIPT = """
import numpy as np, torch
from loci.data.example import Batch, StepBatches
from loci.model import GPT, GPTConfig
from loci.training.memory import keep_freed_memory
from loci.training.optim import make_optimisers
from loci.training.plan import MixtureComponent, Stage
from loci.training.step import step

def own_mb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1e3 for line in status if line.startswith("RssAnon"))

torch.set_num_threads(1)
keep_freed_memory()
size = {"n_layer": 1, "n_head": 2, "n_embd": 64, "block_size": 128, "vocab_size": 90}
model, rng = GPT(GPTConfig.from_dict(size)).train(), np.random.default_rng(0)
stage = Stage("s", (MixtureComponent("language-model"),), steps=1, batch_size=32)
optimisers = make_optimisers(model, stage)
for at in range(240):
    x = rng.integers(2, 90, size=(int(rng.integers(20, 60)), int(rng.integers(8, 112))))
    step(model, StepBatches((Batch(x, x),), len(x), x.size, x.size), stage, optimisers)
    if at in (40, 239):
        print(own_mb())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these settings")
def test_glibc_takes_the_settings():
    assert keep_freed_memory()


def test_a_library_without_them_is_left_alone(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    assert not keep_freed_memory()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_batches_of_ever_other_widths_take_no_more_memory():
    """With oneDNN's own limit of 1,024 primitives a training grew by 200 MB over 1,000 steps."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("ONEDNN_PRIMITIVE_CACHE_CAPACITY", None)
    found = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    early, late = map(float, found.stdout.split())
    assert late - early < 30


def test_a_limit_that_the_user_has_set_stays(monkeypatch):
    monkeypatch.setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "77")
    keep_freed_memory()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "77"
