"""Products of two matrices, by whichever of PyTorch's two libraries is faster on this processor.

PyTorch's own fp32 products go to MKL, which uses AVX-512 on Intel's processors alone and stays with AVX2 on others.
oneDNN, which PyTorch brings as well, uses what the processor has (`benchmarks/matmul.py` compares them). The choice
goes by the processor and not by a measurement, so that a training repeats bit by bit on one machine.
Knows nothing of layers or gradients.
"""

from __future__ import annotations

import contextlib
import platform
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor


def _onednn_is_faster() -> bool:
    """Whether the processor has AVX-512 that MKL leaves alone."""
    has: bool = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")  # type: ignore[no-untyped-call]
    return has and torch.backends.cpu.get_cpu_capability().startswith("AVX512") and not _made_by_intel()


def _made_by_intel() -> bool:
    with contextlib.suppress(OSError):
        return "GenuineIntel" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return "AMD" not in platform.processor()


BY_ONEDNN = _onednn_is_faster()


def matmul(
    a: Float[Tensor, "N K"],
    b: Float[Tensor, "K M"],
    *,
    plus: Float[Tensor, "N M"] | None = None,
    bias: Float[Tensor, "M"] | None = None,
) -> Float[Tensor, "N M"]:
    """`a @ b` without a gradient; added to `plus`, which may be written over, or with a bias added to each row."""
    assert plus is None or bias is None
    # Only what oneDNN's layer can make: fp32, on the processor, of more than nothing.
    if not (BY_ONEDNN and a.dtype == b.dtype == torch.float32 and a.device.type == "cpu" and a.numel() > 0):
        if plus is not None:
            return torch.addmm(plus, a, b, out=plus)
        # The bias comes after the product: copied into the result before it, as `addmm` does, it costs more.
        return torch.mm(a, b) if bias is None else torch.mm(a, b).add_(bias)
    if not b.is_contiguous() and not b.t().is_contiguous():
        b = b.contiguous()  # of a part of a matrix, oneDNN makes the product a thousand times slower
    op = torch.ops.mkldnn._linear_pointwise
    out: Tensor = op(a, b.t(), bias, "none", [], "") if plus is None else op.binary(a, plus, b.t(), None, "add")
    return out
