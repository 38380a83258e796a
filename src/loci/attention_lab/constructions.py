"""What one head can be made to do by choosing its query: copy a value, average two, take a part out of a sum.

Each function states its claim and derives it. Where a formula needs orthonormal keys they are checked. Knows nothing of
noise (`perturbation`) or of matrices shared by several positions (`design`).
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from loci.attention_lab.distribution import Array, require_beta, require_share, sharp_margin
from loci.errors import LociError

TOLERANCE = 1e-6


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
        what = (
            f"{name}[{i}] has squared length {gram[i, i]:.4g}"
            if i == j
            else f"{name}[{i}] · {name}[{j}] is {gram[i, j]:.4g}, not 0"
        )
        raise LociError(f"the formula needs orthonormal {name}: {what}", remedy="orthonormalise them")


def copying_weight(n: int, beta: float) -> float:
    """Copying from n orthonormal keys with q = βk_j: α_j = e^β / (e^β + n − 1).

    k_j·q = β and k_i·q = 0 for the others. With β ≫ ln n nearly all weight is on j and c ≈ v_j.
    """
    if n < 1:
        raise LociError(f"attention needs at least one value, n is {n}")
    return 1 / (1 + (n - 1) * math.exp(-require_beta(beta)))


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
    if n == 2:
        return 0.0
    return max(0.0, math.log(n - 2) + math.log1p(-epsilon) - math.log(2 * epsilon))


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
        raise LociError(
            "the two subspaces share a direction, or a basis is dependent: no map tells their parts apart",
            remedy="make the columns of both bases together linearly independent",
        )
    keep = np.hstack([basis, np.zeros_like(rest)])
    projection: Array = keep @ np.linalg.pinv(joined)
    return projection
