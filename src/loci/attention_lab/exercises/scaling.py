"""Temperature and folding: why scores are divided by √I, and what merging query and key costs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

import numpy as np

from loci.attention_lab import scaling
from loci.attention_lab.exercises.result import Cell, Curve, Exercise, LabResult, LabSettings, Numbers, Panel
from loci.attention_lab.scaling import FoldingCost, fold, product_variance, temperature, typical_entropy

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128)
KEYS = 128
SEEDS = (0, 1, 2)
SMOOTH = 10


def scaled(settings: LabSettings) -> LabResult:
    """Variance of a product, entropy at the start with and without 1/√I, and two short runs if asked for."""
    rng = settings.rng()
    started = scaling.entropy_at_start(rng, WIDTHS, KEYS)
    variances = [float(scaling.sample_scores(rng, width, 1, 20_000).var()) for width in WIDTHS]
    rows: list[tuple[Cell, ...]] = []
    for row, variance in zip(started, variances, strict=True):
        expected = round(product_variance(row.width), 1), round(variance, 1), round(temperature(row.width), 4)
        rows.append((row.width, *expected, round(row.scaled, 3), round(row.unscaled, 3)))
    most, limit = math.log(KEYS), [typical_entropy(float(width), KEYS) for width in WIDTHS]
    panels = [
        Panel(
            "Variance of h·e",
            "I, width of a head",
            "variance",
            (Curve("I", WIDTHS, WIDTHS, "dashes"), Curve("simulated", WIDTHS, variances, "dots")),
            log_x=True,
            log_y=True,
        ),
        Panel(
            f"Entropy of attention over {KEYS} random keys",
            "I, width of a head",
            "entropy in nats",
            (
                _banded("β = 1/√I", WIDTHS, [(r.scaled, 2 * r.scaled_error) for r in started]),
                _banded("β = 1", WIDTHS, [(r.unscaled, 2 * r.unscaled_error) for r in started]),
                Curve("β = 1 with very many keys: ln n − I/2", WIDTHS, limit, "dashes"),
                Curve("ln n: uniform", WIDTHS, [most] * len(WIDTHS), "dashes"),
            ),
            log_x=True,
        ),
    ]
    findings = [
        f"Scaled, entropy stays near ln n − ½ = {most - 0.5:.2f} at every width. Unscaled it falls with the width; "
        f"beyond I* = 2 ln n = {scaling.frozen_width(KEYS):.1f} a few random positions get nearly all the weight from "
        "the start.",
    ]
    if settings.train:
        finding, panel = _trained(settings.seed)
        findings, panels = [*findings, finding], [*panels, panel]
    else:
        findings.append("The effect on training: loci lab temperature --train (three seeds each, a few minutes).")
    return LabResult(
        tuple(findings),
        ("I", "variance, formula", "variance, simulated", "1/√I", "entropy at β = 1/√I", "entropy at β = 1"),
        tuple(rows),
        tuple(panels),
        settings.seed,
    )


def _banded(name: str, x: Numbers, values: Iterable[tuple[float, float]]) -> Curve:
    """A curve of means with a half-width on both sides."""
    pairs = list(values)
    return Curve(name, x, [m for m, _ in pairs], low=[m - e for m, e in pairs], high=[m + e for m, e in pairs])


def _trained(seed: int) -> tuple[str, Panel]:
    from loci.attention_lab.short_runs import WIDTH, short_run

    scales = {"β = 1/√I": temperature(WIDTH), "β = 1": 1.0}
    losses = {name: np.array([short_run(beta, seed + extra) for extra in SEEDS]) for name, beta in scales.items()}
    curves, ends = [], []
    for name, runs in losses.items():
        smooth = np.stack([np.convolve(run, np.ones(SMOOTH) / SMOOTH, mode="valid") for run in runs])
        steps = np.arange(SMOOTH, runs.shape[1] + 1)
        curves.append(_banded(name, steps, zip(smooth.mean(axis=0), smooth.std(axis=0), strict=True)))
        ends.append(f"{smooth[:, -1].mean():.3f} ± {smooth[:, -1].std():.3f} with {name}")
    finding = (
        f"Trained: two layers, one head of {WIDTH}, queries and keys started at unit variance; loss after "
        f"{losses['β = 1'].shape[1]} steps, mean and spread of {len(SEEDS)} seeds: {', '.join(ends)}."
    )
    title = "Loss of a short run (band: spread of three seeds)"
    return finding, Panel(title, "step", "nats per character", tuple(curves))


def folded(settings: LabSettings) -> LabResult:
    """Parameter counts, break-even, and the spectrum of W̃: random, or that of a trained run."""
    rng = settings.rng()
    rows: list[tuple[Cell, ...]] = []
    for width, heads in ((128, 4), (256, 8), (256, 2), (256, 1), (512, 8)):
        cost = FoldingCost(width, width // heads, heads)
        rows.append(
            (width, heads, cost.head_width, cost.factored, cost.folded, scaling.break_even(width), cost.rank_cap)
        )
    widths = np.arange(1, 257)
    panels = [
        Panel(
            "Query–key parameters of one head, J = 256",
            "I, width of a head",
            "parameters",
            (
                Curve("2IJ, two factors", widths, 512 * widths),
                Curve("J², folded", widths, np.full(256, 256**2), "dashes"),
            ),
        )
    ]
    findings = [
        "At d = 256 and 8 heads folding costs 524,288 against 131,072 parameters per layer; two factors cap the rank "
        "at 32.",
    ]
    if settings.run is None:
        draws = [np.linalg.svd(fold(*rng.standard_normal((2, 32, 256))), compute_uv=False)[:48] for _ in range(8)]
        mean = Curve("mean of 8", np.arange(1, 49), np.maximum(np.mean(draws, axis=0), 1e-12))
        title = "Singular values of W̃ from random factors (I = 32, J = 256)"
        panels.append(Panel(title, "number", "singular value", (mean,)))
        findings.append("The spectrum ends at I = 32. For a trained model's own: loci lab folding --run RUN.")
    else:
        more, extra = _of_run(settings)
        findings += more
        panels += extra
    return LabResult(
        tuple(findings),
        ("J", "heads", "I", "2IJ × heads", "J² × heads", "break-even I", "rank cap"),
        tuple(rows),
        tuple(panels),
        settings.seed,
    )


def _of_run(settings: LabSettings) -> tuple[list[str], list[Panel]]:
    from loci.attention_lab.qk_spectra import cut_rank, folding_error, qk_spectra
    from loci.evaluation.asking import ask_rows
    from loci.evaluation.metrics import exact_match
    from loci.text.questions import Questions
    from loci.training.checkpoint import load_model

    assert settings.run is not None
    loaded = load_model(settings.run)
    spectra = qk_spectra(loaded.model)
    numbers = np.arange(1, spectra.shape[-1] + 1)
    layers = (spectra / spectra.sum(axis=-1, keepdims=True)).mean(axis=1)
    curves = tuple(Curve(f"layer {i}", numbers, layer) for i, layer in enumerate(layers, start=1))
    title = "Singular values of W̃ in the run, as shares, mean of each layer's heads"
    panels = [Panel(title, "number", "share", curves)]
    ranks = [float(np.mean([scaling.effective_rank(head) for head in layer])) for layer in spectra]
    said = ", ".join(f"layer {i + 1} {rank:.1f}" for i, rank in enumerate(ranks))
    findings = [f"Effective rank of the run's heads, of {spectra.shape[-1]}: {said}.", folding_error(loaded.model)]
    if settings.questions is not None:
        steps = sorted({0, 1, 2, 4, 8, 16, 32, 64, spectra.shape[-1]} & set(range(spectra.shape[-1] + 1)))
        asked = Questions.read(settings.questions)
        cut = [dataclasses.replace(loaded, model=cut_rank(loaded.model, rank)) for rank in steps]
        rates = [exact_match(ask_rows(run, asked)) for run in cut]
        low, high = [rate.low for rate in rates], [rate.high for rate in rates]
        kept = Curve("exact match", steps, [rate.value for rate in rates], low=low, high=high)
        panels.append(Panel("Answers still right when every head is cut to a rank", "rank", "exact match", (kept,)))
        shares = ", ".join(f"{s}: {100 * r.value:.1f} %" for s, r in zip(steps, rates, strict=True))
        findings.append(f"Exact match by rank: {shares}.")
    return findings, panels


TEMPERATURE = Exercise(
    "components of unit variance make h·e of variance I, so β = 1/√I; without it attention starts frozen",
    "A score is the inner product of a query h and a key e with I components. What is its variance when the components "
    "are independent with mean 0 and variance 1, and by which β must it be multiplied to have variance 1? What happens "
    "to attention over n keys without that factor?",
    {
        r"h, e \in \mathbb{R}^I": "a query and a key with independent components of mean 0 and variance 1",
        r"I": "the width of a head",
        r"\beta": "the factor on the scores, the inverse temperature",
        r"n": "the number of keys",
        r"H": "the entropy of the attention weights, in nats",
    },
    {
        "The I products are uncorrelated, each of variance 1.": r"\operatorname{Var}(h \cdot e) = \sum_{i=1}^I "
        r"\operatorname{E}[h_i^2]\operatorname{E}[e_i^2] = I",
        "Hence the factor.": r"\operatorname{Var}(\beta\, h \cdot e) = \beta^2 I = 1 \iff \beta = \frac{1}{\sqrt{I}}",
        "Entropy over many keys with scores of variance σ²; beyond I* = 2 ln n unscaled attention freezes.": r"H "
        r"\approx \ln n - \tfrac{1}{2}\sigma^2 \quad (\sigma^2 < 2 \ln n)",
    },
    scaled,
)
FOLDING = Exercise(
    "W̃ = W_QᵀW_K/√I gives the same scores from J² parameters per head against 2IJ: equal at I = J/2",
    "Scores use the query and key matrices only through their product. Write it as one matrix W̃. How many parameters "
    "does each form have, when are they equal, and what does the folded form gain?",
    {
        r"x_1, x_2 \in \mathbb{R}^J": "two inputs",
        r"W_Q, W_K \in \mathbb{R}^{I \times J}": "query and key matrices of one head",
        r"\widetilde{W}": "the folded matrix",
        r"I, J": "the width of a head and of the model",
    },
    {
        "The same scores from one matrix.": r"\frac{1}{\sqrt{I}}(W_Q x_1) \cdot (W_K x_2) = "
        r"x_1^\top \widetilde{W} x_2, \qquad \widetilde{W} = \frac{W_Q^\top W_K}{\sqrt{I}}",
        "Two factors are smaller below I = J/2, and cap the rank.": r"2IJ < J^2 \iff I < \tfrac{1}{2}J, \qquad "
        r"\operatorname{rank} \widetilde{W} \le I",
    },
    folded,
)
