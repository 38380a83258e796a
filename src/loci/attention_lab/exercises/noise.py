"""Noisy keys: one head that swings, and several that do not."""

from __future__ import annotations

import numpy as np

from loci.attention_lab import perturbation
from loci.attention_lab.distribution import orthonormal, softmax
from loci.attention_lab.exercises.result import Cell, Curve, Exercise, LabResult, LabSettings, Panel
from loci.attention_lab.perturbation import STRETCH, KeyNoise, compare_heads, output_variance

DRAWS = 4000
BINS = 25
SMALL = 1e-4
BETAS = (2.0, 4.0, 8.0, 16.0, 32.0)
#: For `heads`: what is averaged, and the keys whose length is uncertain.
SETTINGS = (("two values, k_a stretched", (0, 1), (0,)), ("four values, all stretched", (0, 1, 2, 3), (0, 1, 2, 3)))
VARIANCES = ("variance of c, closed form", "variance of c, simulated")
SYMBOLS = {
    r"\mu_i": "means of the keys: orthonormal vectors, i = 1 … n",
    r"k_i \sim \mathcal{N}(\mu_i, \Sigma_i)": "the keys",
    r"v_i": "the values",
    r"\alpha": "the variance of the keys in every direction, vanishingly small",
    r"\beta": "the length of the query: how strongly the scores count",
    r"\gamma": "the random length of a stretched key along its mean",
    r"c": "the output",
}
STRETCHED = r"\Sigma_a = \alpha I + \tfrac{1}{2}\,\mu_a \mu_a^\top \;\Rightarrow\; k_a \approx \gamma \mu_a,\ "
STRETCHED += r"\gamma \sim \mathcal{N}(1, \tfrac{1}{2})"


def noisy_keys(settings: LabSettings) -> LabResult:
    """Distribution and variance of the share of v_a, closed form next to simulation."""
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
            scale = perturbation.swing_scale(float(beta), noise.isotropic, noise.stretch)
            near = perturbation.share_cdf(np.array([0.4, 0.6]), scale)
            variances = np.round([perturbation.share_variance(scale), share.var()], 5).tolist()
            within = np.round([near[1] - near[0], ((share > 0.4) & (share < 0.6)).mean()], 3).tolist()
            rows.append((name, float(beta), *variances, *within))
            measured.append(float(share.var()))
            if noise.stretch and beta in (1, 4, 12):
                counts, edges = np.histogram(share, bins=BINS, range=(0, 1), density=True)
                # The mean density of each bin: the density itself climbs steeply at the ends.
                inside = perturbation.share_cdf(np.clip(edges, 1e-12, 1 - 1e-12), scale)
                centres = (edges[1:] + edges[:-1]) / 2
                density_curves += [
                    Curve(f"β = {beta:g}", centres, np.diff(inside) * BINS),
                    Curve(f"β = {beta:g}, simulated", centres, counts, "dots"),
                ]
        fine = np.linspace(0, 32, 129)
        scales = [perturbation.swing_scale(float(beta), noise.isotropic, noise.stretch) for beta in fine]
        variance_curves += [
            Curve(f"Σ_a = {name}", fine, [perturbation.share_variance(scale) for scale in scales]),
            Curve(f"Σ_a = {name}, simulated", betas, measured, "dots"),
        ]
    distribution = "Distribution of the share of v_a"
    return LabResult(
        (
            "The log-odds of the two weights are normal with standard deviation β√(4α + s), so the share of v_a is "
            "logit-normal.",
            "With s = ½ its variance rises with β towards ¼, that of a coin: sharper is worse. With α alone it stays "
            f"near 0 while 2β√α ≪ 1 (α = {SMALL:g} here).",
        ),
        ("Σ_a", "β", "variance, closed form", "variance, simulated", "P(share in 0.4–0.6)", "simulated"),
        tuple(rows),
        (
            Panel("Variance of the share of v_a against β", "β", "variance", tuple(variance_curves)),
            Panel(f"{distribution} (s = ½)", "share of v_a in c", "density, mean of each bin", tuple(density_curves)),
        ),
        settings.seed,
    )


