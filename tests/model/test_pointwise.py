import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from loci.model.pointwise import picked, relu_squared, unit_rms

SIZES = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 9))


def with_gradient(function, x, generator):
    x = x.clone().requires_grad_()
    out = function(x)
    weights = torch.randn(out.shape, generator=generator, dtype=out.dtype)
    return out, *torch.autograd.grad((out * weights).sum(), x)


@given(SIZES, st.integers(0, 10**6))
def test_values_and_gradients_are_those_of_the_plain_formulas(sizes, seed):
    x = torch.randn(sizes, generator=torch.Generator().manual_seed(seed))
    plain = {relu_squared: lambda x: F.relu(x).square(), unit_rms: lambda x: F.rms_norm(x, x.shape[-1:])}
    for fast, slow in plain.items():
        found, expected = (with_gradient(f, x, torch.Generator().manual_seed(1)) for f in (fast, slow))
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


def test_gradients_hold_against_differences():
    x = torch.randn(3, 2, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    for function in (relu_squared, unit_rms):
        assert torch.autograd.gradcheck(function, (x,))


def test_narrow_numbers_and_zeros():
    assert unit_rms(torch.ones(2, 4, dtype=torch.bfloat16)).dtype == torch.bfloat16
    zero = torch.zeros(1, 4, requires_grad=True)
    out = unit_rms(zero)
    out.sum().backward()
    assert out.abs().sum() == 0
    assert torch.isfinite(zero.grad).all()
