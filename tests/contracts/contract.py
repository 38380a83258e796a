"""The contract of a whole model, as functions that fail: run over every point of the three axes, and over toys."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from loci.errors import LociError
from loci.model import GPT, GPTConfig
from loci.model.activations import IN_A_BLOCK, activation_names, run_with_activations
from loci.model.attention import ATTENTIONS
from loci.model.positions import POSITIONS
from loci.model.trunk import TRUNKS

VOCAB = 11
LENGTH = 12
# Odd sizes on purpose: 4 latents do not divide the block of 13, and its pieces (4) are longer than the window (3).
TINY = GPTConfig(
    vocab_size=VOCAB,
    block_size=LENGTH + 1,
    n_layer=3,
    n_head=2,
    n_embd=8,
    bottleneck_dim=4,
    local_window=3,
    embd_pdrop=0.0,
    attn_pdrop=0.0,
    resid_pdrop=0.0,
)
CLOSE = 1e-10
SMALL = 1e-12


def valid_points() -> list[tuple[str, str, str]]:
    """Every combination that is not refused; what is refused, and why, has tests of its own."""
    points = []
    for attention, positions, trunk in itertools.product(ATTENTIONS, POSITIONS, TRUNKS):
        try:
            TINY.replace(attention=attention, positions=positions, trunk=trunk)
        except LociError:
            continue
        points.append((attention, positions, trunk))
    return points


def build(config: GPTConfig, seed: int = 0) -> GPT:
    """A double-precision model whose every weight is random and large, so that nothing is hidden by a small start."""
    generator = torch.Generator().manual_seed(seed)
    model = GPT(config, generator=generator).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0.0, 0.5, generator=generator)
    return model


def draw_ids(rows: int = 3, width: int = LENGTH, seed: int = 1) -> Tensor:
    return torch.randint(0, VOCAB, (rows, width), generator=torch.Generator().manual_seed(seed))


def one_change_each(ids: Tensor) -> Tensor:
    """(T, T) from one row: row t differs from the original at place t only."""
    width = ids.shape[-1]
    return (ids.expand(width, width) + torch.eye(width, dtype=torch.long)) % VOCAB


@torch.no_grad()
def shapes(model: GPT) -> None:
    for rows, width in ((1, 1), (2, 5), (3, LENGTH)):
        logits, trace = model(draw_ids(rows, width))
        assert logits.shape == (rows, width, VOCAB)
        assert logits.isfinite().all()
        assert trace is None
    hidden, _ = model.hidden(draw_ids(2, 5))
    assert hidden.shape == (2, 5, model.config.n_embd)
    assert model.logits(hidden[0, 2:4]).shape == (2, VOCAB)


@torch.no_grad()
def prefixes_agree(model: GPT) -> None:
    """What follows does not matter, also to the model that never sees it."""
    ids = draw_ids()
    full = model(ids).logits
    for width in (1, 2, 3, 5, LENGTH - 1):
        torch.testing.assert_close(model(ids[:, :width]).logits, full[:, :width], rtol=0, atol=CLOSE)


@torch.no_grad()
def causal(model: GPT) -> None:
    """A changed character changes its own logits and none before."""
    ids = draw_ids(1)
    difference = (model(one_change_each(ids)).logits - model(ids).logits).abs().amax(-1)  # (changed, position)
    assert difference.tril(-1).max() <= CLOSE
    assert difference.diagonal().min() > CLOSE


@torch.no_grad()
def receptive_field(model: GPT) -> None:
    """Every earlier character reaches the last logit; a trunk that declares itself blind must be exactly that blind."""
    ids = draw_ids(1)
    difference = (model(one_change_each(ids)).logits - model(ids).logits)[:, -1].abs().amax(-1)
    reached = set((difference > CLOSE).nonzero()[:, 0].tolist())
    blind_after = type(model.trunk).blind_after(model.config)
    seen = LENGTH if blind_after is None else blind_after
    assert reached == {*range(min(seen, LENGTH)), LENGTH - 1}


@torch.no_grad()
def cached(model: GPT) -> None:
    """Read in portions of one and of many, with a cache, a text gives the same logits."""
    assert model.trunk.cacheable
    ids = draw_ids()
    full = model(ids).logits
    cuts = (0, 1, 2, 3, 4, 5, 8, 9, LENGTH)
    cache = model.make_cache(len(ids), LENGTH)
    parts = [model(ids[:, a:b], cache=cache).logits for a, b in itertools.pairwise(cuts)]
    torch.testing.assert_close(torch.cat(parts, dim=1), full, rtol=0, atol=CLOSE)


@torch.no_grad()
def cached_ragged(model: GPT) -> None:
    """Rows of different lengths, read right-padded, then one or two characters at a time; rows swap and repeat."""
    ids = draw_ids()
    full = model(ids).logits
    lengths = torch.tensor([2, 5, 7])
    cache = model.make_cache(len(ids), LENGTH)
    padded = ids[:, :7].clone()
    padded[torch.arange(7) >= lengths[:, None]] = 0
    model(padded, cache=cache)
    cache.clock.set_lengths(lengths)
    rows = torch.arange(len(ids))
    for step, width in enumerate((1, 2, 1, 1)):
        places = lengths[:, None] + torch.arange(width)
        logits = model(ids[rows[:, None], places], cache=cache).logits
        torch.testing.assert_close(logits, full[rows[:, None], places], rtol=0, atol=CLOSE)
        lengths = lengths + width
        if step == 1:
            order = torch.tensor([2, 0, 1, 1])
            cache.select(order)
            rows, lengths = rows[order], lengths[order]


@torch.no_grad()
def cached_shared_prefix(model: GPT) -> None:
    """One row is read once and then stands for many."""
    ids = draw_ids(3)
    ids[:, :4] = ids[:1, :4]
    cache = model.make_cache(1, LENGTH)
    model(ids[:1, :4], cache=cache)
    cache.select(torch.zeros(3, dtype=torch.long))
    rest = model(ids[:, 4:], cache=cache).logits
    torch.testing.assert_close(rest, model(ids).logits[:, 4:], rtol=0, atol=CLOSE)


@torch.no_grad()
def traced(model: GPT) -> None:
    """Asking for weights changes nothing, and each row of them is a distribution over what the row may see."""
    ids = draw_ids()
    plain = model(ids).logits
    logits, trace = model(ids, trace=True)
    torch.testing.assert_close(logits, plain, rtol=0, atol=CLOSE)
    assert trace is not None
    assert len(trace) == model.config.n_layer
    for weights in trace:
        assert weights.shape[:2] == (len(ids), model.config.n_head)
        assert (weights >= 0).all()
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]), rtol=0, atol=CLOSE)
        if model.config.trunk == "plain":
            assert (weights.triu(1) == 0).all()
    if model.trunk.taps_with_cache:
        cache = model.make_cache(len(ids), LENGTH)
        model(ids[:, :7], cache=cache)
        _, late = model(ids[:, 7:], cache=cache, trace=True)
        assert late is not None
        for weights, part in zip(trace, late, strict=True):
            torch.testing.assert_close(part, weights[:, :, 7:], rtol=0, atol=CLOSE)
    else:
        with pytest.raises(LociError, match="whole sequences"):
            model(ids[:, :1], cache=model.make_cache(len(ids), LENGTH), trace=True)


def named(model: GPT) -> None:
    """Every name is there, in the shape that is documented, and reading them changes nothing."""
    ids, config = draw_ids(), model.config
    logits, seen = run_with_activations(model, ids)
    torch.testing.assert_close(logits, model(ids).logits.detach(), rtol=0, atol=CLOSE)
    assert sorted(seen) == sorted(activation_names(model))
    assert not any(value.requires_grad for value in seen.values())
    stream = (len(ids), LENGTH, config.n_embd)
    assert seen["embed"].shape == seen["final.resid"].shape == seen["final.norm"].shape == stream
    for block in range(config.n_layer):
        own = {name: seen[f"blocks.{block}.{name}"] for name in IN_A_BLOCK}
        read = own["resid_pre"].shape
        assert {own[name].shape for name in ("attn.out", "resid_mid", "mlp.out", "resid_post")} == {read}
        assert own["attn.head_out"].shape == (len(ids), config.n_head, read[1], config.head_width)
        assert own["attn.pattern"].shape[:3] == (len(ids), config.n_head, read[1])
        torch.testing.assert_close(own["resid_mid"], own["resid_pre"] + own["attn.out"], rtol=0, atol=CLOSE)
        torch.testing.assert_close(own["resid_post"], own["resid_mid"] + own["mlp.out"], rtol=0, atol=CLOSE)
    assert torch.equal(seen["final.resid"], seen[f"blocks.{config.n_layer - 1}.resid_post"])
    torch.testing.assert_close(model.logits(seen["final.norm"]), logits, rtol=0, atol=CLOSE)
    _, some = run_with_activations(model, ids, ["blocks.*.attn.pattern"])
    assert torch.equal(some["blocks.0.attn.pattern"], seen["blocks.0.attn.pattern"])
    assert len(some) == config.n_layer


def patched(model: GPT) -> None:
    """A name patched with its own value changes nothing, with another the logits; a text's last state is its answer."""
    ids, other = draw_ids(), draw_ids(seed=7)
    logits, seen = run_with_activations(model, ids)
    own, _ = run_with_activations(model, ids, [], patch=seen)
    torch.testing.assert_close(own, logits, rtol=0, atol=CLOSE)
    target, theirs = run_with_activations(model, other)
    last = f"blocks.{model.config.n_layer - 1}.resid_post"
    moved, kept = run_with_activations(model, ids, [last], patch={last: theirs[last]})
    torch.testing.assert_close(moved, target, rtol=0, atol=CLOSE)
    assert torch.equal(kept[last], theirs[last])
    for name in seen:
        changed, _ = run_with_activations(model, ids, [], patch={name: lambda value: value + value.roll(1, dims=-1)})
        assert (changed - logits).abs().max() > CLOSE, name


