import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from loci.model import GPT, GPTConfig
from loci.model.attention import DotAttention
from loci.training.optim import (
    NEWTON_SCHULZ,
    NEWTON_SCHULZ_STEPS,
    Muon,
    decayed,
    make_optimisers,
    orthogonalise,
    set_rate,
)
from loci.training.plan import MixtureComponent, Stage


def tiny(**changes):
    return GPT(GPTConfig(vocab_size=9, block_size=8, n_layer=2, n_head=2, n_embd=8).replace(**changes))


def stage(**changes):
    return Stage(**{"name": "s", "mixture": (MixtureComponent("language-model"),), "steps": 1, "lr": 0.1, **changes})


@given(st.integers(1, 4), st.integers(2, 24), st.integers(2, 24), st.integers(0, 10**6))
@settings(max_examples=40)
def test_orthogonalising_brings_the_singular_values_near_one_and_keeps_the_vectors(n, rows, columns, seed):
    matrices = torch.randn(n, rows, columns, generator=torch.Generator().manual_seed(seed))
    result = orthogonalise(matrices)
    u, s, v = torch.linalg.svd(matrices, full_matrices=False)
    values = torch.diagonal(u.mT @ result @ v.mT, dim1=-2, dim2=-1)
    well_conditioned = s > 0.1 * s[:, :1]  # five steps do not reach the smallest ones
    assert ((values[well_conditioned] > 0.3) & (values[well_conditioned] < 1.4)).all()


@given(st.integers(1, 3), st.integers(2, 24), st.floats(1, 1e3), st.integers(0, 10**6))
@settings(max_examples=25)
def test_a_wide_matrix_goes_the_same_way_by_its_gram_matrix(n, rows, condition, seed):
    generator = torch.Generator().manual_seed(seed)
    u, _, v = torch.linalg.svd(torch.randn(n, rows, 4 * rows, generator=generator), full_matrices=False)
    matrices = u * torch.logspace(0, -math.log10(condition), rows) @ v
    x = matrices / matrices.norm(dim=(-2, -1), keepdim=True)
    for _ in range(NEWTON_SCHULZ_STEPS):
        a, b, c = NEWTON_SCHULZ
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    torch.testing.assert_close(orthogonalise(matrices), x, atol=2e-3, rtol=0)


def test_decay_follows_the_published_split():
    model = tiny()
    names = {id(p): name for name, p in model.named_parameters()}
    with_decay = {names[id(p)] for p in decayed(model)[0]}
    assert "head.weight" in with_decay
    assert "trunk.blocks.0.attn.qkv.weight" in with_decay
    assert not any("ln" in n or "bias" in n or "emb" in n for n in with_decay)
    assert sum(map(len, decayed(model))) == len(names)


def test_muon_takes_the_trunks_matrices_and_adamw_the_rest_each_once():
    model = tiny()
    muon, adam = make_optimisers(model, stage(optimiser="muon", matrix_lr=0.02))
    assert isinstance(muon, Muon)
    chosen = [p for o in (muon, adam) for g in o.param_groups for p in g["params"]]
    assert len(chosen) == len({id(p) for p in chosen}) == len(list(model.parameters()))
    assert all(p.ndim == 2 and p is not model.head.weight for p in muon.param_groups[0]["params"])
    set_rate([muon, adam], 0.5)
    assert {g["lr"] for g in muon.param_groups} == {0.01}
    assert {g["lr"] for g in adam.param_groups} == {0.05}


@pytest.mark.parametrize("share", [0.02, 1.0])
def test_a_class_sets_the_rate_of_its_own_parameters_a_layers_weights_too(monkeypatch, share):
    monkeypatch.setattr(DotAttention, "rates", {"qkv.weight": share})
    model = tiny()
    optimisers = make_optimisers(model, stage(optimiser="muon", lr=0.1))
    own = {id(p) for name, p in model.named_parameters() if name.endswith("qkv.weight")}
    rates = [g["lr"] for g in optimisers[-1].param_groups for p in g["params"] if id(p) in own]
    assert rates == pytest.approx([0.1 * share] * model.config.n_layer)


@pytest.mark.parametrize("groups", ["matrices", "all-but-biases"])
def test_what_starts_smaller_than_a_layer_moves_by_smaller_steps(groups):
    model = tiny(attention="folded")
    optimisers = make_optimisers(model, stage(optimiser="muon", lr=0.1, decay_groups=groups))
    set_rate(optimisers, 0.5)
    folds = {id(p) for name, p in model.named_parameters() if name.endswith(".fold")}
    rates = [(id(p), group["lr"]) for group in optimisers[-1].param_groups for p in group["params"]]
    assert [rate for p, rate in rates if p in folds] == pytest.approx([0.05 * 0.02] * model.config.n_layer)
    assert {rate for p, rate in rates if p not in folds} == {0.05}
    chosen = [p for o in optimisers for g in o.param_groups for p in g["params"]]
    assert len(chosen) == len({id(p) for p in chosen}) == len(list(model.parameters()))


def test_a_tied_head_is_not_decayed():
    model = tiny(tied_head=True)
    assert id(model.tok_emb.weight) not in {id(p) for p in decayed(model)[0]}


@pytest.mark.parametrize("optimiser", ["adamw", "muon"])
def test_both_optimisers_learn(optimiser):
    model = tiny(embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0)
    optimisers = make_optimisers(model, stage(optimiser=optimiser, lr=0.01))
    ids = torch.tensor([[1, 2, 3, 4, 5, 6, 7, 8]])
    losses = []
    for _ in range(30):
        loss = torch.nn.functional.cross_entropy(model(ids[:, :-1]).logits[0], ids[0, 1:])
        model.zero_grad()
        loss.backward()
        for each in optimisers:
            each.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