def heads(settings: LabSettings) -> LabResult:
    """One and two heads when one of two keys is stretched; 1 to 4 heads when all of four are."""
    rng = settings.rng()
    n = 8
    means, values = orthonormal(rng, n, 16), np.eye(n)
    fine = np.geomspace(BETAS[0], BETAS[-1], 65)
    rows: list[tuple[Cell, ...]] = []
    panels = []
    for setting, targets, stretched in SETTINGS:
        noise = KeyNoise(SMALL, STRETCH, stretched=stretched)
        simulated: dict[int, list[float]] = {count: [] for count in range(1, len(targets) + 1)}
        for beta in BETAS:
            for spread in compare_heads(rng, means, values, targets, noise, beta, draws=DRAWS):
                closed = output_variance(values, beta, spread.heads) if stretched == (0,) else None
                simulated[spread.heads].append(spread.variance)
                formula = None if closed is None else round(closed, 4)
                measured = round(spread.variance, 4), round(spread.error, 4), round(spread.near, 3)
                rows.append((len(targets), beta, spread.heads, formula, *measured))
        curves: list[Curve] = []
        for count, variances in simulated.items():
            name = f"{count} head{'s' if count > 1 else ''}"
            if stretched == (0,):
                curves.append(Curve(name, fine, [output_variance(values, float(beta), count) for beta in fine]))
                curves.append(Curve(f"{name}, simulated", BETAS, variances, "dots"))
            else:
                curves.append(Curve(name, BETAS, variances))
        panels.append(Panel(f"Variance of c: {setting}", "β", "variance of c", tuple(curves), log_x=True))
    return LabResult(
        (
            "Two values, only k_a stretched: one head compares βγ with β and swings between v_a and v_b. Of two heads "
            "each looks for one key and has nothing to compare: c stays at ½(v_a + v_b) while γ is clearly positive.",
            "What remains is a key too short to be found: the head that looks for a misses it in "
            f"{100 * perturbation.two_head_failure(32.0, n):.1f} % of draws at β = 32 and {n} keys, and in never less "
            "than P(γ < 0) = 7.9 %. Hence two heads have a smaller variance, not none.",
            "Four values, all keys stretched: the fewer keys a head looks for, the less it swings.",
        ),
        ("values averaged", "β", "heads", *VARIANCES, "RMSE", "within a tenth of the average"),
        tuple(rows),
        tuple(panels),
        settings.seed,
    )


NOISY_KEYS = Exercise(
    "one head averaging two values is safe under Σ = αI, and swings between them under Σ_a = αI + ½μ_aμ_aᵀ",
    "The keys are random around known means. One head averages v_a and v_b with a query made from the means. What "
    "comes out when every key has small noise, and what when the length of k_a alone is uncertain?",
    SYMBOLS | {r"s": "the variance of the length of k_a: 0, or ½ when it is stretched"},
    {
        "The query of the averaging head.": r"q = \beta\,(\mu_a + \mu_b)",
        "One key whose length is uncertain.": STRETCHED,
        "The output swings with γ.": r"c \approx \frac{v_a}{1 + e^{\beta(1-\gamma)}} + "
        r"\frac{v_b}{1 + e^{\beta(\gamma-1)}}",
        "The log-odds of the two weights are normal.": r"\ln\frac{\alpha_a}{\alpha_b} \sim "
        r"\mathcal{N}\left(0,\ \beta^2 (4\alpha + s)\right)",
    },
    noisy_keys,
)
HEADS = Exercise(
    "two heads that look for one key each keep the average of two values while the key's length stays positive",
    "The same keys, and two heads whose outputs are averaged. Choose their queries so that c ≈ ½(v_a + v_b). Only the "
    "length of k_a is uncertain: how much does c vary, compared with one head? What if four values are averaged and "
    "all their keys are stretched?",
    SYMBOLS
    | {
        r"q_1, q_2": "the queries of the two heads",
        r"c_1, c_2": "their outputs",
        r"w": "the weight of v_a in the head that looks for it",
        r"m": "the mean of the other values, weighed by the exponentials of their scores",
        r"R": "the sum of those exponentials",
        r"\sigma": "the logistic function",
    },
    {
        "One key whose length is uncertain.": STRETCHED,
        "Each head looks for one key.": r"q_1 = \beta \mu_a, \qquad q_2 = \beta \mu_b, \qquad "
        r"c = \tfrac{1}{2}(c_1 + c_2)",
        "Only the head that looks for a sees γ.": r"c_1 = w\,v_a + (1-w)\,m, \qquad w = \sigma(\beta\gamma - \ln R), "
        r"\qquad R = n - 1",
        "A quarter, since its output is halved.": r"\operatorname{Var}(c) = \tfrac{1}{4}\operatorname{Var}(w)\,"
        r"\lVert v_a - m \rVert^2",
        "One head for both has b among the others.": r"\operatorname{Var}(c) = \operatorname{Var}(w)\,"
        r"\lVert v_a - m \rVert^2, \qquad R = e^\beta + n - 2",
    },
    heads,
)
