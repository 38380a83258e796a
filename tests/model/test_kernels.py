from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from loci.model.kernels import Dropout, Linear, dropped, dropped_mix, linear_parts, perceptron, picked, unit_rms

ACTIVATE: dict[str, Any] = {
    "gelu": F.gelu,
    "gelu-tanh": partial(F.gelu, approximate="tanh"),
    "relu2": lambda x: F.relu(x).square(),
}
SIZES = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 9))


def layer(inside: int, outside: int) -> nn.Linear:
    return nn.Linear(inside, outside, dtype=torch.float64)


def gradients(out, *wanted):
    """Of a sum in which every element counts differently."""
    weights = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)
    return torch.autograd.grad((out * weights).sum(), wanted)


@given(st.lists(st.integers(0, 4), max_size=2), st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_a_layer_is_what_it_is_and_its_gradients_too(before, inside, outside, biased):
    own = Linear(inside, outside, bias=biased, dtype=torch.float64)
    x = torch.randn(*before, 3, inside, dtype=torch.float64, requires_grad=True)
    written, plain = own(x), F.linear(x, own.weight, own.bias)
    torch.testing.assert_close(written, plain)
    wanted = (x, *own.parameters())
    torch.testing.assert_close(gradients(written, *wanted), gradients(plain, *wanted))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.integers(1, 5))
def test_parts_of_a_layer_are_its_parts_and_their_gradients_too(widths, inside):
    own = layer(inside, sum(widths))
    x = torch.randn(2, 3, inside, dtype=torch.float64, requires_grad=True)
    written, plain = linear_parts(own, x, widths), own(x).split(widths, dim=-1)
    torch.testing.assert_close(written, plain)
    wanted = (x, own.weight, own.bias)
    mixed = [torch.cat([part * (index + 1) for index, part in enumerate(parts)], -1) for parts in (written, plain)]
    torch.testing.assert_close(*(gradients(whole, *wanted) for whole in mixed))


@pytest.mark.parametrize("activation", list(ACTIVATE))
@given(inside=st.integers(1, 4), wide=st.integers(1, 9))
def test_a_perceptron_is_what_it_is_and_its_gradients_too(activation, inside, wide):
    up, down = layer(inside, wide), layer(wide, inside)
    x = torch.randn(2, 3, inside, dtype=torch.float64, requires_grad=True)
    written, plain = perceptron(up, activation, down, x), down(ACTIVATE[activation](up(x)))
    torch.testing.assert_close(written, plain)
    wanted = (x, up.weight, up.bias, down.weight, down.bias)
    torch.testing.assert_close(gradients(written, *wanted), gradients(plain, *wanted))


@pytest.mark.parametrize("activation", list(ACTIVATE))
def test_without_gradients_the_layers_themselves_are_called(activation):
    up, down, called = layer(2, 8), layer(8, 2), []
    up.register_forward_hook(lambda *_: called.append("up"))
    down.register_forward_hook(lambda *_: called.append("down"))
    with torch.no_grad():
        perceptron(up, activation, down, torch.ones(1, 2, dtype=torch.float64))
        linear_parts(up, torch.ones(1, 2, dtype=torch.float64), (3, 5))
    assert called == ["up", "down", "up"]


def test_a_gradient_given_from_outside_is_left_alone():
    up, down = layer(2, 8), layer(8, 2)
    x = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    given_gradient = torch.randn(3, 2, dtype=torch.float64)
    kept = given_gradient.clone()
    perceptron(up, "gelu", down, x).backward(given_gradient)
    assert torch.equal(given_gradient, kept)


def with_gradient(function, x, generator):
    x = x.clone().requires_grad_()
    out = function(x)
    weights = torch.randn(out.shape, generator=generator, dtype=out.dtype)
    return out, *torch.autograd.grad((out * weights).sum(), x)


@given(SIZES, st.integers(0, 10**6))
def test_unit_vectors_and_their_gradients_are_those_of_the_plain_formula(sizes, seed):
    x = torch.randn(sizes, generator=torch.Generator().manual_seed(seed))
    functions = (unit_rms, lambda x: F.rms_norm(x, x.shape[-1:]))
    found, expected = (with_gradient(f, x, torch.Generator().manual_seed(1)) for f in functions)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


