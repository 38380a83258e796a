"""The benchmark compares like with like: the fast step has the gradients of the published one."""

import importlib.util
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from loci.data.example import split_step
from loci.model import GPT, GPTConfig
from loci.text.corpus import Corpus
from loci.text.world import WorldSpec, tellings
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.sources import TrainingData, make_stream
from loci.training.step import backward

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def published():
    spec = importlib.util.spec_from_file_location("published_step", BENCHMARKS / "_published.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def data():
    lines = [line.text for _, several in tellings(WorldSpec(people=40)) for line in several]
    return TrainingData(Corpus.from_lines(lines))


def published_state(model: GPT) -> dict[str, torch.Tensor]:
    """Loci's weights, or gradients, under the published names."""
    values = {name: parameter.detach() for name, parameter in model.named_parameters()}
    return renamed(values)


def renamed(values):
    out = {name: values[name] for name in ("tok_emb.weight", "ln_f.weight", "ln_f.bias", "head.weight")}
    out["pos_emb"] = values["positions.pos_emb"]
    for name, value in values.items():
        if not name.startswith("trunk.blocks."):
            continue
        index, rest = name.removeprefix("trunk.blocks.").split(".", 1)
        if rest.startswith("attn.qkv."):
            for part, chunk in zip(("query", "key", "value"), value.chunk(3), strict=True):
                out[f"blocks.{index}.attn.{part}.{rest.rsplit('.', 1)[1]}"] = chunk
        else:
            rest = rest.replace("mlp.up", "mlp.0").replace("mlp.down", "mlp.2")
            out[f"blocks.{index}.{rest}"] = value
    return out


@pytest.mark.parametrize("accumulate", [1, 3])
def test_the_fast_step_has_the_published_gradients(published, data, accumulate):
    """Trimmed, in parts, with the head at targets only, against padded to 128 with logits everywhere."""
    sizes: dict[str, Any] = {"n_layer": 2, "n_head": 4, "n_embd": 64}
    quiet: dict[str, Any] = {"embd_pdrop": 0.0, "attn_pdrop": 0.0, "resid_pdrop": 0.0}
    ours: Any = GPT(GPTConfig(len(data.vocab), **sizes, **quiet), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        ours.positions.pos_emb.normal_(0, 0.02, generator=torch.Generator().manual_seed(1))
    theirs = published.PublishedGPT(len(data.vocab), layers=2, width=64, heads=4, dropout=0.0)
    missing, unexpected = theirs.load_state_dict(published_state(ours), strict=False)
    assert not unexpected
    assert all(name.endswith("attn.mask") for name in missing)
    stage = Stage("s", (MixtureComponent("corruption-2024"),), steps=1, batch_size=24, pool=2)
    examples = make_stream(stage, 0, Recipe("r", {}, (stage,)), data, 128)._own(0)[0]
    backward(ours, split_step(examples, accumulate=accumulate), stage)
    padded = split_step(examples, width=128).parts[0]
    theirs(torch.from_numpy(padded.x), torch.from_numpy(padded.y)).backward()
    assert padded.x.shape[1] == 127
    mine = renamed({name: parameter.grad for name, parameter in ours.named_parameters()})
    assert mine.keys() == {name for name, _ in theirs.named_parameters()}
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(mine[name], parameter.grad, atol=1e-5, rtol=0)
        if not name.endswith("key.bias"):  # the same for all keys, so that softmax leaves it without a gradient
            assert (mine[name] - parameter.grad).norm() < 1e-3 * parameter.grad.norm()


def test_the_published_model_has_the_published_number_of_parameters(published):
    model = published.PublishedGPT(256)
    assert sum(parameter.numel() for parameter in model.parameters()) == 3_323_392


def test_published_examples_are_padded_and_shifted(published, data):
    line = data.corpus.lines[0].text
    ids = {symbol: index for index, symbol in enumerate(data.vocab.symbols)}
    x, y = published.corrupt(line, ids, 128, random.Random(0))
    assert x.shape == y.shape == (127,)
    used = int((x != 0).sum())
    assert (y[used:] == published.IGNORED).all()
    assert (x[1:used] == y[: used - 1]).all()
    assert (x == ids[published.MASK]).sum() == 2


@pytest.mark.slow
def test_the_benchmark_runs(tmp_path):
    command = [sys.executable, str(BENCHMARKS / "training.py"), "--quick", "--json", "--threads", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    result = json.loads(done.stdout)
    assert all(len(row["ratios"]) == 2 and min(row["ratios"]) > 0 for row in result["rows"])
    for detail in result["details"][1:]:
        assert sum(detail["shares"].values()) == pytest.approx(1, abs=0.2)
        assert 0.3 < detail["useful"] <= 1
        assert detail["peak_mb"] > 0
