"""Loss shaping: terms that ask attention to be sharp, to be near, or to look at what is being copied.

Total loss = language-model loss + λ · term.

All are pure functions of a trace, so they come from the forward pass that the loss itself needs. At the minimum of the
loss over all texts no added term can improve the predictions; with finite text and imperfect optimisation it may.
Knows nothing of λ, of optimisation or of the loss it is added to.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from loci.errors import LociError
from loci.model.trunk import Trace


def focus(trace: Trace, counts: Bool[Tensor, "B T"] | None = None) -> Float[Tensor, ""]:
    """L_focus: mean entropy of α in nats, over layers, heads and attending positions; 0 when every head copies one
    position.

    Position t can spread over t positions, so an even spread costs ln t there. `counts` says which positions matter
    (all, if None): padding attends too, but to no purpose.
    """
    _require(trace)
    # A masked weight is exactly 0, where ln has no value and its slope no bound: the least positive number stands in.
    return _mean([-(weights * weights.clamp_min(_least(weights)).log()).sum(-1) for weights in trace], counts)


def near(trace: Trace, l_max: float, counts: Bool[Tensor, "B T"] | None = None) -> Float[Tensor, ""]:
    """L_near: mean of min(L_max, Σ_s α(t, s)(t − s)²) over all layers but the last, heads and attending positions t.

    The last layer stays free to fetch from afar. L_max ends the pull where a head looks so far away that it must have a
    reason: beyond it the slope is zero. A single layer has no term, and the loss is 0.
    """
    _require(trace)
    if l_max <= 0:
        raise LociError(f"L_max must be positive, it is {l_max}")
    if len(trace) == 1:
        return trace[0].new_zeros(())
    terms = []
    for weights in trace[:-1]:
        queries, keys = weights.shape[-2:]
        if queries != keys:
            raise LociError(
                f"distance is between characters, and a layer of this model attends from {queries} to {keys} positions",
                remedy="shape a model with a plain trunk",
            )
        positions = torch.arange(keys, device=weights.device, dtype=weights.dtype)
        squared = (positions[:, None] - positions[None, :]).square()
        terms.append((weights * squared).sum(-1).clamp_max(l_max))
    return _mean(terms, counts)


def pointer_layer(n_layer: int) -> int:
    """The layer that the pointer term is about: the last but one, so that the last can still use what it finds."""
    return max(0, n_layer - 2)


def pointer(weights: Float[Tensor, "B H T S"], copied_from: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    """L_pointer: mean of −ln α(t, s) of the first head, over the targets t that are copied from a known position s.

    Where the layer does not attend from characters to characters (a perceiver), or nothing is copied, there is no term,
    and the loss is 0.
    """
    rows, targets = (copied_from >= 0).nonzero(as_tuple=True)
    if not len(rows) or weights.shape[-2:] != (copied_from.shape[1], copied_from.shape[1]):
        return weights.new_zeros(())
    return -weights[rows, 0, targets, copied_from[rows, targets]].clamp_min(_least(weights)).log().mean()


def _require(trace: Trace) -> None:
    assert len(trace) > 0, "a trace has at least one layer"


def _least(weights: Tensor) -> float:
    return float(torch.finfo(weights.dtype).tiny)


def _mean(terms: list[Float[Tensor, "B H T"]], counts: Bool[Tensor, "B T"] | None) -> Float[Tensor, ""]:
    """Layers weigh the same; within one, every head at every position that counts."""
    if counts is None:
        return torch.stack([term.mean() for term in terms]).mean()
    if not bool(counts.any()):
        return terms[0].new_zeros(())
    return torch.stack([term.mean(dim=1)[counts].mean() for term in terms]).mean()
