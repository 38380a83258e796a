import dataclasses
from typing import Any

import pytest
import torch

from loci.data.example import split_step
from loci.errors import LociError
from loci.model import GPT, GPTConfig
from loci.pipeline import carry_out
from loci.training import device
from loci.training.device import Placement, choose
from loci.training.prefetch import Prefetch
from loci.training.run import read_metrics
from loci.training.sources import make_stream
from loci.training.step import backward

QUIET = ["model.embd_pdrop=0", "model.attn_pdrop=0", "model.resid_pdrop=0"]


def gradients(model, work, stage):
    figures = backward(model, work, stage)
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
    for rank in range(world):
        part_stream = make_stream(stage, 1, recipe, tiny_data, 64, rank=rank, world=world)
        work = part_stream.parts(0, accumulate)
        model.zero_grad()
        # What sum_gradients would do: each process's parts, weighted within the whole step, added.
        some, grads = gradients_as_one_of_many(model, work, stage)
        total += some
        for accumulated, gradient in zip(sums, grads, strict=True):
            accumulated += gradient
    assert total == pytest.approx(figures.tolist(), abs=1e-5)
    for summed, gradient in zip(sums, whole, strict=True):
        torch.testing.assert_close(summed, gradient, atol=1e-6, rtol=1e-4)


class Pretended:
    """A group of several whose sum is left to the test."""

    world, rank, first = 2, 0, True

    def sum_gradients(self, parameters, figures):
        return figures


def gradients_as_one_of_many(model, work, stage):
    group: Any = Pretended()
    figures = backward(model, work, stage, group=group)
    return figures, [p.grad.clone() if p.grad is not None else torch.zeros_like(p) for p in model.parameters()]


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
    examples = stream._examples(0)
    silent = dataclasses.replace(examples[0], loss_mask=examples[0].loss_mask & False)
    work = split_step([silent, examples[1]], accumulate=2)
    assert len(work.parts) == 1
    assert work.targets == work.parts[0].n_targets
    assert work.rows == 2
    assert split_step(examples[:1], rank=1, world=2).parts == ()


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
