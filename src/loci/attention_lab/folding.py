"""Folding: query and key matrices merged into one, what it costs, and how much of it a trained head uses.

W_Q and W_K are I×J (head width by model width). Pure mathematics on matrices; taking them out of a model is
`qk_spectra`'s business. Knows nothing of recall: measuring a truncated model is the caller's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from loci.attention_lab.distribution import Array
from loci.errors import LociError


def fold(query: Float[Array, "i j"], key: Float[Array, "i2 j2"]) -> Float[Array, "j j"]:
    """W̃ = W_QᵀW_K/√I, for which (1/√I)(W_Q x₁)·(W_K x₂) = x₁ᵀ W̃ x₂: the same scores from one matrix, the
    temperature inside.

    (W_Q x₁)·(W_K x₂) = x₁ᵀ W_Qᵀ W_K x₂ by definition of the transpose. Rank W̃ ≤ min(I, J): folding an existing head
    gains nothing, training W̃ freely lifts the cap.
    """
    if query.shape != key.shape:
        raise LociError(f"query and key matrices must be of one I×J shape, they are {query.shape} and {key.shape}")
    return query.T @ key / math.sqrt(query.shape[0])


@dataclass(frozen=True)
class FoldingCost:
    """Query–key parameters of all heads of one layer."""

    model_width: int
    head_width: int
    heads: int

    def __post_init__(self) -> None:
        if min(self.model_width, self.head_width, self.heads) < 1:
            raise LociError("widths and the number of heads are at least 1")

    @property
    def factored(self) -> int:
        """2IJ per head."""
        return 2 * self.head_width * self.model_width * self.heads

    @property
    def folded(self) -> int:
        """J² per head."""
        return self.model_width**2 * self.heads

    @property
    def rank_cap(self) -> int:
        """The largest rank of W̃ that the factored form can have."""
        return min(self.head_width, self.model_width)


def break_even(model_width: int) -> float:
    """J² = 2IJ exactly at I = J/2. Below it the two factors are cheaper, above it the folded matrix."""
    if model_width < 1:
        raise LociError(f"the model width is at least 1, it is {model_width}")
    return model_width / 2


def effective_rank(spectrum: Float[Array, "k"]) -> float:
    """e^H of the singular values' shares: k for k equal ones, 1 for a single one. A rank that does not depend on a
    threshold.
    """
    total = float(spectrum.sum())
    if total <= 0:
        return 0.0
    shares = spectrum[spectrum > 0] / total
    return float(np.exp(-(shares * np.log(shares)).sum()))
