import dataclasses

import numpy as np
import pytest
import torch

from loci.data.example import IDLE, Example, collate, split_step
from loci.errors import LociError
from loci.model import GPT, GPTConfig
from loci.pipeline import carry_out
from loci.training import device, parallel
from loci.training.device import Placement, choose
from loci.training.distributed import Group
from loci.training.parallel import Engine
from loci.training.prefetch import Prefetch
from loci.training.run import read_metrics
from loci.training.sources import make_stream
from loci.training.step import ALONE, backward

QUIET = ["model.embd_pdrop=0", "model.attn_pdrop=0", "model.resid_pdrop=0"]


def gradients(model, work, stage, engine=ALONE):
    figures, _ = backward(model, work, stage, engine=engine)
    return figures, [parameter.grad.clone() for parameter in model.parameters()]


@pytest.mark.parametrize("changes", [[], ["finetune.focus=0.3", "finetune.near=0.1"]])
@pytest.mark.parametrize(("world", "accumulate"), [(1, 2), (1, 6), (2, 1), (3, 2)])
def test_parts_and_processes_add_up_to_the_whole_gradient(tiny_recipe, tiny_data, changes, world, accumulate):
    """Questions count few targets and lines many: only weights by their targets give the gradient of the whole."""
    recipe = tiny_recipe.override([*QUIET, *changes])
    stage = recipe.stages[1]
    model = GPT(
        GPTConfig.from_dict({**recipe.model, "vocab_size": len(tiny_data.vocab)}),
        generator=torch.Generator().manual_seed(0),
    )
    stream = make_stream(stage, 1, recipe, tiny_data, 64)
    figures, whole = gradients(model, stream.parts(0), stage)
    sums = [torch.zeros_like(gradient) for gradient in whole]
    total = torch.zeros(2)
    works = [
        make_stream(stage, 1, recipe, tiny_data, 64, rank=rank, world=world).parts(0, accumulate)
        for rank in range(world)
    ]
    for work in works:
        some, grads = gradients(model, work, stage, Engine(Pretended(world, works)))
        total += some
        for accumulated, gradient in zip(sums, grads, strict=True):
            accumulated += gradient
    assert total == pytest.approx(figures.tolist(), abs=1e-5)
    for summed, gradient in zip(sums, whole, strict=True):
        torch.testing.assert_close(summed, gradient, atol=1e-6, rtol=1e-4)


class Pretended(Group):
    """One of several processes; the figures of all are known, and adding up the gradients is left to the test."""

    def __init__(self, world, works):
        super().__init__(0, world)
        self.sums = [sum(work.targets for work in works), sum(work.characters for work in works)]

    def total(self, figures):
        return self.sums


def test_accumulating_leaves_the_loss_curve(tiny_recipe, tiny_data, tmp_path):
    curves = []
    for parts in (1, 3):
        recipe = tiny_recipe.override([*QUIET, f"pretrain.accumulate={parts}", f"finetune.accumulate={parts}"])
        carry_out(recipe, tiny_data, tmp_path / str(parts))
        curves.append([row["loss"] for row in read_metrics(tmp_path / str(parts))])
    assert curves[0] == pytest.approx(curves[1], rel=1e-3)
    assert curves[0] != curves[1]  # another order of sums: it did go through parts


def test_a_part_without_anything_to_learn_is_left_out(tiny_recipe, tiny_data):
    stream = make_stream(tiny_recipe.stages[1], 1, tiny_recipe, tiny_data, 64)
    examples, _ = stream._own(0)
    silent = dataclasses.replace(examples[0], loss_mask=examples[0].loss_mask & False)
    work = split_step([silent, examples[1]], accumulate=2)
    assert len(work.parts) == 1
    assert work.targets == work.parts[0].n_targets
    assert work.rows == 2
    assert split_step([]).parts == ()
    of_many = split_step([silent, examples[1]], accumulate=2, equal=True, rows=4)  # all pass through the model as often
    assert [part.n_targets for part in of_many.parts] == [work.targets, 0]
    assert of_many.rows == 4
    assert split_step([], equal=True).parts == (IDLE,)


def test_a_part_that_counts_nothing_has_gradients_of_nothing(tiny_recipe, tiny_data):
    stage = dataclasses.replace(tiny_recipe.stages[0], focus=0.2, near=0.1)
    config = GPTConfig.from_dict({**tiny_recipe.model, "vocab_size": len(tiny_data.vocab)})
    model = GPT(config, generator=torch.Generator().manual_seed(0))
    figures, grads = gradients(model, split_step([], equal=True, rows=8), stage, Engine(Pretended(2, ())))
    assert figures.tolist() == [0, 0]
    assert all(gradient.abs().max() == 0 for gradient in grads)


def test_a_budget_in_characters_ends_there(tiny_recipe, tiny_data, tmp_path):
    recipe = tiny_recipe.override(["pretrain.characters=900", "finetune.steps=1"])
    carry_out(recipe, tiny_data, tmp_path / "run")
    rows = [row for row in read_metrics(tmp_path / "run") if row["stage"] == "pretrain"]
    assert rows[-2]["characters"] < 900 <= rows[-1]["characters"]
    assert rows[-2]["progress"] == pytest.approx(rows[-2]["characters"] / 900, abs=1e-5)


