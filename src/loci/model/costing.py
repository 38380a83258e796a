"""The arithmetic of costs: what a matrix product, a linear layer or a norm takes, as numbers that add up.

Each class on an axis states its own cost with these; `loci.model.cost` puts a model together. All figures are for
one sequence. Knows nothing of models.

The conventions, which the tests hold against PyTorch's own counters:
- flops: 2·n·k·m for an (n, k)·(k, m) product, masked parts included; elementwise work is not counted.
- kept: the numbers that training without dropout keeps from the forward for the backward pass. An operation counts its
  inputs, unless the one before counted them as its output.
- cached: the numbers that generation remembers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Parameters, forward FLOPs, numbers kept for the backward pass, numbers remembered by generation."""

    parameters: int = 0
    flops: int = 0
    kept: int = 0
    cached: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.parameters + other.parameters,
            self.flops + other.flops,
            self.kept + other.kept,
            self.cached + other.cached,
        )


def total(*costs: Cost) -> Cost:
    """The sum."""
    result = Cost()
    for cost in costs:
        result += cost
    return result


def product_flops(rows: int, inner: int, columns: int) -> int:
    """One matrix product."""
    return 2 * rows * inner * columns


def linear(length: int, n_in: int, n_out: int, *, bias: bool = True) -> Cost:
    """A linear layer on `length` vectors; it keeps its input."""
    return Cost(
        parameters=n_in * n_out + (n_out if bias else 0), flops=product_flops(length, n_in, n_out), kept=length * n_in
    )


def scores(n_queries: int, n_keys: int, width: int, *, heads: int) -> Cost:
    """Inner products of queries and keys; the operands are counted where they are made."""
    return Cost(flops=heads * product_flops(n_queries, width, n_keys))


def mixing(n_queries: int, n_keys: int, width: int, *, heads: int) -> Cost:
    """A softmax, whose result is kept, and the weighted sums of the values."""
    return Cost(flops=heads * product_flops(n_queries, n_keys, width), kept=heads * n_queries * n_keys)
