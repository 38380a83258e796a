"""Noisy keys: one head that swings, and several that do not."""

from __future__ import annotations

import numpy as np

from loci.attention_lab.constructions import orthonormal
from loci.attention_lab.distribution import softmax
from loci.attention_lab.exercises.result import LabResult, LabSettings, Panel, curve
from loci.attention_lab.perturbation import (
    STRETCH,
    KeyNoise,
    compare_heads,
    share_cdf,
    share_variance,
    swing_scale,
    two_head_failure,
)

DRAWS = 4000
BINS = 25
SMALL = 1e-4
NOISY_KEYS = "one head averaging two values is safe under Σ = αI, and swings between them under Σ_a = αI + ½μ_aμ_aᵀ"
HEADS = "k heads that look for one key each hold the average while the key's length stays positive"


def noisy_keys(settings: LabSettings) -> LabResult:
    """Distribution and variance of the share of v_a, closed form beside simulation."""
    rng = settings.rng()
    means = orthonormal(rng, 4, 16)
    noises = {"αI": KeyNoise(SMALL), "αI + ½μ_aμ_aᵀ": KeyNoise(SMALL, STRETCH)}
    betas = np.array([0.5, 1, 2, 4, 6, 8, 12, 16, 24, 32])
    rows, variance_curves, density_curves = [], [], []
    for name, noise in noises.items():
        keys = noise.sample(rng, means, DRAWS)
        measured = []
        for beta in betas:
            weights = softmax(keys @ (float(beta) * (means[0] + means[1])))
            share = weights[:, 0] / (weights[:, 0] + weights[:, 1])
            scale = swing_scale(float(beta), noise.isotropic, noise.stretch)
            near = share_cdf(np.array([0.4, 0.6]), scale)
            rows.append(
                (
                    name,
                    float(beta),
                    round(share_variance(scale), 5),
                    round(float(share.var()), 5),
                    round(float(near[1] - near[0]), 3),
                    round(float(((share > 0.4) & (share < 0.6)).mean()), 3),
                )
            )
            measured.append(float(share.var()))
            if noise.stretch and beta in (1, 4, 12):
                counts, edges = np.histogram(share, bins=BINS, range=(0, 1), density=True)
                # The mean density of each bin: the density itself climbs steeply at the ends.
                inside = share_cdf(np.clip(edges, 1e-12, 1 - 1e-12), scale)
                centres = (edges[1:] + edges[:-1]) / 2
                density_curves += [
                    curve(f"β = {beta:g}", centres, np.diff(inside) * BINS),
                    curve(f"β = {beta:g}, drawn", centres, counts, "dots"),
                ]
        fine = np.linspace(0, 32, 129)
        scales = [swing_scale(float(beta), noise.isotropic, noise.stretch) for beta in fine]
        variance_curves += [
            curve(f"Σ_a = {name}", fine, [share_variance(scale) for scale in scales]),
            curve(f"Σ_a = {name}, drawn", betas, measured, "dots"),
        ]
    return LabResult(
        "noisy-keys",
        NOISY_KEYS,
        (
            "The log-odds of the two weights are normal with standard deviation β√(4α + s), so the share of v_a is "
            "logit-normal.",
            "With s = ½ its variance rises with β towards ¼, that of a coin: sharper is worse. With α alone it stays "
            f"near 0 while 2β√α ≪ 1 (α = {SMALL:g} here).",
        ),
        ("Σ_a", "β", "variance, closed form", "variance, drawn", "P(share in 0.4–0.6)", "drawn"),
        tuple(rows),
        (
            Panel("Variance of the share of v_a against β", "β", "variance", tuple(variance_curves)),
            Panel(
                "Where the share of v_a lies (s = ½)",
                "share of v_a in c",
                "density, mean of each bin",
                tuple(density_curves),
            ),
        ),
        settings.seed,
    )


def heads(settings: LabSettings) -> LabResult:
    """1 to 4 heads that average the same four values under one and the same noise."""
    rng = settings.rng()
    n, targets = 8, (0, 1, 2, 3)
    means, values = orthonormal(rng, n, 16), np.eye(n)
    noise = KeyNoise(SMALL, STRETCH, stretched=targets)
    betas = (2.0, 4.0, 8.0, 16.0, 32.0)
    rows = []
    errors: dict[int, list[float]] = {k: [] for k in range(1, 5)}
    for beta in betas:
        for spread in compare_heads(rng, means, values, targets, noise, beta, draws=DRAWS):
            errors[spread.heads].append(spread.error)
            rows.append((beta, spread.heads, round(spread.error, 4), round(spread.variance, 4), round(spread.near, 3)))
    return LabResult(
        "heads",
        HEADS,
        (
            "Four values are averaged whose keys have random lengths γ ~ N(1, ½). One head compares their lengths "
            "and copies the longest; with one key a head there is nothing to compare.",
            "What remains is a key that is too short to be found at all: for one of two heads at β = 32 and 8 keys "
            f"that is {100 * two_head_failure(32.0, 8):.1f} % of draws, and never less than P(γ < 0) = 7.9 %.",
        ),
        ("β", "heads", "error of c (root mean square)", "variance of c", "within a tenth of the average"),
        tuple(rows),
        (
            Panel(
                "Distance of c from the wanted average",
                "β",
                "root mean squared error",
                tuple(curve(f"{k} head{'s' if k > 1 else ''}", betas, values) for k, values in errors.items()),
                log_x=True,
            ),
        ),
        settings.seed,
    )
