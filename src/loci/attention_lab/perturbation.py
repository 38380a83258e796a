"""Noisy keys: what one head that averages two values makes of them, in closed form and simulated, and what several do.

The keys are k_i ~ N(μ_i, Σ_i) with orthonormal means. `isotropic` is α in Σ_i = αI; `stretch` is s in
Σ_a = αI + s·μ_aμ_aᵀ: one key whose length is uncertain (½ in the exercise). Knows nothing of models.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import expit, logit, ndtr

from loci.attention_lab.distribution import Array, require_beta, require_orthonormal, sharp_margin, softmax
from loci.errors import LociError

STRETCH = 0.5
QUADRATURE_POINTS = 4001


@dataclass(frozen=True)
class KeyNoise:
    """How uncertain the keys are: `isotropic` in every direction, `stretch` along their mean for `stretched` keys."""

    isotropic: float
    stretch: float = 0.0
    stretched: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        for name in ("isotropic", "stretch"):
            value = getattr(self, name)
            if not math.isfinite(value) or value < 0:
                raise LociError(f"a variance is at least 0; {name} is {value}")

    def sample(self, rng: np.random.Generator, means: Float[Array, "n d"], draws: int) -> Float[Array, "draws n d"]:
        """Keys drawn independently: the mean, isotropic noise, and for stretched keys a random factor on the mean."""
        n, d = means.shape
        if bad := [index for index in self.stretched if not 0 <= index < n]:
            raise LociError(f"there is no key {bad[0]}: the {n} keys are 0 to {n - 1}")
        keys: Array = means + math.sqrt(self.isotropic) * rng.standard_normal((draws, n, d))
        for index in self.stretched:
            factor = math.sqrt(self.stretch) * rng.standard_normal((draws, 1))
            keys[:, index] += factor * means[index]
        return keys


def swing_scale(beta: float, isotropic: float, stretch: float = STRETCH) -> float:
    """Standard deviation of the log-odds ln(α_a/α_b) under q = β(μ_a + μ_b): β·√(4α + s).

    k_a·q is normal with mean β and variance qᵀΣ_a q = β²(2α + s), because |μ_a + μ_b|² = 2 and (μ_a·(μ_a+μ_b))² = 1;
    k_b·q is normal with mean β and variance 2αβ². Independent, so the difference has mean 0 and variance β²(4α + s).

    With s = 0 the head is safe while 2β√α ≪ 1; it also needs β ≫ ln n to ignore the others. Both hold for β between
    ln n and 1/(2√α): a window that is there when α is vanishingly small, and closes when it is not. With s = ½ it is
    closed for any α.
    """
    noise = KeyNoise(isotropic, stretch)
    return require_beta(beta) * math.sqrt(4 * noise.isotropic + noise.stretch)


def share_cdf(share: Float[Array, "*batch"], scale: float) -> Float[Array, "*batch"]:
    """P(share of v_a ≤ w) = Φ(logit(w)/scale): the share's log-odds are N(0, scale²), see `swing_scale`."""
    if scale <= 0:
        raise LociError(f"without noise the share is ½ and has no distribution: the scale is {scale}")
    return np.asarray(ndtr(logit(share) / scale))


def share_variance(scale: float, mean: float = 0.0) -> float:
    """Var of σ(z) for log-odds z ~ N(mean, scale²), by quadrature. With mean 0: scale²/16 for small noise, ¼ for large.

    Near 0, σ(z) ≈ ½ + z/4. For large scale the share is nearly 0 or 1 with even odds: a coin, of variance ¼. So Var(c)
    along v_a − v_b rises from 0 to |v_a − v_b|²/4 as β grows: sharper is worse.
    """
    if scale < 0:
        raise LociError(f"a standard deviation is at least 0, it is {scale}")
    # Even steps over ±9 standard deviations: for a smooth integrand that vanishes at both ends this converges fast.
    z = np.linspace(-9.0, 9.0, QUADRATURE_POINTS)
    mass = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
    share = expit(mean + scale * z)
    return float(mass @ (share - mass @ share) ** 2)


