"""One query: attention as a distribution, copying, averaging two values, taking a part out of a sum."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from loci.attention_lab import distribution as attention
from loci.attention_lab.distribution import Array, attend, orthonormal, softmax
from loci.attention_lab.exercises.result import Curve, Exercise, LabResult, LabSettings, Panel

SIZES = (4, 16, 64, 256)
SHARES = (0.1, 0.01, 0.001)
SYMBOLS = {
    r"q \in \mathbb{R}^d": "the query",
    r"k_i, v_i": "keys and values, i = 1 … n",
    r"\beta \ge 0": "inverse temperature: how strongly the scores count",
    r"\alpha_i": "attention weights",
    r"c": "the output of attention",
    r"\varepsilon": "the weight that may be left to the other values",
}


def distribution(settings: LabSettings) -> LabResult:
    """Entropy against β, and the margin that makes attention sharp."""
    rng = settings.rng()
    betas = np.linspace(0, 8, 81)
    scores = rng.standard_normal((200, 16))
    spread = [float(attention.entropy(softmax(scores, float(beta))).mean()) for beta in betas]
    n = 16
    margins = np.linspace(0, 12, 61)
    others = [-margins[:, None] - scale * rng.exponential(size=(61, n - 1)) for scale in (0.0, 1.0, 4.0)]
    tops = [softmax(np.hstack([np.zeros((61, 1)), scores]))[:, 0] for scores in others]
    rows = [
        (count, *(round(attention.sharp_margin(count, share), 3) for share in SHARES), round(math.log(count), 3))
        for count in (2, 8, 32, 128, 512)
    ]
    sharp = float(attention.perplexity(softmax(scores, 8.0)).mean())
    return LabResult(
        (
            f"Sharpening never raises the entropy: from ln 16 = {math.log(16):.3f} nats at β = 0 to {spread[-1]:.3f} "
            f"at β = 8, where attention spreads over {sharp:.2f} of 16 values.",
            "The margin needed for a given sharpness grows with ln n: ten times as many values need 2.3 more.",
        ),
        ("n", *(f"margin for ε = {share:g}" for share in SHARES), "largest attention.entropy, ln n"),
        tuple(rows),
        (
            Panel(
                "Entropy falls as β grows (16 random scores, mean of 200)",
                "β",
                "entropy in nats",
                (Curve("entropy", betas, spread), Curve("ln n: uniform", betas, np.full(81, math.log(16)), "dashes")),
            ),
            Panel(
                "The largest weight against its margin (n = 16)",
                "margin over the next score",
                "largest weight",
                (
                    Curve(
                        "bound: others equal",
                        margins,
                        [attention.top_weight_bound(float(m), n) for m in margins],
                        "dashes",
                    ),
                    Curve("others equal, measured", margins[::4], tops[0][::4], "dots"),
                    Curve("others about 1 lower", margins[::4], tops[1][::4], "dots"),
                    Curve("others about 4 lower", margins[::4], tops[2][::4], "dots"),
                ),
            ),
        ),
        settings.seed,
    )


def _against_attention(
    settings: LabSettings, query: Callable[[Array], Array], weight: Callable[[int, float], float]
) -> tuple[list[Curve], dict[int, Array]]:
    """For each n: the formula for the weight of key 0 and attention itself, as curves; and the keys."""
    rng = settings.rng()
    betas = np.linspace(0, 14, 57)
    curves, keys = [], {n: orthonormal(rng, n, 256) for n in SIZES}
    for n in SIZES:
        measured = [float(attend(float(beta) * query(keys[n]), keys[n], keys[n])[0][0]) for beta in betas[::4]]
        curves += [
            Curve(f"n = {n}", betas, [weight(n, float(beta)) for beta in betas]),
            Curve(f"n = {n}, measured", betas[::4], measured, "dots"),
        ]
    return curves, keys


def copying(settings: LabSettings) -> LabResult:
    """The β that copies, for several numbers of keys, against attention itself."""
    curves, keys = _against_attention(settings, lambda keys: keys[0], attention.copying_weight)
    rows = []
    for n in SIZES:
        for share in SHARES:
            beta = attention.copying_beta(n, share)
            weight = float(attend(beta * keys[n][0], keys[n], keys[n])[0][0])
            rows.append((n, share, round(beta, 3), round(weight, 6), (weight >= 1 - share - 1e-9 and "yes") or "no"))
    return LabResult(
        ("At each β of the table the weight is exactly 1−ε; formula and attention agree to rounding.",),
        ("n", "ε", "β", "weight measured", "at least 1−ε"),
        tuple(rows),
        (Panel("Weight on the copied value", "β", "α_j", tuple(curves)),),
        settings.seed,
    )


def averaging(settings: LabSettings) -> LabResult:
    """The weights of two values averaged, against attention itself."""
    curves, keys = _against_attention(settings, lambda keys: keys[0] + keys[1], attention.averaging_weight)
    rows = []
    for n in SIZES:
        for share in SHARES:
            beta = attention.averaging_beta(n, share)
            rest = float(attend(beta * (keys[n][0] + keys[n][1]), keys[n], keys[n])[0][2:].sum())
            rows.append((n, share, round(beta, 3), round(attention.averaging_weight(n, beta), 6), round(rest, 6)))
    return LabResult(
        ("The two weights are equal at every β and approach ½ together; what is left to the others falls as e^−β.",),
        ("n", "ε", "β", "weight of each, formula", "left to the others, measured"),
        tuple(rows),
        (Panel("Weight of each of the two values", "β", "α_a = α_b", tuple(curves)),),
        settings.seed,
    )


def projection(settings: LabSettings) -> LabResult:
    """What comes out of a + b under the right map, under Aᵀ, and when the subspaces are not orthogonal."""
    rng = settings.rng()
    d, rows = 16, []
    errors: dict[str, list[float]] = {"A·Aᵀ": [], "Aᵀ, padded with zeros": [], "oblique map, oblique subspaces": []}
    sizes = list(range(1, 9))
    for m in sizes:
        vectors = orthonormal(rng, 2 * m, d)
        a_basis, b_basis = vectors[:m].T, vectors[m:].T
        a, b = a_basis @ rng.standard_normal(m), b_basis @ rng.standard_normal(m)
        oblique = b_basis + 0.8 * a_basis
        outcomes = (
            attention.projector(a_basis) @ (a + b) - a,
            np.concatenate([a_basis.T @ (a + b), np.zeros(d - m)]) - a,
            attention.oblique_projector(a_basis, oblique) @ (a + oblique @ np.ones(m)) - a,
        )
        for values, difference in zip(errors.values(), outcomes, strict=True):
            values.append(float(np.linalg.norm(difference) / np.linalg.norm(a)))
        rows.append((m, f"{d}×{d}", errors["A·Aᵀ"][-1], f"{m}×{d}", errors["Aᵀ, padded with zeros"][-1]))
    title = "Relative error of the part taken out (d = 16)"
    curves = [Curve(name, sizes, np.maximum(values, 1e-17)) for name, values in errors.items()]
    return LabResult(
        (
            "A·Aᵀ returns a to rounding. Aᵀ has m rows: it returns the m coordinates of a in the basis, not a vector "
            "of ℝ^16; padded with zeros it is off by about the length of a.",
            "Where the subspaces are not orthogonal, A·Aᵀ no longer works; the oblique map [A 0]·[A B]⁺ does, as long "
            "as they share no direction.",
        ),
        ("m", "shape of A·Aᵀ", "relative error", "shape of Aᵀ", "relative error, padded"),
        tuple(rows),
        (Panel(title, "m, dimension of the subspace", "|M(a+b) − a| / |a|", tuple(curves), log_y=True),),
        settings.seed,
    )


DISTRIBUTION = Exercise(
    "attention weights are a categorical distribution; a margin of ln((n−1)(1−ε)/ε) makes them sharp",
    "One query attends to n keys. Show that the weights are a categorical distribution over the n values. How far must "
    "the best score be ahead of the others, so that its weight is at least 1 − ε?",
    SYMBOLS
    | {
        r"s_i = k_i \cdot q": "the scores",
        r"\Delta": "the margin: how far the largest score is ahead of the next",
        r"H(\alpha)": "the entropy of the weights, in nats",
    },
    {
        "Every weight is positive and they sum to 1.": r"\alpha_i = \frac{e^{\beta s_i}}{\sum_{j=1}^n e^{\beta s_j}},"
        r"\qquad c = \sum_{i=1}^n \alpha_i v_i",
        "From one value copied to all n averaged.": r"0 \le H(\alpha) = -\sum_{i=1}^n \alpha_i \ln \alpha_i \le \ln n",
        "Each of the other n − 1 exponentials is smaller by at least the margin.": r"\alpha_{\max} \ge "
        r"\frac{1}{1 + (n-1)\,e^{-\Delta}} \ge 1 - \varepsilon \quad\text{if}\quad "
        r"\Delta \ge \ln\frac{(n-1)(1-\varepsilon)}{\varepsilon}",
    },
    distribution,
)
COPYING = Exercise(
    "q = βk_j copies v_j: α_j ≥ 1−ε from β = ln((n−1)(1−ε)/ε) on",
    "The keys are orthonormal. Choose a query so that attention copies one value: c ≈ v_j. How large must β be?",
    SYMBOLS | {r"k_i \cdot k_j = 0,\ k_i \cdot k_i = 1": "orthonormal keys"},
    {
        "The query points along the key of the wanted value.": r"q = \beta k_j",
        "Its score is β, all others are 0.": r"\alpha_j = \frac{e^\beta}{e^\beta + n - 1}",
        "Solved for β.": r"\alpha_j \ge 1 - \varepsilon \iff \beta \ge \ln\frac{(n-1)(1-\varepsilon)}{\varepsilon}",
    },
    copying,
)
AVERAGING = Exercise(
    "q = β(k_a+k_b) averages two values: α_a = α_b = e^β/(n−2+2e^β)",
    "The keys are orthonormal. Choose a query so that attention averages two values: c ≈ ½(v_a + v_b).",
    SYMBOLS | {r"a, b": "the two values to average"},
    {
        "The query points along both keys.": r"q = \beta\,(k_a + k_b)",
        "Both scores are β, the others are 0.": r"\alpha_a = \alpha_b = \frac{e^\beta}{n - 2 + 2e^\beta}",
        "What the others keep is at most ε.": r"\beta \ge \ln\frac{(n-2)(1-\varepsilon)}{2\varepsilon}",
    },
    averaging,
)
PROJECTION = Exercise(
    "M = A·Aᵀ takes the part in span(A) out of a sum; Aᵀ alone is no map of ℝ^d",
    "A value is a sum a + b of two parts from two orthogonal subspaces. Find a matrix M that returns the first part.",
    {
        r"a, b \in \mathbb{R}^d": "the two parts",
        r"A \in \mathbb{R}^{d \times m}": "an orthonormal basis of the subspace of a, as columns",
        r"B": "a basis of the subspace of b",
        r"M \in \mathbb{R}^{d \times d}": "the wanted matrix",
        r"X^+": "the pseudo-inverse",
    },
    {
        "a = A·x for some coordinates x, and AᵀA = I.": r"M = A A^\top, \qquad "
        r"M(a + b) = A A^\top A x + A A^\top b = a",
        "If the subspaces are not orthogonal but share no direction.": r"M = [A\ \ 0]\,[A\ \ B]^+",
    },
    projection,
)
