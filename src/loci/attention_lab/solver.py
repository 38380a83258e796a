"""Find V, K, Q for requested outputs of one self-attention head, or say why there are none.

The class that is solved, exactly: inputs x_i = Σ_s X_is u_s over mutually orthogonal symbols of length β; one head
without positions; every *requested* position attends evenly to one set of inputs (at most `largest_set` different
ones), all other weight vanishing as β grows; V, K, Q are any real matrices. Within the class the answer is complete:
the value map is a linear system, the score map a linear program, and all assignments of sets to positions are
searched.

Two of the reasons hold for every attention head, not only for this class, and are marked so:
- equal inputs get equal outputs: c_i depends on x_i and the inputs as a set;
- Y = A·X·Vᵀ for the weights A, so the requested outputs have at most the rank of the inputs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import linprog

from loci.attention_lab.design import Head, Sum, coefficients, show_sum, symbols_of
from loci.attention_lab.distribution import Array
from loci.errors import LociError

TOLERANCE = 1e-7
SEARCH_LIMIT = 2_000
#: Assignments whose solutions are compared for simplicity; beyond them the best so far is taken.
COMPARED = 200


@dataclass(frozen=True)
class Solution:
    """A head in the coordinates of the symbols (unit length), and which inputs each requested position attends to."""

    symbols: tuple[str, ...]
    head: Head
    attended: dict[int, tuple[int, ...]]

    def in_space(self, vectors: Float[Array, "m d"]) -> Head:
        """The head for symbols that are vectors of length β in ℝ^d: each matrix M becomes Σ M_st u_s u_tᵀ / β²."""
        squared = float(vectors[0] @ vectors[0])
        return Head(*(vectors.T @ m @ vectors / squared for m in (self.head.value, self.head.key, self.head.query)))


@dataclass(frozen=True)
class Impossible:
    """Why there is no head; `universal` when no attention head whatsoever does it."""

    reason: str
    universal: bool


def solve(inputs: Sequence[Sum], requests: Mapping[int, Sum], *, largest_set: int = 2) -> Solution | Impossible:
    """A head whose output at each requested position (counted from 1) tends to the wanted sum as β grows.

    K may be the identity without loss: scores are x_iᵀ(QᵀK)x_j, and any matrix W is QᵀK for K = I, Q = Wᵀ. Scores
    lead by at least β², so the weights outside the attended set are at most (n−1)e^{−β²}. Copies are preferred to
    averages, and among them the matrices of least Σ|entry|: they can be read.
    """
    if not inputs or not requests:
        raise LociError("a design needs at least one input and one requested output")
    if bad := [position for position in requests if not 1 <= position <= len(inputs)]:
        raise LociError(f"there is no position {bad[0]}: the {len(inputs)} inputs are 1 to {len(inputs)}")
    if largest_set < 1:
        raise LociError(f"a position attends to at least one input; largest_set is {largest_set}")
    symbols = symbols_of([*inputs, *requests.values()])
    if not symbols:
        raise LociError("no symbol occurs in the inputs or requests", remedy="write for example d+b, a, c+b")
    x = coefficients(inputs, symbols)
    positions = [number - 1 for number in requests]
    y = coefficients(list(requests.values()), symbols)
    if reason := _universal_reason(x, positions, y, inputs, list(requests.values())):
        return Impossible(reason, universal=True)

    classes = _equal_classes(x)
    value_found = False
    for size in range(1, min(largest_set, len(classes)) + 1):
        found, any_value = _simplest(x, positions, y, list(_candidate_sets(classes, size)))
        value_found |= any_value
        if found is not None:
            value, scores, chosen = found
            attended = {number: tuple(j + 1 for j in inside) for number, inside in zip(requests, chosen, strict=True)}
            return Solution(symbols, Head(value=value, key=np.eye(len(symbols)), query=scores.T), attended)
    if not value_found:
        return Impossible(
            f"no V maps the inputs, alone or averaged in sets of up to {largest_set}, to the requested outputs: "
            "each way of attending asks V for two different images of the same sum",
            universal=False,
        )
    return Impossible(
        "V exists, but no scores lead to it: the inputs that would have to be attended to lie in the hull of the "
        "others, or the queries depend on each other and cannot look at different positions",
        universal=False,
    )


def _simplest(
    x: Array, positions: list[int], y: Array, sets: list[tuple[int, ...]]
) -> tuple[tuple[Array, Array, list[tuple[int, ...]]] | None, bool]:
    """The V and W of least Σ|entry| over the assignments, with theirs; and whether any assignment has a V at all."""
    best, least, value_found = None, np.inf, False
    for tried, chosen in enumerate(_assignments(x, y, sets)):
        value_found = True
        if tried >= COMPARED and best is not None:
            break
        if tried >= SEARCH_LIMIT:
            remedy = "ask for fewer inputs, outputs or a smaller largest_set"
            raise LociError(f"undecided after {SEARCH_LIMIT:,} assignments", remedy=remedy)
        value = _sparse_map(np.stack([x[list(inside)].mean(axis=0) for inside in chosen]), y)
        if (cost := np.abs(value).sum()) >= least:  # the scores can only add to it
            continue
        if (scores := _score_map(x, positions, chosen)) is None:
            continue
        cost += np.abs(scores).sum()
        if cost < least - TOLERANCE:
            best, least = (value, scores, chosen), cost
    return best, value_found


def _universal_reason(x: Array, positions: list[int], y: Array, inputs: Sequence[Sum], wanted: list[Sum]) -> str | None:
    for (i, first), (j, second) in itertools.combinations(enumerate(positions), 2):
        if np.allclose(x[first], x[second]) and not np.allclose(y[i], y[j]):
            return (
                f"inputs {first + 1} and {second + 1} are equal ({show_sum(inputs[first])}), but their outputs are to "
                f"differ ({show_sum(wanted[i])}, {show_sum(wanted[j])}): attention without positions cannot tell them "
                "apart"
            )
    rank_x, rank_y = int(np.linalg.matrix_rank(x)), int(np.linalg.matrix_rank(y))
    if rank_y > rank_x:
        return (
            f"the requested outputs span {rank_y} dimensions, the inputs {rank_x}: every output is V applied to a "
            "mixture of inputs, so some output lies outside the span of all images"
        )
    return None


def _equal_classes(x: Array) -> list[tuple[int, ...]]:
    """Positions grouped by equal input: attention cannot weigh them differently."""
    groups: dict[tuple[float, ...], list[int]] = {}
    for index, row in enumerate(x):
        groups.setdefault(tuple(np.round(row, 12)), []).append(index)
    return [tuple(group) for group in groups.values()]


def _candidate_sets(classes: list[tuple[int, ...]], largest: int) -> Iterator[tuple[int, ...]]:
    """Smaller sets first, so that a copy is preferred to an average."""
    for size in range(1, largest + 1):
        for group in itertools.combinations(classes, size):
            yield tuple(sorted(itertools.chain.from_iterable(group)))


def _assignments(x: Array, y: Array, sets: list[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
    """Every choice of one set a request for which a linear V exists, cheapest first within each branch."""
    averages = np.stack([x[list(chosen)].mean(axis=0) for chosen in sets])

    def extend(chosen: list[int]) -> Iterator[list[int]]:
        if len(chosen) == len(y):
            yield chosen
            return
        for candidate in range(len(sets)):
            longer = [*chosen, candidate]
            if _linear_map_exists(averages[longer], y[: len(longer)]):
                yield from extend(longer)

    for chosen in extend([]):
        yield [sets[index] for index in chosen]


def _linear_map_exists(sources: Array, images: Array) -> bool:
    """Whether a linear map takes every source row to its image row: the images keep each dependency of the sources."""
    fitted = sources @ (np.linalg.pinv(sources) @ images)
    return bool(np.abs(fitted - images).max() < TOLERANCE)


def _sparse_map(sources: Array, images: Array) -> Array:
    """The map of least Σ|entry| with map @ source = image, row by row of the map."""
    none = np.zeros((0, sources.shape[1]))
    rows = [_least_solution(sources, column, none) for column in images.T]
    found: Array = np.stack([row for row in rows if row is not None])
    assert len(found) == len(rows), "an assignment for which a map exists was chosen"
    return found


def _score_map(x: Array, positions: list[int], chosen: list[tuple[int, ...]]) -> Array | None:
    """W with x_iᵀWx_j level on each attended set and at least 1 below outside it, of least Σ|entry|; or None."""
    n, m = x.shape
    # Row of the program for "position i prefers first to j": x_iᵀ W (x_first − x_j), linear in the entries of W.
    level, lead = (
        [
            np.outer(x[position], x[inside[0]] - x[j]).ravel()
            for position, inside in zip(positions, chosen, strict=True)
            for j in range(n)
            if (j in inside) == wanted
        ]
        for wanted in (True, False)
    )
    scores = _least_solution(np.stack(level), np.zeros(len(level)), np.reshape(lead, (-1, m * m)))
    return None if scores is None else scores.reshape(m, m)


def _least_solution(
    equal: Float[Array, "r k"], right: Float[Array, "r"], at_least_one: Float[Array, "p k"]
) -> Float[Array, "k"] | None:
    """The x of least Σ|x| with `equal` @ x = `right` and `at_least_one` @ x ≥ 1, or None when there is none.

    x is the difference of two non-negative vectors, which makes the sum of absolute values linear. Least Σ|x| means few
    entries that are not zero, so that what is found can be read.
    """
    size = equal.shape[1]
    answer = linprog(
        np.ones(2 * size),
        A_ub=-np.hstack([at_least_one, -at_least_one]),
        b_ub=-np.ones(len(at_least_one)),
        A_eq=np.hstack([equal, -equal]),
        b_eq=right,
        bounds=(0, None),
    )
    return answer.x[:size] - answer.x[size:] if answer.success and answer.x is not None else None
