"""One query at work: attention as a distribution, copying, averaging two values, taking a part out of a sum."""

from __future__ import annotations

import math

import numpy as np

from loci.attention_lab.constructions import (
    averaging_beta,
    averaging_weight,
    copying_beta,
    copying_weight,
    oblique_projector,
    orthonormal,
    projector,
)
from loci.attention_lab.distribution import attend, entropy, perplexity, sharp_margin, softmax, top_weight_bound
from loci.attention_lab.exercises.result import LabResult, LabSettings, Panel, curve

SIZES = (4, 16, 64, 256)
SHARES = (0.1, 0.01, 0.001)
DISTRIBUTION = "attention weights are a categorical distribution; a lead of ln((n−1)(1−ε)/ε) makes them sharp"
COPYING = "q = βk_j copies v_j: α_j ≥ 1−ε from β = ln((n−1)(1−ε)/ε) on"
AVERAGING = "q = β(k_a+k_b) averages two values: α_a = α_b = e^β/(n−2+2e^β)"
PROJECTION = "M = A·Aᵀ takes the part in span(A) out of a sum; Aᵀ alone is no map of ℝ^d"


def distribution(settings: LabSettings) -> LabResult:
    """Entropy against β, and the lead that makes attention sharp."""
    rng = settings.rng()
    betas = np.linspace(0, 8, 81)
    scores = rng.standard_normal((200, 16))
    spread = [float(entropy(softmax(scores, float(beta))).mean()) for beta in betas]
    n = 16
    margins = np.linspace(0, 12, 61)
    others = [-margins[:, None] - scale * rng.exponential(size=(61, n - 1)) for scale in (0.0, 1.0, 4.0)]
    tops = [softmax(np.hstack([np.zeros((61, 1)), behind]))[:, 0] for behind in others]
    rows = [
        (count, *(round(sharp_margin(count, share), 3) for share in SHARES), round(math.log(count), 3))
        for count in (2, 8, 32, 128, 512)
    ]
    sharp = float(perplexity(softmax(scores, 8.0)).mean())
    return LabResult(
        "distribution",
        DISTRIBUTION,
        (
            f"Sharpening never raises the entropy: from ln 16 = {math.log(16):.3f} nats at β = 0 to {spread[-1]:.3f} "
            f"at β = 8, where attention spreads over {sharp:.2f} of 16 values.",
            "The lead needed for a given sharpness grows with ln n: ten times the values cost 2.3 more.",
        ),
        ("n", *(f"lead for ε = {share:g}" for share in SHARES), "most entropy, ln n"),
        tuple(rows),
        (
            Panel(
                "Entropy falls as β grows (16 random scores, mean of 200)",
                "β",
                "entropy in nats",
                (
                    curve("entropy", betas, spread),
                    curve("ln n: all alike", betas, np.full(81, math.log(16)), "dashes"),
                ),
            ),
            Panel(
                "The largest weight against its lead (n = 16)",
                "lead over the next score",
                "largest weight",
                (
                    curve("bound: others level", margins, [top_weight_bound(float(m), n) for m in margins], "dashes"),
                    curve("others level, measured", margins[::4], tops[0][::4], "dots"),
                    curve("others up to 1 or so below", margins[::4], tops[1][::4], "dots"),
                    curve("others up to 4 or so below", margins[::4], tops[2][::4], "dots"),
                ),
            ),
        ),
        settings.seed,
    )


def copying(settings: LabSettings) -> LabResult:
    """The β that copies, for several numbers of keys, against attention itself."""
    rng = settings.rng()
    betas = np.linspace(0, 14, 57)
    rows, curves = [], []
    for n in SIZES:
        keys = orthonormal(rng, n, 256)
        measured = [float(attend(float(beta) * keys[0], keys, keys)[0][0]) for beta in betas]
        curves += [
            curve(f"n = {n}", betas, [copying_weight(n, float(beta)) for beta in betas]),
            curve(f"n = {n}, measured", betas[::4], measured[::4], "dots"),
        ]
        for share in SHARES:
            beta = copying_beta(n, share)
            weight = float(attend(beta * keys[0], keys, keys)[0][0])
            rows.append((n, share, round(beta, 3), round(weight, 6), (weight >= 1 - share - 1e-9 and "yes") or "no"))
    return LabResult(
        "copying",
        COPYING,
        ("Each β stands exactly where the weight reaches 1−ε; formula and attention agree to rounding.",),
        ("n", "ε", "β", "weight measured", "at least 1−ε"),
        tuple(rows),
        (Panel("Weight on the copied value", "β", "α_j", tuple(curves)),),
        settings.seed,
    )