def ablated(model: GPT) -> None:
    """Every head's contribution can be taken away, alone and with others; what is left is the rest."""
    ids = draw_ids()
    logits = model(ids).logits.detach()
    heads = [(block, head) for block in range(model.config.n_layer) for head in range(model.config.n_head)]
    for block, head in heads:
        without, seen = run_with_activations(model, ids, ["*.head_out"], ablate=[(block, head)])
        assert (without - logits).abs().max() > CLOSE, (block, head)
        assert not seen[f"blocks.{block}.attn.head_out"][:, head].any()
        assert seen[f"blocks.{block}.attn.head_out"][:, 1 - head].all()
    _, seen = run_with_activations(model, ids, ["*.head_out"], ablate=heads)
    assert not any(value.any() for value in seen.values())


@torch.no_grad()
def checkpoint(model: GPT) -> None:
    """The config as plain data and the state dict are the whole model."""
    other = build(GPTConfig.from_dict(model.config.to_dict()), seed=5)
    ids = draw_ids()
    assert not torch.equal(other(ids).logits, model(ids).logits)
    other.load_state_dict({name: tensor.clone() for name, tensor in model.state_dict().items()}, strict=True)
    assert torch.equal(other(ids).logits, model(ids).logits)


def gradients(model: GPT) -> None:
    """Every parameter can learn."""
    model.zero_grad()
    logits = model(draw_ids()).logits
    (
        logits * torch.randn(logits.shape, generator=torch.Generator().manual_seed(2), dtype=logits.dtype)
    ).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, f"no gradient reaches {name}"
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > SMALL, f"the gradient of {name} is {parameter.grad.abs().max()}"
    model.zero_grad()


def reproducible(model: GPT) -> None:
    """The same generator gives the same start, whatever the global state."""
    first, second = (GPT(model.config, generator=torch.Generator().manual_seed(3)) for _ in range(2))
    for (name, a), b in zip(first.state_dict().items(), second.state_dict().values(), strict=True):
        assert torch.equal(a, b), name


def costed(model: GPT) -> None:
    """The formula counts the parameters that were built."""
    from loci.model.cost import model_cost

    assert model_cost(model.config).total.parameters == model.n_parameters()


CHECKS: tuple[Callable[[GPT], None], ...] = (
    shapes,
    prefixes_agree,
    causal,
    receptive_field,
    cached,
    cached_ragged,
    cached_shared_prefix,
    traced,
    named,
    patched,
    ablated,
    checkpoint,
    gradients,
    reproducible,
    costed,
)
