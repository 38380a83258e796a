"""Steps without products whose gradients PyTorch's own operations take several passes over memory for.

At the widths of these models a third of a step is pointwise work, which is bound by memory: each gradient here takes
the fewest passes. Values are those of the plain formulas. Knows nothing of layers.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable


def relu_squared(x: Float[Tensor, "*N"]) -> Float[Tensor, "*N"]:
    """max(0, x)²."""
    out: Tensor = _ReLUSquared.apply(x)  # type: ignore[no-untyped-call]
    return out


def unit_rms(x: Float[Tensor, "*N D"]) -> Float[Tensor, "*N D"]:
    """Each vector at unit root mean square."""
    if x.dtype not in (torch.float32, torch.float64):  # PyTorch's own takes care of narrow numbers
        return F.rms_norm(x, x.shape[-1:])
    out: Tensor = _UnitRMS.apply(x)  # type: ignore[no-untyped-call]
    return out


def picked(x: Float[Tensor, "*N C"], wanted: Bool[Tensor, "*N"]) -> Float[Tensor, "M C"]:
    """`x[wanted]`."""
    out: Tensor = _Picked.apply(x, wanted)  # type: ignore[no-untyped-call]
    return out


class _ReLUSquared(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        positive = x.clamp_min(0)
        ctx.save_for_backward(positive)
        return positive * positive

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (positive,) = ctx.saved_tensors
        # 0 + 2 · positive · gradient in one pass.
        return torch.addcmul(gradient.new_zeros(()).expand_as(gradient), positive, gradient, value=2)


class _UnitRMS(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        scale = norm.square_().div_(x.shape[-1]).add_(torch.finfo(x.dtype).eps).rsqrt_()
        out: Tensor = x * scale
        ctx.save_for_backward(out, scale)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        out, scale = ctx.saved_tensors
        along = (gradient * out).mean(-1, keepdim=True)  # the part along the vector changes its length, which is fixed
        moved: Tensor = torch.addcmul(gradient, out, along, value=-1).mul_(scale)
        return moved


class _Picked(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, wanted: Tensor) -> Tensor:
        rows = wanted.flatten().nonzero().squeeze(1)
        ctx.save_for_backward(rows)
        ctx.shape = x.shape
        return x.reshape(-1, x.shape[-1]).index_select(0, rows)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (rows,) = ctx.saved_tensors
        spread = gradient.new_zeros(ctx.shape)
        # No row is picked twice, so rows are written; PyTorch, which cannot know, adds them one by one.
        spread.view(-1, ctx.shape[-1])[rows] = gradient
        return spread, None
