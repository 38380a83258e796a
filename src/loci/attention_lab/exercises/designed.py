"""Self-attention made to order: the exercise's matrices, and a solver for any request."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from loci.attention_lab import design
from loci.attention_lab.design import EXERCISE_INPUTS, EXERCISE_REQUESTS, EXERCISE_SYMBOLS, Sum, input_vectors, show_sum
from loci.attention_lab.exercises.result import Cell, Curve, Exercise, LabResult, LabSettings, MatrixPanel, Panel
from loci.attention_lab.solver import Impossible, solve

BETA = 4.0
WIDTH = 8


def designed(settings: LabSettings) -> LabResult:
    """The exercise's three inputs under K = Q = V = I and under the designed matrices."""
    vectors = design.symbol_vectors(settings.rng(), 4, WIDTH, BETA)
    inputs = input_vectors(EXERCISE_INPUTS, EXERCISE_SYMBOLS, vectors)
    names = _named("x", enumerate(EXERCISE_INPUTS, start=1))
    rows: list[tuple[Cell, ...]] = []
    panels: list[Panel | MatrixPanel] = []
    for title, head in (("K = Q = V = I", design.identity_head(WIDTH)), ("designed", design.exercise_head(vectors))):
        weights, outputs = design.self_attention(inputs, head)
        shares = outputs @ vectors.T / BETA**2
        rounded = (np.round(shares, 4) + 0.0).tolist()
        rows += [(title, f"c_{i}", *row) for i, row in enumerate(rounded, start=1)]
        looks = f"Where each position looks: {title}"
        panels.append(MatrixPanel(looks, names, names, weights, "attended", "attending"))
    betas = np.linspace(0.25, 4, 61)
    errors: dict[str, list[float]] = {"c_2 from u_b": [], "c_1 from u_b − u_c": []}
    for beta in betas:
        scaled = vectors * float(beta) / BETA
        _, outputs = design.self_attention(
            input_vectors(EXERCISE_INPUTS, EXERCISE_SYMBOLS, scaled), design.exercise_head(scaled)
        )
        wanted = (scaled[1], scaled[1] - scaled[2])
        for name, output, target in zip(errors, (outputs[1], outputs[0]), wanted, strict=True):
            errors[name].append(float(np.linalg.norm(output - target) / np.linalg.norm(target)))
    curves = tuple(Curve(name, betas, np.maximum(values, 1e-16)) for name, values in errors.items())
    off = "How far the designed outputs are off"
    panels.append(Panel(off, "β, the length of the symbols", "relative error", curves, log_y=True))
    return LabResult(
        (
            "With K = Q = V = I position 2 copies itself: c_2 = u_a. No δ added to x_2 helps, since 1 + δ² > δ for "
            "every real δ.",
            f"With the designed matrices c_2 = u_b and c_1 = u_b − u_c, to e^−β² (β = {BETA:g}).",
        ),
        ("matrices", "output", *(f"u_{name}" for name in EXERCISE_SYMBOLS)),
        tuple(rows),
        tuple(panels),
        settings.seed,
    )


def solved(settings: LabSettings) -> LabResult:
    """Find matrices for the inputs and outputs asked for (the exercise's own, if none are)."""
    inputs = design.parse_inputs(settings.inputs) if settings.inputs is not None else list(EXERCISE_INPUTS)
    requests = design.parse_requests(settings.outputs) if settings.outputs is not None else dict(EXERCISE_REQUESTS)
    answer = solve(inputs, requests)
    names = _named("x", enumerate(inputs, start=1))
    question = f"Given {'; '.join(names)}. Wanted {'; '.join(_named('c', sorted(requests.items())))}."
    if isinstance(answer, Impossible):
        these = "head does this whose positions each attend evenly to at most two different inputs"
        scope = f"No {'attention head whatsoever does this' if answer.universal else these}"
        return LabResult((question, f"{scope}: {answer.reason}."), ("matrix", "entry", "value"), ())
    vectors = design.symbol_vectors(settings.rng(), len(answer.symbols), len(answer.symbols) + 2, BETA)
    weights, outputs = design.self_attention(input_vectors(inputs, answer.symbols, vectors), answer.in_space(vectors))
    shares = np.round(outputs @ vectors.T / BETA**2, 3).tolist()
    found = "; ".join(
        _named("c", [(i, dict(zip(answer.symbols, shares[i - 1], strict=True))) for i in sorted(requests)])
    )
    looks = "; ".join(
        f"position {i} attends to {' and '.join(f'x_{j}' for j in targets)}"
        for i, targets in sorted(answer.attended.items())
    )
    symbols = [f"u_{name}" for name in answer.symbols]
    return LabResult(
        (
            question,
            f"Found: {looks}. At β = {BETA:g}: {found}. K = I; the entries are the factors of each u_s u_tᵀ / β².",
        ),
        ("matrix", "entry", "value"),
        tuple(_entries(answer.head, answer.symbols)),
        (
            MatrixPanel("Where each position looks", names, names, weights, "attended", "attending"),
            MatrixPanel("V", symbols, symbols, answer.head.value, "takes", "gives"),
            MatrixPanel("Q", symbols, symbols, answer.head.query, "takes", "gives"),
        ),
        settings.seed,
    )


