"""β in softmax(β q·k): fixed, or trained for each head.

With components of unit variance q·k has variance I, so that β = 1/√I keeps the scores at unit variance: the
default.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from loci.model.config import GPTConfig
from loci.model.costing import Cost, keep
from loci.model.shapes import BHTD


class Temperature(nn.Module):
    """The inverse temperature of one layer's heads."""

    def __init__(self, config: GPTConfig, *, width: int, heads: int):
        super().__init__()
        self.start = 1 / math.sqrt(width) if config.temperature is None else config.temperature
        # Trained as a logarithm: β stays positive and a step changes it by a share of itself.
        self.log_beta = nn.Parameter(torch.full((heads,), math.log(self.start))) if config.learn_temperature else None

    @staticmethod
    def cost(config: GPTConfig, length: int, *, width: int, heads: int) -> Cost:
        """Nothing when fixed; when trained, one number per head and the queries kept a second time."""
        return Cost(parameters=heads) + keep(length * heads * width) if config.learn_temperature else Cost()

    def forward(self, q: BHTD) -> tuple[BHTD, float]:
        """Queries and the scale that is still to be applied: a fixed β costs nothing in the fused kernel."""
        if self.log_beta is None:
            return q, self.start
        return q * self.log_beta.exp()[:, None, None], 1.0

    def betas(self) -> Float[Tensor, "h"]:
        """β of each head, or the one that they share."""
        return torch.tensor([self.start], dtype=torch.float64) if self.log_beta is None else self.log_beta.exp()