def output_variance(values: Float[Array, "n v"], beta: float, heads: int, stretch: float = STRETCH) -> float:
    """E|c − E c|² when only k_a is stretched and α → 0, for one head q = β(μ_a + μ_b) or two, q = βμ_a and βμ_b.

    Only γ is random, and only the head that looks for a sees it: with scores βγ for a and fixed others, of which the
    exponentials sum to R, its output is w·v_a + (1−w)·m, where w = σ(βγ − ln R) and m is the others' mean, weighed by
    their exponentials. One head: R = e^β + n − 2, since b has score β. Two: R = n − 1, and the head's half of the
    output has a quarter of the variance.
    """
    if heads not in (1, 2):
        raise LociError(f"the formula is for one head or two, not {heads}")
    scores = np.zeros(len(values) - 1)
    scores[0] = require_beta(beta) if heads == 1 else 0.0
    log_r = float(np.logaddexp.reduce(scores))
    others = np.exp(scores - log_r) @ values[1:]
    spread = share_variance(beta * math.sqrt(stretch), beta - log_r)
    return float(((values[0] - others) ** 2).sum()) * spread / heads**2


def two_head_failure(beta: float, n: int, stretch: float = STRETCH, epsilon: float = 0.1) -> float:
    """P(head 1 of `q1 = βμ_a, q2 = βμ_b` puts less than 1−ε on a), for α → 0: Φ((ln((n−1)(1−ε)/ε)/β − 1)/√s).

    Head 1 sees scores βγ for a and 0 for the n−1 others, so it copies v_a as soon as βγ ≥ ln((n−1)(1−ε)/ε), with γ ~
    N(1, s). Head 2 does not look at a's length at all. For β → ∞ this falls to P(γ < 0) = Φ(−1/√s): 7.9 % for s = ½,
    where a single head fails nearly always.
    """
    if require_beta(beta) == 0 or stretch <= 0:
        raise LociError("the probability needs β > 0 and stretch > 0")
    return float(ndtr((sharp_margin(n, epsilon) / beta - 1) / math.sqrt(stretch)))


def split_targets(targets: Sequence[int], heads: int) -> list[tuple[int, ...]]:
    """The targets split over `heads` heads as evenly as can be, in order."""
    if not 1 <= heads <= len(targets):
        raise LociError(f"{len(targets)} targets can be split over 1 to {len(targets)} heads, not {heads}")
    return [tuple(int(index) for index in part) for part in np.array_split(np.asarray(targets), heads)]


def head_queries(means: Float[Array, "n d"], groups: Sequence[Sequence[int]], beta: float) -> Float[Array, "heads d"]:
    """Each head looks for its own group: q_h = β Σ_{i in group h} μ_i. One group of two is the averaging head."""
    require_orthonormal(means, "means")
    return require_beta(beta) * np.stack([means[list(group)].sum(axis=0) for group in groups])


def mixed_output(
    keys: Float[Array, "draws n d"],
    values: Float[Array, "n v"],
    queries: Float[Array, "heads d"],
    groups: Sequence[Sequence[int]],
) -> Float[Array, "draws v"]:
    """c = Σ_h (group size / all) c_h for every draw of the keys: what the heads together make of the same noise."""
    weights = softmax(np.einsum("snd,hd->shn", keys, queries))
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    mixed: Array = np.einsum("shn,h,nv->sv", weights, sizes / sizes.sum(), values)
    return mixed


@dataclass(frozen=True)
class Spread:
    """How far the outputs of many draws lie from the wanted average."""

    heads: int
    variance: float
    """Mean squared distance from the outputs' own mean."""
    error: float
    """Root mean squared distance from the wanted average."""
    near: float
    """Share of draws within a tenth of the distance between two values."""


def compare_heads(
    rng: np.random.Generator,
    means: Float[Array, "n d"],
    values: Float[Array, "n v"],
    targets: Sequence[int],
    noise: KeyNoise,
    beta: float,
    draws: int = 4000,
) -> list[Spread]:
    """1, 2, … heads that average the same targets, under one and the same draw of noisy keys.

    k identical heads would all swing together: what helps is that each looks for fewer keys. With one target per head
    there is nothing left to compare within a head, and only a key so short that it loses to the others (γ ≲ ln n/β)
    does harm.
    """
    keys = noise.sample(rng, means, draws)
    wanted = values[list(targets)].mean(axis=0)
    unit = float(np.linalg.norm(values[targets[0]] - values[targets[-1]])) or 1.0
    rows = []
    for heads in range(1, len(targets) + 1):
        groups = split_targets(targets, heads)
        outputs = mixed_output(keys, values, head_queries(means, groups, beta), groups)
        distance = np.linalg.norm(outputs - wanted, axis=1)
        rows.append(
            Spread(
                heads=heads,
                variance=float(((outputs - outputs.mean(axis=0)) ** 2).sum(axis=1).mean()),
                error=float(np.sqrt((distance**2).mean())),
                near=float((distance < 0.1 * unit).mean()),
            )
        )
    return rows
