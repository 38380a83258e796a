from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from loci.errors import LociError
from loci.model import GPT, GPTConfig
from loci.model.folding import fold, unfold

BASE = GPTConfig(vocab_size=9, block_size=12, n_layer=2, n_head=2, n_embd=12, bottleneck_dim=5)
IDS = torch.randint(0, 9, (3, 11), generator=torch.Generator().manual_seed(0))


def trained(config: GPTConfig, seed: int = 0) -> GPT:
    model = GPT(config).double().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.5, generator=generator)
    return model


@settings(max_examples=20)
@given(
    heads=st.sampled_from([1, 2, 3, 4]),
    seed=st.integers(0, 1000),
    positions=st.sampled_from(["learned", "none"]),
    options=st.sampled_from(
        [
            {},
            {"temperature": 0.7},
            {"learn_temperature": True},
            {"qk_width": 2},
            {"value_embeddings": True, "norm": "rms", "tied_head": True},
            {"trunk": "perceiver", "n_layer": 3},
            {"trunk": "perceiver-course", "n_layer": 4},
        ]
    ),
)
def test_folding_there_and_back_keeps_the_logits(
    heads: int, seed: int, positions: str, options: dict[str, Any]
) -> None:
    model = trained(BASE.replace(n_head=heads, positions=positions, **options), seed)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    folded = fold(model)
    again = unfold(folded, model.config.query_width)
    logits = model(IDS).logits
    torch.testing.assert_close(folded(IDS).logits, logits, rtol=0, atol=1e-9)
    torch.testing.assert_close(again(IDS).logits, logits, rtol=0, atol=1e-9)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert folded.config.attention == "folded"
    assert again.config.attention == "dot"


def test_single_precision_models_fold_to_single_precision() -> None:
    model = trained(BASE).float()
    folded = fold(model)
    assert folded.tok_emb.weight.dtype == torch.float32
    torch.testing.assert_close(folded(IDS).logits, model(IDS).logits, rtol=0, atol=1e-3)


def test_a_full_folded_model_needs_its_full_rank_and_loses_by_less_with_each_more() -> None:
    model: Any = trained(BASE.replace(attention="folded"))
    exact = model(IDS).logits
    errors = []
    for rank in (1, 4, 8, 11, 12):
        unfolded = unfold(model, rank)
        assert unfolded.config.query_width == rank
        weights = torch.cat((model.trunk.layers[0].attn.fold, model.trunk.layers[0].attn.pull[:, None]), dim=1)
        trunk: Any = unfolded.trunk
        attn = trunk.layers[0].attn
        q = torch.cat((attn.qkv.weight[: 2 * rank], attn.qkv.bias[: 2 * rank, None]), dim=1).view(2, rank, 13)
        k = attn.qkv.weight[2 * rank : 4 * rank].view(2, rank, 12)
        error = (q.transpose(1, 2) @ k / rank**0.5 - weights).norm()
        tail = torch.linalg.svdvals(weights)[:, rank:].square().sum().sqrt()
        torch.testing.assert_close(error, tail, rtol=1e-6, atol=1e-9)  # Eckart–Young: no rank-r matrix is nearer
        errors.append(float(error.detach()))
    assert errors == sorted(errors, reverse=True)
    torch.testing.assert_close(unfold(model, 12)(IDS).logits, exact, rtol=0, atol=1e-9)


def test_parameters_are_equal_where_the_head_width_is_half_the_model() -> None:
    """J² a head against 2IJ: equal at I = J/2; the query bias becomes u, the key bias vanishes."""
    model = GPT(BASE)
    assert fold(model).n_parameters() == model.n_parameters()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (BASE.replace(positions="rope"), "rope positions rotate them"),
        (BASE.replace(qk_norm=True), "qk_norm"),
        (BASE.replace(attention="naive"), "only dot attention can be folded, this model has naive"),
        (BASE.replace(trunk="perceiver", temperature=0.5), "cross-attention"),
    ],
)
def test_what_cannot_be_folded_is_said(config: GPTConfig, message: str) -> None:
    with pytest.raises(LociError, match=message):
        fold(GPT(config))


def test_what_cannot_be_unfolded_is_said() -> None:
    folded = GPT(BASE.replace(attention="folded"))
    for rank in (0, 13):
        with pytest.raises(LociError, match=f"{rank} was asked for"):
            unfold(folded, rank)
    with pytest.raises(LociError, match="only folded attention can be unfolded"):
        unfold(GPT(BASE), 6)
    with pytest.raises(LociError, match="unfold with rank 6"):
        unfold(GPT(BASE.replace(attention="folded", trunk="perceiver")), 3)
