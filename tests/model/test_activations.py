"""Reading and changing what happens inside; that every point of the axes does it is in the contracts."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from loci.errors import LociError
from loci.model import GPT, GPTConfig
from loci.model.activations import run_with_activations
from loci.model.tap import Tap, inside

CONFIG = GPTConfig(vocab_size=7, block_size=8, n_layer=2, n_head=2, n_embd=8)
IDS = torch.randint(0, 7, (2, 6), generator=torch.Generator().manual_seed(0))


@pytest.fixture
def model() -> GPT:
    return GPT(CONFIG, generator=torch.Generator().manual_seed(0))


def test_the_model_is_run_as_in_evaluation_and_left_as_it_was(model: GPT) -> None:
    first, _ = run_with_activations(model, IDS)
    second, _ = run_with_activations(model, IDS)
    assert torch.equal(first, second)  # dropout is 0.1 in training
    assert model.training
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_patch_is_a_tensor_that_broadcasts_or_a_function(model: GPT) -> None:
    name = "blocks.0.mlp.out"
    zeros, seen = run_with_activations(model, IDS, [name], patch={name: torch.zeros(8)})
    same, _ = run_with_activations(model, IDS, patch={name: torch.zeros_like})
    assert torch.equal(zeros, same)
    assert not seen[name].any()


def test_heads_are_ablated_after_the_patch(model: GPT) -> None:
    name = "blocks.1.attn.head_out"
    _, seen = run_with_activations(model, IDS, patch={name: torch.ones(1)}, ablate=[(1, 0)])
    assert not seen[name][:, 0].any()
    assert (seen[name][:, 1] == 1).all()


def test_gradients_reach_the_activations_when_asked_for(model: GPT) -> None:
    logits, seen = run_with_activations(model, IDS, gradients=True)
    (slope,) = torch.autograd.grad(logits.sum(), seen["blocks.0.resid_post"])
    assert slope.any()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"names": ["blocks.0.resid_pst"]}, r"no activation 'blocks.0.resid_pst' \(did you mean 'blocks.0.resid_post'"),
        ({"patch": {"blocks.2.resid_post": torch.zeros(8)}}, "no activation 'blocks.2.resid_post'"),
        ({"patch": {"blocks.*.resid_post": torch.zeros(8)}}, r"no activation 'blocks.\*.resid_post'"),
        ({"patch": {"embed": torch.zeros(3)}}, r"the patch of embed has the shape \(3,\), which does not fit"),
        ({"ablate": [(0, 2)]}, r"no head \(0, 2\) to ablate \(blocks are 0 to 1, heads 0 to 1\)"),
    ],
)
def test_what_is_not_there_is_refused(model: GPT, options: dict[str, Any], said: str) -> None:
    with pytest.raises(LociError, match=said):
        run_with_activations(model, IDS, **options)


def test_a_sparse_tap_keeps_what_is_wanted_and_leaves_the_other_parts_alone(model: GPT) -> None:
    _, every = run_with_activations(model.eval(), IDS)
    tap = Tap(["blocks.1.attn.pattern"], sparse=True)
    logits = model(IDS, tap=tap).logits
    assert list(tap.kept) == ["blocks.1.attn.pattern"]
    torch.testing.assert_close(tap.kept["blocks.1.attn.pattern"], every["blocks.1.attn.pattern"])
    torch.testing.assert_close(logits, model(IDS).logits)
    assert [inside(tap, part) is None for part in ("blocks.0", "blocks.1", "blocks.10")] == [True, False, True]
    assert inside(Tap(["*.pattern"], sparse=True), "blocks.0") is not None
    assert inside(Tap(["blocks.*.pattern"], sparse=True), "final") is None
