"""Linear demands and their least solution: the one linear program the lab needs. Knows nothing of attention."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.optimize import linprog

from loci.attention_lab.distribution import Array


def least_solution(
    *,
    at_least_one: Float[Array, "p k"] | None = None,
    equal: tuple[Float[Array, "r k"], Float[Array, "r"]] | None = None,
    size: int,
) -> Float[Array, "k"] | None:
    """The x of least Σ|x| with `at_least_one` @ x ≥ 1 and `equal[0]` @ x = `equal[1]`, or None when there is none.

    x is the difference of two non-negative vectors, which makes the sum of absolute values linear. Least Σ|x| means few
    entries that are not zero, so that what is found can be read.
    """
    ub = at_least_one if at_least_one is not None else np.zeros((0, size))
    eq, right = equal if equal is not None else (np.zeros((0, size)), np.zeros(0))
    answer = linprog(
        np.ones(2 * size),
        A_ub=-np.hstack([ub, -ub]),
        b_ub=-np.ones(len(ub)),
        A_eq=np.hstack([eq, -eq]),
        b_eq=right,
        bounds=(0, None),
    )
    if not answer.success or answer.x is None:
        return None
    found: Array = answer.x[:size] - answer.x[size:]
    return found
