from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from loci.model.pointwise import relu_squared
from loci.model.products import affine, affine_parts, perceptron

ACTIVATE: dict[str, Any] = {"gelu": F.gelu, "gelu-tanh": partial(F.gelu, approximate="tanh"), "relu2": relu_squared}


def layer(inside: int, outside: int) -> nn.Linear:
    return nn.Linear(inside, outside, dtype=torch.float64)


def gradients(out, *wanted):
    """Of a sum in which every element counts differently."""
    weights = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)
    return torch.autograd.grad((out * weights).sum(), wanted)


@given(st.lists(st.integers(0, 4), max_size=2), st.integers(1, 5), st.integers(1, 5))
def test_a_layer_is_what_it_is_and_its_gradients_too(before, inside, outside):
    own = layer(inside, outside)
    x = torch.randn(*before, 3, inside, dtype=torch.float64, requires_grad=True)
    written, plain = affine(own, x), own(x)
    torch.testing.assert_close(written, plain)
    wanted = (x, own.weight, own.bias)
    torch.testing.assert_close(gradients(written, *wanted), gradients(plain, *wanted))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.integers(1, 5))
def test_parts_of_a_layer_are_its_parts_and_their_gradients_too(widths, inside):
    own = layer(inside, sum(widths))
    x = torch.randn(2, 3, inside, dtype=torch.float64, requires_grad=True)
    written, plain = affine_parts(own, x, widths), own(x).split(widths, dim=-1)
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
        affine(up, torch.ones(1, 2, dtype=torch.float64))
    assert called == ["up", "down", "up"]


def test_a_gradient_given_from_outside_is_left_alone():
    up, down = layer(2, 8), layer(8, 2)
    x = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    given_gradient = torch.randn(3, 2, dtype=torch.float64)
    kept = given_gradient.clone()
    perceptron(up, "gelu", down, x).backward(given_gradient)
    assert torch.equal(given_gradient, kept)
