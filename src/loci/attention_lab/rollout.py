"""Attention rollout: which characters reach a position through all layers, if attention were all there is.

Knows nothing of models: a trace comes in.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from loci.errors import LociError
from loci.model.trunk import Trace


def rollout(trace: Trace, residual: float = 0.5) -> Float[Tensor, "L B T T"]:
    """After each layer, the share of every character in every position: R_l = ((1−r)·mean over heads of α_l + r·I)
    R_{l−1}.

    A block adds what attention fetched to what was there; r is the share that stays. Each factor has rows that sum to
    1, so their product has too: a position's row is a distribution over the characters it is made of. Values,
    projections and perceptrons are left out, so this is a bound on where information *can* have come from in
    proportion to weights, not a measure of what was used.
    """
    if not 0 <= residual <= 1:
        raise LociError(f"the share that stays is between 0 and 1, it is {residual}")
    if not trace or any(weights.shape[-1] != weights.shape[-2] for weights in trace):
        raise LociError("rollout needs attention from characters to characters in every layer")
    width = trace[0].shape[-1]
    flow = torch.eye(width, dtype=trace[0].dtype, device=trace[0].device).expand(trace[0].shape[0], width, width)
    flows = []
    for weights in trace:
        mixed = (1 - residual) * weights.mean(dim=1)
        mixed = mixed + residual * torch.eye(width, dtype=weights.dtype, device=weights.device)
        flow = mixed @ flow
        flows.append(flow)
    return torch.stack(flows)