@given(SIZES, st.integers(0, 10**6))
def test_picked_rows_are_those_of_the_mask_and_so_is_their_gradient(sizes, seed):
    generator = torch.Generator().manual_seed(seed)
    x, wanted = torch.randn(sizes, generator=generator), torch.rand(sizes[:2], generator=generator) < 0.6
    found, expected = (
        with_gradient(f, x, torch.Generator().manual_seed(1))
        for f in (lambda x: picked(x, wanted), lambda x: x[wanted])
    )
    torch.testing.assert_close(found, expected, atol=0, rtol=0)


def test_the_gradient_of_unit_vectors_holds_against_differences():
    x = torch.randn(3, 2, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    assert torch.autograd.gradcheck(unit_rms, (x,))


def test_unit_vectors_of_narrow_numbers_and_zeros():
    assert unit_rms(torch.ones(2, 4, dtype=torch.bfloat16)).dtype == torch.bfloat16
    zero = torch.zeros(1, 4, requires_grad=True)
    out = unit_rms(zero)
    out.sum().backward()
    assert out.abs().sum() == 0
    assert torch.isfinite(zero.grad).all()


@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.25, 0.9]), st.lists(st.integers(0, 5), max_size=3))
def test_dropout_keeps_numbers_scaled_and_sends_gradients_where_it_kept_them(seed, share, shape):
    x = torch.rand(shape, dtype=torch.float64).add(0.5).requires_grad_()
    torch.manual_seed(seed)
    out = dropped(x, share)
    torch.manual_seed(seed)
    assert torch.equal(out, dropped(x, share))  # what is drawn hangs on the generator alone: a run resumes
    scale = torch.where(out == 0, 0.0, 1 / (1 - share)).double()
    torch.testing.assert_close(out, x * scale, rtol=1e-3, atol=0)
    (gradient,) = torch.autograd.grad(out.sum(), x)
    torch.testing.assert_close(gradient, scale, rtol=1e-3, atol=0)


@given(
    st.integers(0, 2**16),
    st.sampled_from([0.1, 0.5]),
    st.tuples(*[st.integers(1, 5)] * 5),
    st.sampled_from([0.0, -torch.inf]),
)
def test_a_mix_with_dropout_is_that_of_the_dropped_weights_and_so_are_its_gradients(seed, share, sizes, hidden):
    batch, heads, length, keys, width = sizes
    torch.manual_seed(seed)
    scores = torch.randn(batch, heads, length, keys, dtype=torch.float64)
    scores[..., 1:] += hidden  # at least one key stays visible
    scores.requires_grad_()
    v = torch.randn(batch, heads, keys, width, dtype=torch.float64, requires_grad=True)
    found = []
    for way in (lambda: dropped_mix(scores, v, share), lambda: dropped(scores.softmax(-1), share) @ v):
        torch.manual_seed(seed)
        found.append((out := way(), *gradients(out, scores, v)))
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("scores_type", [torch.float32, torch.bfloat16])
def test_a_mix_with_dropout_of_narrow_numbers_has_gradients(scores_type):
    scores = torch.randn(2, 1, 4, 4, dtype=scores_type, requires_grad=True)
    v = torch.randn(2, 1, 4, 3, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = dropped_mix(scores, v, 0.1)
    out.float().sum().backward()
    assert scores.grad is not None
    assert torch.isfinite(v.grad).all()


def test_dropout_of_nearly_everything_is_finite():
    assert torch.isfinite(dropped(torch.ones(100), 0.9999999)).all()


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_dropout_drops_its_share_everywhere_alike_and_nothing_outside_training(share):
    torch.manual_seed(0)
    x = torch.ones(1000, 400)
    out = dropped(x, share)
    lost = (out == 0).double()
    assert float(lost.mean()) == pytest.approx(share, abs=0.003)  # five standard deviations at most
    assert float(lost.mean(0).std()) == pytest.approx((share * (1 - share) / 1000) ** 0.5, rel=0.2)
    assert float((lost[:, ::4] * lost[:, 1::4]).mean()) == pytest.approx(share**2, abs=0.005)  # of one draw, apart
    assert float(out.mean()) == pytest.approx(1, abs=0.01)
    layer = Dropout(share)
    assert not torch.equal(layer(x), x)
    assert layer.eval()(x) is x
