"""Self-attention made to order: the exercise's matrices, and a solver for any request."""

from __future__ import annotations

import numpy as np

from loci.attention_lab.design import (
    EXERCISE_INPUTS,
    EXERCISE_REQUESTS,
    EXERCISE_SYMBOLS,
    Head,
    exercise_head,
    identity_head,
    place,
    self_attention,
    symbol_vectors,
)
from loci.attention_lab.exercises.result import Cell, LabResult, LabSettings, MatrixPanel, Panel, curve, matrix_panel
from loci.attention_lab.solver import Impossible, solve
from loci.attention_lab.symbols import parse_inputs, parse_requests, show_sum

BETA = 4.0
DESIGN = "V = (u_bu_bᵀ−u_cu_cᵀ)/β², K = I, Q = (u_du_aᵀ+u_cu_dᵀ)/β² give c_2 ≈ u_b and c_1 ≈ u_b−u_c"
SOLVE = "V, K, Q for requested outputs of one head, or the reason why there are none"


def design(settings: LabSettings) -> LabResult:
    """The exercise's three inputs under K = Q = V = I and under the designed matrices."""
    rng = settings.rng()
    d = 8
    vectors = symbol_vectors(rng, 4, d, BETA)
    inputs = place(EXERCISE_INPUTS, EXERCISE_SYMBOLS, vectors)
    names = [f"x_{i + 1} = {show_sum(terms)}" for i, terms in enumerate(EXERCISE_INPUTS)]
    rows: list[tuple[Cell, ...]] = []
    panels: list[Panel | MatrixPanel] = []
    for title, head in (("K = Q = V = I", identity_head(d)), ("designed", exercise_head(vectors))):
        weights, outputs = self_attention(inputs, head)
        shares = outputs @ vectors.T / BETA**2
        rows += [
            (title, f"c_{i + 1}", *(round(float(value), 4) + 0.0 for value in row)) for i, row in enumerate(shares)
        ]
        panels.append(
            matrix_panel(f"Where each position looks: {title}", names, names, weights, "attended", "attending")
        )
    betas = np.linspace(0.25, 4, 61)
    errors: dict[str, list[float]] = {"c_2 from u_b": [], "c_1 from u_b − u_c": []}
    for beta in betas:
        scaled = vectors * float(beta) / BETA
        _, outputs = self_attention(place(EXERCISE_INPUTS, EXERCISE_SYMBOLS, scaled), exercise_head(scaled))
        wanted = (scaled[1], scaled[1] - scaled[2])
        for name, output, target in zip(errors, (outputs[1], outputs[0]), wanted, strict=True):
            errors[name].append(float(np.linalg.norm(output - target) / np.linalg.norm(target)))
    panels.append(
        Panel(
            "How far the designed outputs are off",
            "β, the length of the symbols",
            "relative error",
            tuple(curve(name, betas, np.maximum(values, 1e-16)) for name, values in errors.items()),
            log_y=True,
        )
    )
    return LabResult(
        "design",
        DESIGN,
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
    inputs = parse_inputs(settings.inputs) if settings.inputs is not None else list(EXERCISE_INPUTS)
    requests = parse_requests(settings.outputs) if settings.outputs is not None else dict(EXERCISE_REQUESTS)
    answer = solve(inputs, requests)
    asked = "; ".join(f"x_{i + 1} = {show_sum(terms)}" for i, terms in enumerate(inputs))
    wanted = "; ".join(f"c_{i} = {show_sum(terms)}" for i, terms in sorted(requests.items()))
    question = f"Given {asked}. Wanted {wanted}."
    if isinstance(answer, Impossible):
        scope = (
            "No attention head whatsoever does this"
            if answer.universal
            else "No head does this whose positions each attend evenly to at most two different inputs"
        )
        return LabResult("solve", SOLVE, (question, f"{scope}: {answer.reason}."), ("matrix", "entry", "value"), ())
    vectors = symbol_vectors(settings.rng(), len(answer.symbols), len(answer.symbols) + 2, BETA)
    weights, outputs = self_attention(place(inputs, answer.symbols, vectors), answer.in_space(vectors))
    shares = outputs @ vectors.T / BETA**2
    found = "; ".join(
        f"c_{i} = {show_sum({name: round(float(v), 3) for name, v in zip(answer.symbols, shares[i - 1], strict=True)})}"
        for i in sorted(requests)
    )
    looks = "; ".join(
        f"position {i} attends to {' and '.join(f'x_{j}' for j in targets)}"
        for i, targets in sorted(answer.attended.items())
    )
    names = [f"x_{i + 1} = {show_sum(terms)}" for i, terms in enumerate(inputs)]
    symbols = [f"u_{name}" for name in answer.symbols]
    return LabResult(
        "solve",
        SOLVE,
        (
            question,
            f"Found: {looks}. At β = {BETA:g}: {found}. K = I; the entries are the factors of each u_s u_tᵀ / β².",
        ),
        ("matrix", "entry", "value"),
        tuple(_entries(answer.head, answer.symbols)),
        (
            matrix_panel("Where each position looks", names, names, weights, "attended", "attending"),
            matrix_panel("V", symbols, symbols, answer.head.value, "takes", "gives"),
            matrix_panel("Q", symbols, symbols, answer.head.query, "takes", "gives"),
        ),
        settings.seed,
    )


def _entries(head: Head, symbols: tuple[str, ...]) -> list[tuple[Cell, ...]]:
    """Every entry that is not zero, as u_s u_tᵀ."""
    return [
        (name, f"u_{symbols[s]} u_{symbols[t]}ᵀ", round(float(matrix[s, t]), 4))
        for name, matrix in (("V", head.value), ("Q", head.query))
        for s, t in np.argwhere(np.abs(matrix) > 1e-9)
    ]
