"""Answer sets that hold the truth as often as promised.

Split conformal prediction: on calibration rows, note how little probability the true answer got; a later set holds
every candidate that got at least as much as the promised quantile. If calibration and later rows are exchangeable, the
truth is in the set with at least the promised probability, whatever the model. Candidates are the prediction and its
alternatives; a truth outside them can never be covered, so the promise may need the set of everything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loci.errors import LociError
from loci.evaluation.metrics import Estimate, Rate, mean_estimate, wilson
from loci.evaluation.rows import Row


@dataclass(frozen=True)
class ConformalThreshold:
    """The least probability a candidate needs to be in the set; −inf means the set of everything."""

    coverage: float
    probability: float
    n: int

    @property
    def unbounded(self) -> bool:
        """The promise cannot be kept with the candidates at hand."""
        return self.probability == -math.inf


@dataclass(frozen=True)
class SetScore:
    """How the sets did on rows they were not fitted on."""

    covered: Rate
    size: Estimate
    empty: Rate
    single: Rate


def candidates(row: Row) -> dict[str, float]:
    """The answers the row considered with their probabilities; the prediction first."""
    if row.probability is None:
        raise LociError(
            f"the answer to {row.question!r} has no probability", remedy="answer sets need a probability in every row"
        )
    found = {row.prediction: row.probability}
    for text, p in row.alternatives:
        found.setdefault(text, p)
    return found


def true_probabilities(rows: Sequence[Row]) -> NDArray[np.float64]:
    """The probability each row gave to its truth; −inf where the truth was no candidate, or there is none."""
    values = np.full(len(rows), -math.inf)
    for index, row in enumerate(rows):
        considered = candidates(row)
        values[index] = max((considered.get(answer, -math.inf) for answer in row.answers), default=-math.inf)
    return values


def conformal_quantile(truth: NDArray[np.float64], coverage: float) -> float:
    """The ⌈(n+1)·coverage⌉-th largest value: the +1 is for the row that is still to come."""
    if not 0 < coverage < 1:
        raise LociError(f"a coverage is between 0 and 1, not {coverage!r}")
    # Without the rounding, 0.9 · 10 would be a hair above 9 and cost a rank.
    rank = math.ceil(round((len(truth) + 1) * coverage, 9))
    return -math.inf if rank > len(truth) else float(np.partition(truth, len(truth) - rank)[len(truth) - rank])


def answer_set(row: Row, threshold: ConformalThreshold) -> list[str] | None:
    """The set, likeliest first; None for the set of everything."""
    if threshold.unbounded:
        return None
    kept = [(p, text) for text, p in candidates(row).items() if p >= threshold.probability]
    return [text for _, text in sorted(kept, key=lambda pair: -pair[0])]


def score_sets(rows: Sequence[Row], threshold: ConformalThreshold) -> SetScore:
    """Coverage and size of the sets of rows with answers. An unbounded set covers all and has no size."""
    known = [row for row in rows if row.answers]
    sets = [answer_set(row, threshold) for row in known]
    covered = sum(found is None or any(a in found for a in row.answers) for row, found in zip(known, sets, strict=True))
    sizes = np.array([len(found) for found in sets if found is not None], dtype=np.float64)
    return SetScore(
        wilson(covered, len(known)),
        mean_estimate(sizes),
        wilson(int((sizes == 0).sum()), len(sizes)),
        wilson(int((sizes == 1).sum()), len(sizes)),
    )


def simulated_coverage(
    truth: NDArray[np.float64], coverage: float, rng: np.random.Generator, rounds: int | None = None
) -> Estimate:
    """Mean coverage over random halvings of rows' `true_probabilities`: fit on one half, count on the other.

    The interval is of the halvings' spread (central 95 %), not of the mean.
    """
    n = len(truth)
    rounds = rounds or int(np.clip(4_000_000 // max(1, n), 50, 400))
    if n < 2:
        raise LociError("at least two rows with a known truth are needed to simulate coverage")
    shares = np.empty(rounds)
    for index in range(rounds):
        order = rng.permutation(n)
        quantile = conformal_quantile(truth[order[: n // 2]], coverage)
        shares[index] = (truth[order[n // 2 :]] >= quantile).mean()
    low, high = np.quantile(shares, [0.025, 0.975])
    return Estimate(float(shares.mean()), float(low), float(high), n)
