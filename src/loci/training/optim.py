"""Optimisers: AdamW as published, and Muon for the trunk's matrices with AdamW for the rest.

Muon replaces a matrix's momentum by the nearest (semi-)orthogonal matrix, found by five Newton–Schulz steps. They run
in fp32: the library's own runs in bf16, which has no hardware on most CPUs and takes seconds a step there. Matrices of
equal shape go through the steps together. Knows nothing of the training loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from loci.model.gpt import GPT
from loci.training.parallel import gathered, sharded_like
from loci.training.plan import DecayGroups, Stage

#: Coefficients of the quintic iteration: fast at zero, settling near one.
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
NEWTON_SCHULZ_STEPS = 5
WIDE = 2
"""From this many times as many columns as rows on, steps on the gram matrix alone are cheaper."""


def orthogonalise(matrices: Float[Tensor, "N m n"], steps: int = NEWTON_SCHULZ_STEPS) -> Float[Tensor, "N m n"]:
    """Pull every singular value towards 1, keeping the singular vectors; a stack of equal shapes at once."""
    x = matrices / (matrices.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    if tall := x.shape[-2] > x.shape[-1]:
        x = x.mT
    if x.shape[-1] >= WIDE * x.shape[-2]:
        x = torch.bmm(_factor(torch.bmm(x, x.mT), steps), x)
    else:
        for _ in range(steps):
            x = torch.bmm(_polynomial(torch.bmm(x, x.mT)), x)
    result: Tensor = x.mT if tall else x
    return result


def _polynomial(gram: Float[Tensor, "N m m"]) -> Float[Tensor, "N m m"]:
    """a + b·gram + c·gram², what one step multiplies its matrix with: no pass over the matrix but its two products."""
    a, b, c = NEWTON_SCHULZ
    polynomial = torch.baddbmm(gram, gram, gram, beta=b, alpha=c)
    polynomial.diagonal(dim1=-2, dim2=-1).add_(a)
    return polynomial


def _factor(gram: Float[Tensor, "N m m"], steps: int) -> Float[Tensor, "N m m"]:
    """All steps' polynomials multiplied: of a wide matrix only its small gram matrix goes through the steps.

    After a step with polynomial P the gram matrix is P·gram·P.
    """
    factor = polynomial = _polynomial(gram)
    for _ in range(steps - 1):
        gram = torch.bmm(torch.bmm(polynomial, gram), polynomial)
        polynomial = _polynomial(gram)
        factor = torch.bmm(polynomial, factor)
    return factor


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised; for matrices only. A sharded matrix is gathered for it: each process works on all."""

    def __init__(self, params: Iterable[Tensor], lr: float, momentum: float = 0.95, weight_decay: float = 0.0):
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """One step on every matrix, equal shapes together."""
        assert closure is None, "a closure is not supported"
        for group in self.param_groups:
            shapes: dict[tuple[int, int], list[tuple[Tensor, Tensor]]] = {}
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if "momentum" not in state:
                    state["momentum"] = torch.zeros_like(parameter)
                momentum = state["momentum"]
                momentum.lerp_(parameter.grad, 1 - group["momentum"])
                nesterov = gathered(parameter.grad.lerp(momentum, group["momentum"]))
                wide = (
                    nesterov if nesterov.shape[0] <= nesterov.shape[1] else nesterov.mT
                )  # tall and wide share a stack
                shapes.setdefault((wide.shape[0], wide.shape[1]), []).append((parameter, wide))
            for pairs in shapes.values():
                updates = orthogonalise(torch.stack([update for _, update in pairs]))
                for (parameter, _), update in zip(pairs, updates, strict=True):
                    rows, columns = parameter.shape
                    scale = max(1.0, rows / columns) ** 0.5  # tall matrices would otherwise move too little
                    if group["weight_decay"]:
                        parameter.mul_(1 - group["lr"] * group["weight_decay"])
                    moved = sharded_like(parameter, update if rows <= columns else update.mT)
                    parameter.add_(moved, alpha=-group["lr"] * scale)


def decayed(model: GPT, groups: DecayGroups = "matrices") -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """Parameters with decay and without.

    `matrices`: weights of matrix products decay; biases, norms, embeddings and positions do not. `all-but-biases` is
    what the course's code does: its list of exceptions names no norm, embedding or position.
    """
    if groups == "all-but-biases":
        named = list(model.named_parameters())
        return [p for name, p in named if "bias" not in name], [p for name, p in named if "bias" in name]
    linear = {id(module.weight) for module in model.modules() if isinstance(module, nn.Linear)}
    linear -= {id(model.tok_emb.weight)}  # a tied head is an embedding first
    with_decay = [p for p in model.parameters() if id(p) in linear]
    without = [p for p in model.parameters() if id(p) not in linear]
    return with_decay, without


def own_rates(model: GPT) -> dict[int, float]:
    """The share of the learning rate of those parameters whose classes ask for one, by identity."""
    return {
        id(module.get_parameter(name)): share
        for module in model.modules()
        for name, share in getattr(module, "rates", {}).items()
    }


def make_optimisers(model: GPT, stage: Stage) -> list[torch.optim.Optimizer]:
    """The optimisers of a stage; their full learning rates are kept in the groups as `full_lr`."""
    with_decay, without = decayed(model, stage.decay_groups)
    optimisers: list[torch.optim.Optimizer] = []
    shares = own_rates(model)
    if stage.optimiser == "muon":
        matrices = [p for p in decayed(model)[0] if p.ndim == 2 and p is not model.head.weight and id(p) not in shares]
        chosen = {id(p) for p in matrices}
        with_decay = [p for p in with_decay if id(p) not in chosen]
        optimisers.append(Muon(matrices, lr=stage.matrix_lr, weight_decay=stage.weight_decay))
    groups = [
        {"params": own, "weight_decay": decay, "lr": stage.lr * share}
        for share in sorted({1.0, *shares.values()}, reverse=True)
        for params, decay in ((with_decay, stage.weight_decay), (without, 0.0))
        if (own := [p for p in params if shares.get(id(p), 1.0) == share]) or share == 1.0
    ]
    optimisers.append(torch.optim.AdamW(groups, lr=stage.lr, betas=stage.betas, fused=True))
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["full_lr"] = group["lr"]
    return optimisers


def set_rate(optimisers: Sequence[torch.optim.Optimizer], factor: float) -> None:
    """Set every group to `factor` of its full learning rate."""
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["lr"] = group["full_lr"] * factor