def test_warm_ups_are_carried_out(tiny_recipe, tiny_data, tmp_path):
    changes = ["pretrain.pool=1", "pretrain.batch_size=8", "pretrain.batch_warmup=8", "pretrain.length_warmup=8"]
    carry_out(tiny_recipe.override(changes), tiny_data, tmp_path / "run")
    made = [row["characters"] for row in read_metrics(tmp_path / "run") if row["stage"] == "pretrain"]
    first, last = made[0], made[-1] - made[-2]
    assert first < last / 4


def test_what_is_made_ahead_is_what_would_have_been_made():
    made = []

    def make(step):
        made.append(step)
        if step == 7:
            raise LociError("the seventh is broken")
        return step * step

    with Prefetch(make) as ahead:
        assert [ahead.get(step) for step in (0, 1, 2, 5, 6)] == [0, 1, 4, 25, 36]
        with pytest.raises(LociError, match="seventh"):
            ahead.get(7)
    assert len(made) == len(set(made))


def test_the_device_is_chosen_and_what_is_missing_is_said(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert choose() == Placement()
    assert str(choose("cpu", "fp32")) == "cpu, fp32"
    with pytest.raises(LociError, match="no CUDA"):
        choose("cuda")
    with pytest.raises(LociError, match="no MPS"):
        choose("mps")
    monkeypatch.setattr(device, "has_bf16", lambda kind: False)
    with pytest.raises(LociError, match="no bf16 in hardware"):
        choose("cpu", "bf16")
    monkeypatch.setattr(device, "has_bf16", lambda kind: True)
    assert choose("cpu", "bf16").bf16
    assert not choose("cpu", "auto").bf16
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert choose().device.type == "mps"


def test_bf16_trains_where_it_is_asked_for(tiny_recipe, tiny_data, tmp_path):
    carry_out(tiny_recipe, tiny_data, tmp_path / "run", placement=Placement(bf16=True))
    carry_out(tiny_recipe, tiny_data, tmp_path / "plain")
    losses = [[row["loss"] for row in read_metrics(tmp_path / name)] for name in ("run", "plain")]
    assert losses[0] == pytest.approx(losses[1], rel=0.2)
    assert losses[0] != losses[1]


class Copied:
    """Stands for a tensor of a device that is not here."""

    def __init__(self, steps=()):
        self.steps = steps

    def pin_memory(self):
        return Copied((*self.steps, "pinned"))

    def to(self, device, *, non_blocking):
        return Copied((*self.steps, device.type, non_blocking))


@pytest.mark.parametrize(("kind", "steps"), [("cuda", ("pinned", "cuda", True)), ("mps", ("mps", True))])
def test_batches_are_copied_while_the_device_computes(monkeypatch, kind, steps):
    monkeypatch.setattr(torch, "from_numpy", lambda array: Copied())
    x, y, _ = Placement(torch.device(kind)).tensors(IDLE)
    assert vars(x)["steps"] == vars(y)["steps"] == steps


def test_a_model_on_a_device_without_memory_has_the_shapes_it_should(tiny_recipe):
    """The meta device computes shapes and kinds alone: what another device would do, as far as it can be run here."""
    placement = Placement(torch.device("meta"))
    model = Engine().wrap(GPT(GPTConfig.from_dict({**tiny_recipe.model, "vocab_size": 30})), placement.device)
    x, *_ = placement.tensors(collate([Example(np.arange(2, 20), np.ones(18, dtype=bool))] * 3))
    logits = model(x).logits
    assert logits.shape == (3, 17, 30)
    logits.sum().backward()
    assert all(parameter.grad.shape == parameter.shape for parameter in model.parameters())


def test_what_training_will_use_is_said(monkeypatch):
    assert device.plan(Placement()) == "cpu, fp32; gloo between processes"
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 8)
    said = device.plan(Placement(torch.device("cuda", 0), bf16=True))
    assert said.startswith("cuda:0, bf16, pinned memory; nccl between processes")
    assert "--nproc_per_node 8" in said


def test_auto_shards_what_does_not_fit(monkeypatch):
    monkeypatch.setattr(parallel, "memory_gb", lambda: (16.0, 8.0))
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    cpu, two = torch.device("cpu"), Group(0, 2)
    assert parallel.resolved("auto", 200_000_000, cpu) == "ddp"  # 3.2 GB of a process's 8
    assert parallel.resolved("auto", 400_000_000, cpu) == "fsdp"
    assert parallel.resolved("ddp", 400_000_000, cpu) == "ddp"
    parallel.require_memory(900_000_000, "auto", two, cpu)
    how: parallel.ParallelName
    for how, group in (("ddp", two), ("auto", Group()), ("fsdp", Group())):
        with pytest.raises(LociError, match=r"14 GB( a process)?, and the machine has 8"):
            parallel.require_memory(900_000_000, how, group, cpu)
