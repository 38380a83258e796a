"""Steps of a layer with their gradients written out: the same values, in the order that is fastest to compute.

What PyTorch does by itself loses a little in several places: the product for a weight's gradient runs faster with the
wider side last, sums over all positions run faster as a product with ones, between the two layers of a perceptron the
gradient can be changed in place (together some 2 % of a step). And at the widths of
these models a third of a step is pointwise work, which is bound by memory: each gradient here takes the fewest passes.
Knows nothing of attention or blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from loci.model.matmul import matmul

Activation = str  # a name that the config allows
#: PyTorch's word for each form of GELU.
GELU = {"gelu": "none", "gelu-tanh": "tanh"}


def linear(
    x: Float[Tensor, "*N I"], weight: Float[Tensor, "O I"], bias: Float[Tensor, "O"] | None = None
) -> Float[Tensor, "*N O"]:
    """`F.linear(x, weight, bias)`."""
    if not _worth_it(x):
        return F.linear(x, weight, bias)
    out: Tensor = _Linear.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    return out


class Linear(nn.Linear):
    """`nn.Linear`, trained faster on a processor."""

    def forward(self, x: Float[Tensor, "*N I"]) -> Float[Tensor, "*N O"]:
        """xWᵀ + b."""
        return linear(x, self.weight, self.bias)


def linear_parts(layer: nn.Linear, x: Float[Tensor, "*N I"], widths: Sequence[int]) -> tuple[Tensor, ...]:
    """`layer(x)` split into parts of these widths."""
    if not _worth_it(x):
        plain: tuple[Tensor, ...] = layer(x).split_with_sizes(widths, dim=-1)
        return plain
    parts: tuple[Tensor, ...] = _LinearParts.apply(x, layer.weight, layer.bias, tuple(widths))  # type: ignore[no-untyped-call]
    return parts


def perceptron(up: nn.Linear, activation: Activation, down: nn.Linear, x: Float[Tensor, "*N I"]) -> Tensor:
    """`down(activation(up(x)))`."""
    if not _worth_it(x):
        inner = up(x)
        active = F.relu(inner).square() if activation == "relu2" else F.gelu(inner, approximate=GELU[activation])
        plain: Tensor = down(active)
        return plain
    parts = (up.weight, up.bias, down.weight, down.bias, activation)
    out: Tensor = _Perceptron.apply(x, *parts)  # type: ignore[no-untyped-call]
    return out


def unit_rms(x: Float[Tensor, "*N D"]) -> Float[Tensor, "*N D"]:
    """Each vector at unit root mean square."""
    if x.dtype not in (torch.float32, torch.float64):  # PyTorch's own takes care of narrow numbers
        return F.rms_norm(x, x.shape[-1:])
    out: Tensor = _UnitRMS.apply(x)  # type: ignore[no-untyped-call]
    return out


def dropped_mix(scores: Float[Tensor, "*M T S"], v: Float[Tensor, "*N S D"], share: float) -> Float[Tensor, "*N T D"]:
    """`dropped(scores.softmax(-1), share) @ v`; scores may be the same for all texts."""
    if not (_worth_it(scores) and scores.dtype == v.dtype and scores.shape[:-2] == v.shape[:-2]):
        return dropped(scores.softmax(-1), share) @ v
    out: Tensor = _DroppedMix.apply(scores, v, share)  # type: ignore[no-untyped-call]
    return out


def picked(x: Float[Tensor, "*N C"], wanted: Bool[Tensor, "*N"]) -> Float[Tensor, "M C"]:
    """`x[wanted]`."""
    out: Tensor = _Picked.apply(x, wanted)  # type: ignore[no-untyped-call]
    return out


def dropped(x: Float[Tensor, "*N"], share: float) -> Float[Tensor, "*N"]:
    """`F.dropout(x, share)` in training; the share in steps of 1/65,536.

    PyTorch draws number by number, in one thread. Here one draw serves four numbers.
    """
    if not share:
        return x
    if x.device.type != "cpu":
        return F.dropout(x, share)
    out: Tensor = _Dropped.apply(x, share)  # type: ignore[no-untyped-call]
    return out


class Dropout(nn.Dropout):
    """`nn.Dropout`, faster on a processor."""

    def forward(self, x: Tensor) -> Tensor:
        """In training some numbers are zero and the others larger."""
        return dropped(x, self.p) if self.training else x


def _worth_it(x: Tensor) -> bool:
    """Only a processor's own products with gradients are written out here; the rest is PyTorch's."""
    return torch.is_grad_enabled() and x.device.type == "cpu" and not torch.is_autocast_enabled("cpu")


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        rows = x.reshape(-1, x.shape[-1])
        ctx.save_for_backward(rows, weight)
        ctx.biased = bias is not None
        return matmul(rows, weight.t(), bias=bias).view(*x.shape[:-1], len(weight))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        rows, weight = ctx.saved_tensors
        flat = gradient.reshape(-1, gradient.shape[-1])
        by_input = matmul(flat, weight).view(*gradient.shape[:-1], weight.shape[1])
        return by_input, _weight_gradient(flat, rows), _summed(flat) if ctx.biased else None


class _LinearParts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, widths: tuple[int, ...]) -> tuple[Tensor, ...]:
        rows = x.reshape(-1, x.shape[-1])
        ctx.save_for_backward(rows, weight)
        ctx.widths = widths
        out = matmul(rows, weight.t(), bias=bias).view(*x.shape[:-1], len(weight))
        return out.split_with_sizes(widths, dim=-1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        # Put together first, as a split's own gradient is, they would be copied for nothing.
        rows, weight = ctx.saved_tensors
        flat = [gradient.reshape(-1, gradient.shape[-1]) for gradient in gradients]
        by_weight, by_bias = torch.empty_like(weight), weight.new_empty(len(weight))
        by_input = None
        ones = rows.new_ones(len(rows))
        targets = (by_weight, weight, by_bias)
        parts = zip(*(target.split_with_sizes(ctx.widths) for target in targets), strict=True)
        for gradient, (own_weight, own, own_bias) in zip(flat, parts, strict=True):
            own_weight.copy_(matmul(gradient.t(), rows))
            torch.mv(gradient.t(), ones, out=own_bias)
            by_input = matmul(gradient, own, plus=by_input)
        assert by_input is not None
        return by_input.view(*gradients[0].shape[:-1], weight.shape[1]), by_weight, by_bias, None


class _Perceptron(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, up: Tensor, up_bias: Tensor, down: Tensor, down_bias: Tensor, activation: Activation
    ) -> Tensor:
        rows = x.reshape(-1, x.shape[-1])
        inner = matmul(rows, up.t(), bias=up_bias)
        # GELU's gradient needs what went in; that of the squared ReLU only what was positive.
        relu = activation == "relu2"
        active = inner.clamp_min_(0).square() if relu else F.gelu(inner, approximate=GELU[activation])
        ctx.save_for_backward(rows, up, inner, active, down)
        ctx.activation = activation
        return matmul(active, down.t(), bias=down_bias).view(*x.shape[:-1], len(down))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        rows, up, inner, active, down = ctx.saved_tensors
        flat = gradient.reshape(-1, gradient.shape[-1])
        within = matmul(flat, down)  # nobody else holds it, so it can be changed in place
        if ctx.activation != "relu2":
            form = GELU[ctx.activation]
            torch.ops.aten.gelu_backward.grad_input(within, inner, approximate=form, grad_input=within)
        else:  # 0 + 2 · positive · gradient in one pass
            torch.addcmul(within.new_zeros(()).expand_as(within), inner, within, value=2, out=within)
        return (
            matmul(within, up).view(*gradient.shape[:-1], up.shape[1]),
            _weight_gradient(within, rows),
            _summed(within),
            _weight_gradient(flat, active),
            _summed(flat),
            None,
        )


def _weight_gradient(gradient: Tensor, rows: Tensor) -> Tensor:
    """Σ gradientᵀ · row: the product with the wider of the two last."""
    if gradient.shape[1] > rows.shape[1]:
        return matmul(rows.t(), gradient).t()
    return matmul(gradient.t(), rows)


def _summed(rows: Tensor) -> Tensor:
    """The sum of all rows."""
    return torch.mv(rows.t(), rows.new_ones(len(rows)))


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


DRAWN = 1 << 16
"""Values that a draw of 16 bits can have."""


class _Dropped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, share: float) -> Tensor:
        kept, ctx.scale = _draw(x, share)
        ctx.save_for_backward(kept)
        return _masked(x, kept).mul_(ctx.scale)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (kept,) = ctx.saved_tensors
        return _masked(gradient, kept).mul_(ctx.scale), None


class _DroppedMix(torch.autograd.Function):
    """What is kept is scaled after the sum, where there are fewer numbers, and the softmax's gradient needs no mask."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, v: Tensor, share: float) -> Tensor:
        weights = scores.softmax(-1)
        kept, ctx.scale = _draw(weights, share)
        left = _masked(weights, kept)
        ctx.save_for_backward(weights, left, v)
        return (left @ v).mul_(ctx.scale)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        weights, left, v = ctx.saved_tensors
        scaled = gradient * ctx.scale
        by_scores = (scaled @ v.transpose(-2, -1)).mul_(left)
        by_scores.addcmul_(weights, by_scores.sum(-1, keepdim=True), value=-1)
        return by_scores, left.transpose(-2, -1) @ scaled, None


def _draw(like: Tensor, share: float) -> tuple[Tensor, float]:
    """Which numbers are kept, and what they are multiplied by."""
    least = min(DRAWN - 1, round(share * DRAWN))  # at least one value of a draw keeps
    draws = torch.empty(-(-like.numel() // 4), dtype=torch.int64).random_(-(1 << 63), None)
    kept = (draws.view(torch.int16)[: like.numel()] >= least - DRAWN // 2).view(like.shape)
    return kept, DRAWN / (DRAWN - least)


def _masked(x: Tensor, kept: Tensor) -> Tensor:
    """`x * kept`. Bytes turn into numbers twice as fast as truth values do."""
    return kept.view(torch.int8).to(x.dtype).mul_(x)
