"""The arithmetic of costs: what a matrix product, a linear layer or a norm takes, as figures that add up.

Each class on an axis states its own cost with these; `loci.model.cost` puts a model together. All figures are for one
sequence. Knows nothing of models.

The conventions, which the tests compare with PyTorch's own counters:
- flops: 2·n·k·m for an (n, k)·(k, m) product, masked parts included; elementwise work is not counted.
- kept: the bytes that training in single precision keeps from the forward pass for the backward pass. Each operation
  counts what it keeps, unless another has counted the same tensor.
- cached: the numbers that generation remembers.
"""

from __future__ import annotations

import operator
from dataclasses import astuple, dataclass

#: Numbers are stored in single precision.
BYTES = 4


@dataclass(frozen=True)
class Cost:
    """Parameters, forward FLOPs, bytes kept for the backward pass, numbers remembered by generation."""

    parameters: int = 0
    flops: int = 0
    kept: int = 0
    cached: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(*map(operator.add, astuple(self), astuple(other)))


def total(*costs: Cost) -> Cost:
    """The sum."""
    return sum(costs, start=Cost())


def keep(numbers: int, *, flags: int = 0) -> Cost:
    """That many numbers, and truth values of a byte each, kept for the backward pass."""
    return Cost(kept=BYTES * numbers + flags)


def products(rows: int, inner: int, columns: int) -> Cost:
    """One matrix product; its operands are counted where they are made."""
    return Cost(flops=2 * rows * inner * columns)


def linear_cost(length: int, n_in: int, n_out: int, *, bias: bool = True, keeps_input: bool = True) -> Cost:
    """A linear layer on `length` vectors. It keeps its input, unless another layer keeps the same."""
    parameters = n_in * n_out + (n_out if bias else 0)
    made = Cost(parameters) + products(length, n_in, n_out)
    return made + keep(length * n_in) if keeps_input else made


def dropout_cost(numbers: int, share: float) -> Cost:
    """Dropout keeps which numbers it kept."""
    return keep(0, flags=numbers) if share else Cost()