def averaging(settings: LabSettings) -> LabResult:
    """The weights of two values averaged, against attention itself."""
    rng = settings.rng()
    betas = np.linspace(0, 14, 57)
    rows, curves = [], []
    for n in SIZES:
        keys = orthonormal(rng, n, 256)
        measured = [float(attend(float(beta) * (keys[0] + keys[1]), keys, keys)[0][0]) for beta in betas]
        curves += [
            curve(f"n = {n}", betas, [averaging_weight(n, float(beta)) for beta in betas]),
            curve(f"n = {n}, measured", betas[::4], measured[::4], "dots"),
        ]
        for share in SHARES:
            beta = averaging_beta(n, share)
            weights = attend(beta * (keys[0] + keys[1]), keys, keys)[0]
            rows.append(
                (n, share, round(beta, 3), round(averaging_weight(n, beta), 6), round(float(weights[2:].sum()), 6))
            )
    return LabResult(
        "averaging",
        AVERAGING,
        ("The two weights are equal at every β and reach ½ together; what is left to the others falls as e^−β.",),
        ("n", "ε", "β", "weight of each, formula", "left to the others, measured"),
        tuple(rows),
        (Panel("Weight of each of the two values", "β", "α_a = α_b", tuple(curves)),),
        settings.seed,
    )


def projection(settings: LabSettings) -> LabResult:
    """What comes out of a + b under the right map, under Aᵀ, and when the subspaces are not at right angles."""
    rng = settings.rng()
    d, rows = 16, []
    errors: dict[str, list[float]] = {"A·Aᵀ": [], "Aᵀ, padded with zeros": [], "oblique map, slanted subspaces": []}
    sizes = list(range(1, 9))
    for m in sizes:
        vectors = orthonormal(rng, 2 * m, d)
        a_basis, b_basis = vectors[:m].T, vectors[m:].T
        a, b = a_basis @ rng.standard_normal(m), b_basis @ rng.standard_normal(m)
        slanted = b_basis + 0.8 * a_basis
        outcomes = {
            "A·Aᵀ": projector(a_basis) @ (a + b) - a,
            "Aᵀ, padded with zeros": np.concatenate([a_basis.T @ (a + b), np.zeros(d - m)]) - a,
            "oblique map, slanted subspaces": oblique_projector(a_basis, slanted) @ (a + slanted @ np.ones(m)) - a,
        }
        for name, difference in outcomes.items():
            errors[name].append(float(np.linalg.norm(difference) / np.linalg.norm(a)))
        rows.append((m, f"{d}×{d}", errors["A·Aᵀ"][-1], f"{m}×{d}", errors["Aᵀ, padded with zeros"][-1]))
    return LabResult(
        "projection",
        PROJECTION,
        (
            "A·Aᵀ returns a to rounding. Aᵀ has m rows: it returns the m coordinates of a in the basis, not a vector "
            "of ℝ^16; filled up with zeros it is about as far off as a is long.",
            "Where the subspaces are not at right angles, A·Aᵀ no longer serves; the oblique map [A 0]·[A B]⁺ "
            "does, as long as they share no direction.",
        ),
        ("m", "shape of A·Aᵀ", "relative error", "shape of Aᵀ", "relative error, padded"),
        tuple(rows),
        (
            Panel(
                "Relative error of the part taken out (d = 16)",
                "m, dimension of the subspace",
                "|M(a+b) − a| / |a|",
                tuple(curve(name, sizes, np.maximum(values, 1e-17)) for name, values in errors.items()),
                log_y=True,
            ),
        ),
        settings.seed,
    )
