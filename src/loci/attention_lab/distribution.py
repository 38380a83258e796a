"""One query's attention as a categorical distribution, and what one head can be made to do by choosing its query.

Weights, output, entropy, and when attention is sharp; copy a value, average two, take a part out of a sum. Scores are
β·(k_i·q) for keys k_i and a query q; β ≥ 0 is how strongly the scores count. Each function states its claim and derives
it; where a formula needs orthonormal keys they are checked. Knows nothing of models, noise (`perturbation`) or matrices
shared by several positions (`design`).
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from scipy import special

from loci.errors import LociError

Array = NDArray[np.float64]
TOLERANCE = 1e-6


def require_beta(beta: float) -> float:
    """β as given, or a `LociError` when it is negative or no number: the scores keep their order."""
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
    weights: Array = special.softmax(require_beta(beta) * scores, axis=-1)
    return weights


def attend(
    query: Float[Array, "d"], keys: Float[Array, "n d"], values: Float[Array, "n v"]
) -> tuple[Float[Array, "n"], Float[Array, "v"]]:
    """The weights α and the output c = Σ α_i v_i of one query. c lies in the convex hull of the values."""
    weights = softmax(keys @ query)
    return weights, weights @ values


def entropy(weights: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
    """H(α) = −Σ α_i ln α_i in nats, with 0·ln 0 = 0: from 0 (one value copied) to ln n (all n averaged)."""
    return np.asarray(special.entr(weights).sum(axis=-1))


def perplexity(weights: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
    """e^{H(α)}: how many values attention spreads over, as if evenly; from 1 to n."""
    return np.asarray(np.exp(entropy(weights)))


def top_weight_bound(margin: float, n: int) -> float:
    """The least that the largest weight can be when its score leads all by `margin`: 1 / (1 + (n−1)e^{−margin}).

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
    return max(0.0, math.log(n - 1) + math.log1p(-epsilon) - math.log(epsilon)) if n > 1 else 0.0


def orthonormal(rng: np.random.Generator, n: int, d: int) -> Float[Array, "n d"]:
    """n random orthonormal rows of ℝ^d, uniformly distributed."""
    if not 1 <= n <= d:
        raise LociError(f"there are at most d orthonormal vectors in ℝ^d: n = {n}, d = {d}", remedy="take n ≤ d")
    columns, triangle = np.linalg.qr(rng.standard_normal((d, n)))
    rows: Array = (columns * np.sign(np.diag(triangle))).T  # the signs make the distribution uniform
    return rows


def require_orthonormal(vectors: Float[Array, "n d"], name: str = "keys") -> None:
    """A `LociError` that names the pair unless the rows are unit vectors at right angles."""
    gram = vectors @ vectors.T
    wrong = np.abs(gram - np.eye(len(vectors)))
    if wrong.max(initial=0.0) > TOLERANCE:
        i, j = np.unravel_index(int(wrong.argmax()), wrong.shape)
        length, product = f"has squared length {gram[i, i]:.4g}", f"· {name}[{j}] is {gram[i, j]:.4g}, not 0"
        what = f"{name}[{i}] {length if i == j else product}"
        raise LociError(f"the formula needs orthonormal {name}: {what}", remedy="orthonormalise them")


def copying_weight(n: int, beta: float) -> float:
    """Copying from n orthonormal keys with q = βk_j: α_j = e^β / (e^β + n − 1).

    k_j·q = β and k_i·q = 0 for the others. With β ≫ ln n nearly all weight is on j and c ≈ v_j.
    """
    return top_weight_bound(require_beta(beta), n)


def copying_beta(n: int, epsilon: float) -> float:
    """The least β for which q = βk_j puts α_j ≥ 1−ε on one of n orthonormal keys: ln((n−1)(1−ε)/ε).

    The output then is off by |c − v_j| ≤ ε·max_i |v_i − v_j|, because c − v_j = Σ_{i≠j} α_i (v_i − v_j).
    """
    return sharp_margin(n, epsilon)


def averaging_weight(n: int, beta: float) -> float:
    """Averaging two of n orthonormal keys with q = β(k_a + k_b): α_a = α_b = e^β / (n − 2 + 2e^β).

    k_a·q = k_b·q = β and the other n−2 scores are 0. For β ≫ ln n, c ≈ ½(v_a + v_b).
    """
    if n < 2:
        raise LociError(f"averaging two values needs at least two, n is {n}")
    return 1 / (2 + (n - 2) * math.exp(-require_beta(beta)))


def averaging_beta(n: int, epsilon: float) -> float:
    """The least β that leaves at most ε to the n−2 other values: ln((n−2)(1−ε)/(2ε)), and 0 when that is negative.

    The two together hold 2e^β/(n−2+2e^β) ≥ 1−ε; solve for β. It is ln 2 or so below the β of copying: two keys pull.
    """
    require_share(epsilon)
    if n < 2:
        raise LociError(f"averaging two values needs at least two, n is {n}")
    return max(0.0, math.log(n - 2) + math.log1p(-epsilon) - math.log(2 * epsilon)) if n > 2 else 0.0


def projector(basis: Float[Array, "d m"]) -> Float[Array, "d d"]:
    """M = A·Aᵀ takes the part in span(A) out of a sum: M(a + b) = a for a in the span and b orthogonal to it.

    Write a = A c for coordinates c. Then A Aᵀ a = A (AᵀA) c = A c = a, since the columns of A are orthonormal, and A
    Aᵀ b = A·0 = 0. Aᵀ alone is no answer: it is m×d, so Aᵀ(a + b) = c is a vector of ℝ^m, the coordinates of a and
    not a itself. It has the right shape only for m = d, where b = 0 and there was nothing to take out; and then Aᵀa =
    c, which is a only for A = I.
    """
    require_orthonormal(basis.T, "basis")
    return basis @ basis.T


def oblique_projector(basis: Float[Array, "d m"], rest: Float[Array, "d p"]) -> Float[Array, "d d"]:
    """The map with M(a + b) = a when the two subspaces meet only in 0 but are not at right angles: M = [A 0]·[A B]⁺.

    [A B] has independent columns, so its pseudo-inverse returns the coordinates of both parts; [A 0] keeps the first.
    If a vector x ≠ 0 lies in both spans, M x would have to be x (as a part of A) and 0 (as a part of B): no map
    exists.
    """
    joined = np.hstack([basis, rest])
    if np.linalg.matrix_rank(joined) < joined.shape[1]:
        message = "the two subspaces share a direction, or a basis is dependent: no map tells their parts apart"
        raise LociError(message, remedy="make the columns of both bases together linearly independent")
    projection: Array = np.hstack([basis, np.zeros_like(rest)]) @ np.linalg.pinv(joined)
    return projection
