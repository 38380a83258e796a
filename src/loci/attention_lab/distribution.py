"""One query's attention as a categorical distribution: weights, output, entropy, and when it is sharp.

Scores are β·(k_i·q) for keys k_i and a query q; β ≥ 0 is how strongly the scores count. Knows nothing of models,
heads or where keys come from.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from loci.errors import LociError

Array = NDArray[np.float64]


def require_beta(beta: float) -> float:
    """β as given, or a `LociError` when it is negative or no number: the order of the scores must not be turned
    round.
    """
    if not math.isfinite(beta) or beta < 0:
        raise LociError(f"β must be a number of at least 0, it is {beta}", remedy="turn the query round instead")
    return beta


def require_share(epsilon: float) -> float:
    """ε as given, or a `LociError` unless 0 < ε < 1: a softmax over finite scores never reaches 0 or 1."""
    if not 0 < epsilon < 1:
        raise LociError(f"ε must lie strictly between 0 and 1, it is {epsilon}")
    return epsilon


def softmax(scores: Float[Array, "*batch n"], beta: float = 1.0) -> Float[Array, "*batch n"]:
    """α_i = e^{β s_i} / Σ_j e^{β s_j}: non-negative, summing to 1, so a categorical distribution over the n values.

    Every exponential of a finite number is positive, hence each α_i > 0 exactly (in floating point it may round to 0).
    Adding one number to all scores changes nothing, so the largest is taken off first and nothing overflows.
    """
    scaled = require_beta(beta) * scores
    powers: Array = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights: Array = powers / powers.sum(axis=-1, keepdims=True)
    return weights


def attend(
    query: Float[Array, "d"], keys: Float[Array, "n d"], values: Float[Array, "n v"]
) -> tuple[Float[Array, "n"], Float[Array, "v"]]:
    """The weights α and the output c = Σ α_i v_i of one query. c lies in the convex hull of the values."""
    weights = softmax(keys @ query)
    return weights, weights @ values


def entropy(weights: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
    """H(α) = −Σ α_i ln α_i in nats, with 0·ln 0 = 0: from 0 (one value copied) to ln n (all n averaged)."""
    logs = np.log(np.where(weights > 0, weights, 1.0))
    nats: Array = np.asarray(-(weights * logs).sum(axis=-1))
    return nats


def perplexity(weights: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
    """e^{H(α)}: how many values attention spreads over, as if evenly; from 1 to n."""
    spread: Array = np.asarray(np.exp(entropy(weights)))
    return spread


def top_weight_bound(margin: float, n: int) -> float:
    """The least that the largest weight can be when its score leads every other by `margin`: 1 / (1 +
    (n−1)e^{−margin}).

    α_top = 1 / (1 + Σ_{i≠top} e^{−(s_top − s_i)}) and each of the n−1 terms is at most e^{−margin}. Equality holds
    when all the others are level, so the bound cannot be improved.
    """
    if n < 1:
        raise LociError(f"attention needs at least one value, n is {n}")
    return 1 / (1 + (n - 1) * math.exp(-margin))


def sharp_margin(n: int, epsilon: float) -> float:
    """The lead that makes attention over n values sharp, α_top ≥ 1−ε, whatever the others do: ln((n−1)(1−ε)/ε).

    It is `top_weight_bound` solved for the margin. It grows with ln n: ten times the values cost a lead of 2.3 more.
    Never below 0: a lead is what the largest score has.
    """
    require_share(epsilon)
    if n < 1:
        raise LociError(f"attention needs at least one value, n is {n}")
    if n == 1:
        return 0.0
    return max(0.0, math.log(n - 1) + math.log1p(-epsilon) - math.log(epsilon))
