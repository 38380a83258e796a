"""Self-attention as designed in the exercise: three inputs, and matrices that copy one symbol out of a sum.

Inputs are written as sums of symbols, `d+b`, `a`, `2c - 0.5b`, and turned into coefficients and into vectors. Symbols
are mutually orthogonal vectors u_a, u_b, … of one length β. Attention here is one head without positions: c_i = Σ_j
softmax_j((Q x_i)·(K x_j)) V x_j, all inputs visible. Knows nothing of how matrices are found (`solver`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from loci.attention_lab.distribution import Array, orthonormal, require_beta, softmax
from loci.errors import LociError

_TERM = re.compile(r" ?([+-]?) ?(\d+(?:\.\d+)?)? ?\*? ?([A-Za-z]\w*)")

Sum = dict[str, float]


def parse_sum(text: str) -> Sum:
    """`d + 2b` → {"d": 1, "b": 2}; `0` is the zero vector."""
    text = " ".join(text.split())
    if text == "0":
        return {}
    terms: Sum = {}
    at = 0
    while at < len(text):
        match = _TERM.match(text, at)
        if match is None or (at and not match[1]):
            raise LociError(
                f"{text!r} is not a sum of symbols: cannot read {text[at:].strip()!r}",
                remedy="write for example d+b, a-2c or 0",
            )
        sign = -1.0 if match[1] == "-" else 1.0
        terms[match[3]] = terms.get(match[3], 0.0) + sign * float(match[2] or 1)
        at = match.end()
    if not terms:
        raise LociError("an empty text is not a sum of symbols", remedy="write for example d+b, a-2c or 0")
    return terms


def parse_inputs(text: str) -> list[Sum]:
    """`d+b, a, c+b` → one sum per position."""
    return [parse_sum(part) for part in text.split(",")]


def parse_requests(text: str) -> dict[int, Sum]:
    """`2=b, 1=b-c` → position → wanted output; positions count from 1, as in c_1 and c_2."""
    requests: dict[int, Sum] = {}
    for part in text.split(","):
        position, equals, wanted = part.partition("=")
        if not equals or not position.strip().isdecimal():
            raise LociError(f"{part.strip()!r} is not a request", remedy="write for example 2=b: output 2 is to be u_b")
        if int(position) in requests:
            raise LociError(f"output {int(position)} is requested twice")
        requests[int(position)] = parse_sum(wanted)
    return requests


def show_sum(terms: Mapping[str, float]) -> str:
    """{"b": 1, "c": -1} → `b − c`."""
    parts: list[str] = []
    for name, factor in terms.items():
        if factor == 0:
            continue
        size = "" if abs(factor) == 1 else f"{abs(factor):g}"
        sign = ("− " if parts else "−") if factor < 0 else ("+ " if parts else "")
        parts.append(f"{sign}{size}{name}")
    return " ".join(parts) or "0"


def symbols_of(sums: Sequence[Sum]) -> tuple[str, ...]:
    """All symbols that occur, sorted."""
    return tuple(sorted({name for terms in sums for name in terms}))


def coefficients(sums: Sequence[Sum], symbols: Sequence[str]) -> Float[Array, "n m"]:
    """One row per sum, one column per symbol."""
    return np.array([[terms.get(name, 0.0) for name in symbols] for terms in sums], dtype=np.float64)


EXERCISE_SYMBOLS = ("a", "b", "c", "d")
EXERCISE_INPUTS: tuple[Sum, ...] = ({"d": 1.0, "b": 1.0}, {"a": 1.0}, {"c": 1.0, "b": 1.0})
EXERCISE_REQUESTS: dict[int, Sum] = {2: {"b": 1.0}, 1: {"b": 1.0, "c": -1.0}}


@dataclass(frozen=True)
class Head:
    """The three matrices of one head."""

    value: Float[Array, "d d"]
    key: Float[Array, "d d"]
    query: Float[Array, "d d"]


def self_attention(inputs: Float[Array, "n d"], head: Head) -> tuple[Float[Array, "n n"], Float[Array, "n d"]]:
    """Weights (row i: where position i looks) and outputs."""
    weights = softmax((inputs @ head.query.T) @ (inputs @ head.key.T).T)
    return weights, weights @ inputs @ head.value.T


def symbol_vectors(rng: np.random.Generator, m: int, d: int, beta: float) -> Float[Array, "m d"]:
    """u_1 … u_m: mutually orthogonal, each of length β."""
    return require_beta(beta) * orthonormal(rng, m, d)


def input_vectors(sums: Sequence[Sum], symbols: Sequence[str], vectors: Float[Array, "m d"]) -> Float[Array, "n d"]:
    """The inputs as vectors."""
    return coefficients(sums, symbols) @ vectors


def identity_head(d: int) -> Head:
    """K = Q = V = I: scores are plain products of the inputs.

    In the exercise x_2 = u_a is orthogonal to x_1 and x_3, so it looks at itself with weight e^{β²}/(e^{β²}+2) and
    c_2 ≈ u_a. Adding δu_d to x_2 does not let it copy u_b: x_2·x_2 = β²(1+δ²) against x_2·x_1 = β²δ, and 1 + δ² > δ
    for every real δ (as for u_c and x_3). Position 2 goes on looking at itself, and V = I could only bring u_b
    together with u_d or u_c.
    """
    return Head(np.eye(d), np.eye(d), np.eye(d))


def exercise_head(vectors: Float[Array, "m d"]) -> Head:
    """V = (u_bu_bᵀ − u_cu_cᵀ)/β², K = I, Q = (u_du_aᵀ + u_cu_dᵀ)/β² give c_2 ≈ u_b and c_1 ≈ u_b − u_c.

    Q x_2 = u_d, whose product is β² with x_1 = u_d+u_b and 0 with the rest: c_2 ≈ V x_1 = u_b. Q x_1 = u_c, whose
    product is β² with x_3 = u_c+u_b: c_1 ≈ V x_3 = u_b − u_c. Each weight is e^{β²}/(e^{β²}+2). Q x_3 = 0: position 3
    averages all.
    """
    if vectors.shape[0] != len(EXERCISE_SYMBOLS):
        raise LociError(f"the exercise has four symbols, not {vectors.shape[0]}")
    squared = float(vectors[0] @ vectors[0])
    if squared == 0:
        raise LociError("the symbols have length 0", remedy="take β > 0")
    a, b, c, d = vectors
    return Head(
        value=(np.outer(b, b) - np.outer(c, c)) / squared,
        key=np.eye(vectors.shape[1]),
        query=(np.outer(d, a) + np.outer(c, d)) / squared,
    )
