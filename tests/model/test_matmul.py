from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from loci.model import matmul as module
from loci.model.kernels import Linear, linear_parts, perceptron

SIZES = st.integers(0, 9)
needs_onednn = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="PyTorch without oneDNN")


def by_onednn(a, b, **options):
    """The product by oneDNN, whatever the processor."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BY_ONEDNN", True)
        return module.matmul(a, b, **options)


@needs_onednn
@given(SIZES, SIZES, SIZES, st.booleans(), st.booleans(), st.integers(0, 3), st.sampled_from([None, "plus", "bias"]))
def test_a_product_is_the_product_however_its_matrices_lie(n, k, m, turned, other_turned, apart, added):
    a = torch.randn(k, n).t() if turned else torch.randn(n, k)
    b = torch.randn(m, k + apart).t()[:k] if other_turned else torch.randn(k, m + apart)[:, :m]
    product = a.double() @ b.double()
    more = {} if added is None else {added: torch.randn(*((n, m) if added == "plus" else (m,)))}
    expected = product + sum(tensor.double() for tensor in more.values())
    for way in (by_onednn, module.matmul):
        torch.testing.assert_close(
            way(a, b, **{name: tensor.clone() for name, tensor in more.items()}), expected.float()
        )


@needs_onednn
@pytest.mark.parametrize("name", ["linear", "linear_parts", "perceptron"])
def test_layers_have_the_same_values_and_gradients_by_either_library(monkeypatch, name):
    up, down = Linear(24, 72), nn.Linear(72, 24)
    works: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "linear": up,
        "linear_parts": lambda x: torch.cat(
            [(i + 1) * part for i, part in enumerate(linear_parts(up, x, (24, 40, 8)))], -1
        ),
        "perceptron": partial(perceptron, up, "gelu", down),
    }
    x = torch.randn(2, 5, 24, requires_grad=True)
    weights = [x, up.weight, up.bias, *([down.weight, down.bias] if name == "perceptron" else [])]
    found = []
    for faster in (True, False):
        monkeypatch.setattr(module, "BY_ONEDNN", faster)
        out = works[name](x)
        found.append((out, *torch.autograd.grad(out.square().sum(), weights)))
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)


@needs_onednn
def test_other_numbers_than_fp32_are_left_to_pytorch():
    a, b = torch.randn(3, 4, dtype=torch.float64), torch.randn(4, 2, dtype=torch.float64)
    assert torch.equal(by_onednn(a, b), a @ b)


@pytest.mark.parametrize(
    ("maker", "capability", "faster"),
    [("AuthenticAMD", "AVX512", True), ("AuthenticAMD", "AVX2", False), ("GenuineIntel", "AVX512", False)],
)
@needs_onednn
def test_onednn_is_taken_where_mkl_leaves_avx512_alone(monkeypatch, maker, capability, faster):
    monkeypatch.setattr(Path, "read_text", lambda self, encoding: f"vendor_id\t: {maker}\n")
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    assert module._onednn_is_faster() is faster
