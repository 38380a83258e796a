"""Inputs written as sums of symbols: `d+b`, `a`, `2c - 0.5b`, turned into coefficients and into vectors.

Symbols are mutually orthogonal vectors u_a, u_b, … of one length β. Knows nothing of attention.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from loci.attention_lab.distribution import Array
from loci.errors import LociError

_TERM = re.compile(r"\s*([+-]?)\s*(\d+(?:\.\d+)?)?\s*\*?\s*([A-Za-z]\w*)")

Sum = dict[str, float]


def parse_sum(text: str) -> Sum:
    """`d + 2b` → {"d": 1, "b": 2}; `0` is the zero vector."""
    if text.strip() == "0":
        return {}
    terms: Sum = {}
    at = 0
    while at < len(text.rstrip()):
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
