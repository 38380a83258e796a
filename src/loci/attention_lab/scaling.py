"""Temperature and folding: why scores are divided by √I, and query and key matrices merged into one.

Temperature: the variance of a product of I independent components of mean 0 and variance 1, and what it does to
attention; I is the width of a head. Folding: what it costs, and how much of its rank a trained head uses; W_Q and W_K
are I×J (head width by model width). Taking them out of a model is the business of `qk_spectra`, training that of
`short_runs`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from loci.attention_lab.distribution import Array, entropy, perplexity, softmax
from loci.errors import LociError


def product_variance(width: int) -> float:
    """Var(h·e) = I for h, e in ℝ^I with independent components of mean 0 and variance 1.

    Each h_i e_i has mean 0 and variance E[h_i²]E[e_i²] = 1; different i are uncorrelated, so the variances add up.
    """
    if width < 1:
        raise LociError(f"a head has at least one component, its width is {width}")
    return float(width)


def temperature(width: int) -> float:
    """β = 1/√I: the factor that brings h·e back to variance 1, since Var(β h·e) = β²I."""
    return 1 / math.sqrt(product_variance(width))


def sample_scores(rng: np.random.Generator, width: int, n: int, draws: int) -> Float[Array, "draws n"]:
    """h·e_1, …, h·e_n for `draws` random queries h, each with its own keys."""
    queries = rng.standard_normal((draws, width))
    keys = rng.standard_normal((draws, n, width))
    scores: Array = np.einsum("sd,snd->sn", queries, keys)
    return scores


def frozen_width(n: int) -> float:
    """The width above which unscaled attention over n keys at random freezes onto a few: I* = 2 ln n.

    Scores are close to normal with variance I. Among n of them the best is near √(2I ln n), while the sum of e^s has
    a typical value of n·e^{I/2} only as long as the scores s ≈ I that carry it do occur, I < √(2I ln n). Beyond I*
    the few largest terms are the whole sum. At n = 128 that is I* ≈ 9.7: a head of 32 without a temperature starts
    out frozen.
    """
    if n < 2:
        raise LociError(f"freezing is about at least two keys, n is {n}")
    return 2 * math.log(n)


def typical_entropy(variance: float, n: int) -> float:
    """Entropy of softmax over n normal scores of that variance: ln n − variance/2 below 2 ln n, about 0 above.

    ln Z ≈ ln n + variance/2 and E_α[s] ≈ variance (the weights e^s move the normal's centre by its variance), and
    H = ln Z − E_α[s]. Exact in the limit of many keys; at n of a hundred it is good to a few percent for variance 1.
    """
    if variance < 0:
        raise LociError(f"a variance is at least 0, it is {variance}")
    return max(0.0, math.log(n) - variance / 2)


@dataclass(frozen=True)
class EntropyAtStart:
    """Mean entropy of attention over random queries and keys, with its standard error over the draws."""

    width: int
    scaled: float
    scaled_error: float
    unscaled: float
    unscaled_error: float


def entropy_at_start(rng: np.random.Generator, widths: Sequence[int], n: int, draws: int = 400) -> list[EntropyAtStart]:
    """Measured entropy with β = 1/√I and with β = 1, for each width. Scaled it stays near ln n − ½ at every width."""
    rows = []
    for width in widths:
        scores = sample_scores(rng, width, n, draws)
        with_it, without = entropy(softmax(scores, temperature(width))), entropy(softmax(scores))
        errors = (float(sample.std() / math.sqrt(draws)) for sample in (with_it, without))
        rows.append(EntropyAtStart(width, float(with_it.mean()), next(errors), float(without.mean()), next(errors)))
    return rows


def fold(query: Float[Array, "i j"], key: Float[Array, "i2 j2"]) -> Float[Array, "j j"]:
    """W̃ = W_QᵀW_K/√I, for which (1/√I)(W_Q x₁)·(W_K x₂) = x₁ᵀ W̃ x₂: the same scores from one matrix.

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
    """e^H of the singular values' shares: k for k equal ones, 1 for a single one. A rank without a threshold."""
    total = float(spectrum.sum())
    return float(perplexity(spectrum / total)) if total > 0 else 0.0
