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
        """2IJ a head."""
        return 2 * self.head_width * self.model_width * self.heads

    @property
    def folded(self) -> int:
        """J² a head."""
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


def truncate(matrix: Float[Array, "a b"], rank: int) -> Float[Array, "a b"]:
    """The nearest matrix of that rank: the largest `rank` singular directions.

    Its distance is σ_{rank+1} in the spectral norm and √(Σ_{k>rank} σ_k²) in the Frobenius norm, and no matrix of
    that rank is nearer in either.
    """
    if not 0 <= rank <= min(matrix.shape):
        raise LociError(f"a {matrix.shape[0]}×{matrix.shape[1]} matrix has rank 0 to {min(matrix.shape)}, not {rank}")
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    nearest: Array = (left[:, :rank] * sizes[:rank]) @ right[:rank]
    return nearest


def effective_rank(spectrum: Float[Array, "k"]) -> float:
    """e^H of the singular values' shares: k for k equal ones, 1 for a single one. A rank that does not hang on a
    threshold.
    """
    total = float(spectrum.sum())
    if total <= 0:
        return 0.0
    shares = spectrum[spectrum > 0] / total
    return float(np.exp(-(shares * np.log(shares)).sum()))


def energy_rank(spectrum: Float[Array, "k"], share: float = 0.9) -> int:
    """How many of the largest singular values hold that share of Σσ²."""
    if not 0 < share <= 1:
        raise LociError(f"the share must be in (0, 1], it is {share}")
    energy = np.sort(spectrum)[::-1] ** 2
    if energy.sum() <= 0:
        return 0
    # A hair's breadth below the share, so that rounding does not ask for one direction more than there is.
    return int(np.searchsorted(np.cumsum(energy) / energy.sum(), share - 1e-12) + 1)


def truncation_error(query: Float[Array, "i j"], key: Float[Array, "i j"], rank: int) -> float:
    """Share of W̃'s Frobenius norm that a truncation to `rank` loses: √(Σ_{k>rank}σ_k² / Σσ_k²)."""
    spectrum = np.linalg.svd(fold(query, key), compute_uv=False)
    total = float((spectrum**2).sum())
    return math.sqrt(float((spectrum[rank:] ** 2).sum()) / total) if total > 0 else 0.0