def _named(letter: str, sums: Iterable[tuple[int, Sum]]) -> list[str]:
    """ "x_1 = d + b" and so on."""
    return [f"{letter}_{number} = {show_sum(terms)}" for number, terms in sums]


def _entries(head: design.Head, symbols: tuple[str, ...]) -> list[tuple[Cell, ...]]:
    """Every entry that is not zero, as u_s u_tᵀ."""
    return [
        (name, f"u_{symbols[s]} u_{symbols[t]}ᵀ", round(float(matrix[s, t]), 4))
        for name, matrix in (("V", head.value), ("Q", head.query))
        for s, t in np.argwhere(np.abs(matrix) > 1e-9)
    ]


SYMBOLS = {
    r"u_a, u_b, u_c, u_d": "mutually orthogonal vectors of length β",
    r"x_1, \dots, x_n": "the inputs, sums of these vectors",
    r"V, K, Q": "value, key and query matrices of one head without positions",
    r"c_i": "the output at position i",
}
ATTENTION = {
    "One head, all inputs visible.": r"c_i = \sum_j \alpha_{ij} V x_j, \qquad "
    r"\alpha_{ij} = \frac{e^{(Q x_i) \cdot (K x_j)}}{\sum_l e^{(Q x_i) \cdot (K x_l)}}"
}
DESIGN = Exercise(
    "V = (u_bu_bᵀ−u_cu_cᵀ)/β², K = I, Q = (u_du_aᵀ+u_cu_dᵀ)/β² give c_2 ≈ u_b and c_1 ≈ u_b−u_c",
    "Given x_1 = u_d + u_b, x_2 = u_a, x_3 = u_c + u_b. What is c_2 when K, Q and V are the identity, and can adding "
    "u_c or u_d to x_2 make it copy u_b? Find V, K, Q that give c_2 ≈ u_b and c_1 ≈ u_b − u_c.",
    SYMBOLS,
    ATTENTION
    | {
        "V keeps u_b and turns u_c around.": r"V = \frac{u_b u_b^\top - u_c u_c^\top}{\beta^2}, \qquad K = I",
        "Position 2 looks for u_d, position 1 for u_c.": r"Q = \frac{u_d u_a^\top + u_c u_d^\top}{\beta^2}",
        "What comes out, up to weights of order e^{−β²}.": r"c_2 \approx V x_1 = u_b, \qquad c_1 \approx V x_3 = "
        r"u_b - u_c",
    },
    designed,
)
SOLVE = Exercise(
    "V, K, Q for requested outputs of one head, or the reason why there are none",
    "Given inputs and wanted outputs, find matrices of one head that produce them, or say why there are none.",
    SYMBOLS | {r"W = Q^\top K": "the matrix of the scores", r"S_i": "the inputs that position i attends to"},
    ATTENTION
    | {
        "V is a linear system: each wanted output is V applied to the mean of the inputs attended to.": r"V \cdot "
        r"\frac{1}{|S_i|} \sum_{j \in S_i} x_j = c_i",
        "The scores are a linear program: the inputs attended to lead all others.": r"x_i^\top W x_j \ge x_i^\top W "
        r"x_l + \beta^2 \qquad j \in S_i,\ l \notin S_i",
    },
    solved,
)
