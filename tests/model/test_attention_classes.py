"""Each attention class against its formula written out head by head, and its trace against its output."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from loci.model import GPTConfig
from loci.model.attention import ATTENTIONS, Attention
from loci.model.attention.base import merge_heads, split_heads
from loci.model.attention.cross import CrossAttention
from loci.model.attention.synthesizer import factor_sizes
from loci.model.positions import POSITIONS
from loci.model.tap import Tap

D, H, T, BLOCK = 8, 2, 6, 9
CONFIG = GPTConfig(vocab_size=5, block_size=BLOCK, n_head=H, n_embd=D, attn_pdrop=0.0, resid_pdrop=0.0)


def make(name: str, positions: str = "learned", **changes: object) -> Any:
    """An attention, of whose own parameters the base class knows nothing."""
    config = CONFIG.replace(attention=name, positions=positions, **changes)
    layer = ATTENTIONS[name](config, POSITIONS[positions](config)).double()
    with torch.no_grad():
        for index, parameter in enumerate(layer.parameters()):
            parameter.normal_(0, 0.7, generator=torch.Generator().manual_seed(index))
    return layer


def some_x(rows: int = 2) -> Tensor:
    return torch.randn(rows, T, D, generator=torch.Generator().manual_seed(99), dtype=torch.float64)


def traced(layer: Attention, x: Tensor) -> tuple[Tensor, Tensor]:
    """Output and weights."""
    tap = Tap(["pattern"])
    return layer(x, tap=tap), tap.kept["pattern"]


def values_of(layer: Any, x: Tensor) -> Tensor:
    if hasattr(layer, "qkv"):
        return layer.qkv(x)[..., -D:]
    return layer.value(x) if hasattr(layer, "value") else x


def head_scores(layer: Any, x: Tensor) -> Callable[[int, int, int, int], Tensor]:
    """score(b, head, query position t, key position s), from the published formulas, one number at a time."""
    width = D // H
    part = slice

    def hidden(b: int, h: int, t: int) -> Tensor:
        return torch.relu(layer.w1(x))[b, t, h * width : (h + 1) * width]

    def dense(b: int, h: int, t: int, s: int) -> Tensor:
        return hidden(b, h, t) @ layer.w2[:, s] + layer.b2[s]

    def dot(weight: Tensor, bias: Tensor) -> Callable[[int, int, int, int], Tensor]:
        q, k = x @ weight[:D].T + bias[:D], x @ weight[D : 2 * D].T + bias[D : 2 * D]

        def score(b: int, h: int, t: int, s: int) -> Tensor:
            channels = part(h * width, (h + 1) * width)
            return q[b, t, channels] @ k[b, s, channels] / math.sqrt(width)

        return score

    name = type(layer).__name__
    if name == "DotAttention":
        return dot(layer.qkv.weight, layer.qkv.bias)
    if name == "SynthesizerAttention":
        return dense
    if name == "RandomSynthesizerAttention":
        return lambda b, h, t, s: layer.table[h, t, s]
    if name == "FactorisedSynthesizerAttention":
        n = layer.wb.shape[1]
        return lambda b, h, t, s: (
            (hidden(b, h, t) @ layer.wa[:, s // n] + layer.ba[s // n])
            * (hidden(b, h, t) @ layer.wb[:, s % n] + layer.bb[s % n])
        )
    if name == "MixedSynthesizerAttention":
        product, share = dot(layer.qk.weight, layer.qk.bias), layer.mix.softmax(0)
        return lambda b, h, t, s: share[0] * dense(b, h, t, s) + share[1] * product(b, h, t, s)
    if name == "FoldedAttention":
        return lambda b, h, t, s: x[b, t] @ layer.fold[h] @ x[b, s] + layer.pull[h] @ x[b, s]
    assert name == "NaiveAttention"
    return lambda b, h, t, s: x[b, t] @ x[b, s] / math.sqrt(D)


@torch.no_grad()
@pytest.mark.parametrize("name", list(ATTENTIONS))
def test_weights_are_the_softmax_of_the_written_out_scores(name: str) -> None:
    layer, x = make(name), some_x()
    _, weights = traced(layer, x)
    score = head_scores(layer, x)
    for b, h, t in ((0, 0, 0), (0, 1, 3), (1, 0, 5), (1, 1, 5)):
        expected = torch.stack([score(b, h, t, s) for s in range(t + 1)]).softmax(0)
        torch.testing.assert_close(weights[b, h, t, : t + 1], expected, rtol=0, atol=1e-12)
        assert (weights[b, h, t, t + 1 :] == 0).all()


@torch.no_grad()
@pytest.mark.parametrize("name", list(ATTENTIONS))
def test_the_trace_reproduces_the_output(name: str) -> None:
    layer, x = make(name), some_x()
    out, weights = traced(layer, x)
    if name == "naive":
        expected = weights[:, 0] @ x
    else:
        expected = layer.proj(merge_heads(weights @ split_heads(values_of(layer, x), H)))
    torch.testing.assert_close(out, expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(layer(x), expected, rtol=0, atol=1e-12)


def test_naive_heads_are_all_alike_and_have_nothing_to_learn() -> None:
    layer = make("naive")
    _, weights = traced(layer, some_x())
    assert torch.equal(weights[:, 0], weights[:, 1])
    assert list(layer.parameters()) == []


def test_a_normalised_character_wants_itself_most_in_naive_attention() -> None:
    x = torch.nn.functional.normalize(some_x(), dim=-1) * 10
    _, weights = traced(make("naive"), x)
    assert (weights.argmax(-1) == torch.arange(T)).all()


@pytest.mark.parametrize("temperature", [0.1, 2.0])
def test_a_fixed_temperature_scales_the_scores(temperature: float) -> None:
    cold, default = make("dot", temperature=temperature), make("dot")
    _, weights = traced(cold, some_x())
    _, before = traced(default, some_x())
    ratio = temperature * math.sqrt(D // H)
    row, reference = weights[0, 0, 5].log(), before[0, 0, 5].log()
    torch.testing.assert_close(row - row[0], ratio * (reference - reference[0]), rtol=0, atol=1e-10)


def test_a_trained_temperature_starts_at_the_fixed_one_and_is_one_a_head() -> None:
    layer, fixed = make("dot", learn_temperature=True), make("dot")
    layer.load_state_dict(fixed.state_dict(), strict=False)
    with torch.no_grad():
        layer.temperature.log_beta.fill_(math.log(layer.temperature.start))
    torch.testing.assert_close(layer(some_x()), fixed(some_x()), rtol=0, atol=1e-12)
    assert layer.temperature.log_beta.shape == (H,)
    layer(some_x()).sum().backward()
    assert (layer.temperature.log_beta.grad != 0).all()


def test_value_embeddings_are_mixed_into_the_values() -> None:
    x, extra = some_x(), some_x().flip(1)
    for name in ATTENTIONS:
        layer = make(name, value_embeddings=True)
        without, with_them = layer(x), layer(x, values=extra)
        assert not torch.allclose(without, with_them)
        with torch.no_grad():
            layer.value_mix.zero_()
        torch.testing.assert_close(layer(x, values=extra), without, rtol=0, atol=1e-12)


def test_the_random_synthesizer_does_not_look_at_the_text() -> None:
    layer = make("synthesizer-random")
    assert torch.equal(traced(layer, some_x())[1], traced(layer, some_x().flip(1))[1])


def test_the_dense_synthesizer_does_not_look_at_the_keys() -> None:
    layer, x = make("synthesizer"), some_x()
    other = x.clone()
    other[:, :5] = 0
    assert torch.equal(traced(layer, x)[1][:, :, 5], traced(layer, other)[1][:, :, 5])


@given(st.integers(1, 5000))
def test_factor_sizes_cover_the_places_and_waste_little(places: int) -> None:
    a, b = factor_sizes(places)
    assert a * b >= places
    assert a * (b - 1) < places
    assert abs(a - b) <= 2


def test_synthesizers_remember_values_only() -> None:
    from loci.model.cache import Clock

    for name, stored in (("synthesizer", {"v"}), ("synthesizer-random", {"v"}), ("synthesizer-factorised", {"v"})):
        layer = make(name)
        cache = layer.make_cache(Clock(2, T, torch.device("cpu")))
        layer(some_x(), cache=cache)
        assert set(cache.stores) == stored


@torch.no_grad()
def test_cross_attention_reads_what_the_mask_shows() -> None:
    layer = CrossAttention(CONFIG, POSITIONS["none"](CONFIG)).double()
    x, context = some_x()[:, :3], some_x().flip(0)
    mask = torch.tensor([[1, 0, 0, 1, 0, 0], [0, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1]]).bool()[None, None]

    def read(context: Tensor, tap: Tap | None = None) -> Tensor:
        return layer.read(x, torch.arange(3)[None], *layer.keys_values(context, torch.arange(T)[None]), mask, tap=tap)

    tap = Tap(["pattern"])
    out, weights = read(context, tap), tap.kept["pattern"]
    assert (weights[:, :, ~mask[0, 0]] == 0).all()
    torch.testing.assert_close(read(context), out, rtol=0, atol=1e-12)
    hidden = context.clone()
    hidden[:, 4:] += 1
    torch.testing.assert_close(read(hidden)[:, :2], out[:, :2], rtol=0, atol=1e-12)
    q = split_heads(layer.query(x), H)
    k, v = (split_heads(part, H) for part in layer.key_value(context).chunk(2, dim=-1))
    scores = (q @ k.transpose(-2, -1) / math.sqrt(D // H)).masked_fill(~mask, -torch.inf)
    torch.testing.assert_close(weights, scores.softmax(-1), rtol=0, atol=1e-12)
    torch.testing.assert_close(out, layer.proj(merge_heads(weights @ v)), rtol=0, atol=1e-12)
