"""Could this difference be chance? Tests for two runs on the same questions, and for groups within one.

Exact where that is cheap, sampled from a passed generator where it is not. Knows nothing of what is compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loci.errors import LociError
from loci.evaluation.metrics import Estimate, is_right, scorable
from loci.evaluation.rows import Row

ROUNDS = 2000


def paired(first: Iterable[Row], second: Iterable[Row]) -> list[tuple[Row, Row]]:
    """The scorable rows of two runs on the same questions, in the first run's order.

    A question asked several times is paired in order. No common question is a `LociError`.
    """
    waiting: dict[str, list[Row]] = defaultdict(list)
    for row in scorable(second):
        waiting[row.question].append(row)
    for rows in waiting.values():
        rows.reverse()
    pairs = [(row, waiting[row.question].pop()) for row in scorable(first) if waiting.get(row.question)]
    if not pairs:
        raise LociError("the two runs have no question in common", remedy="evaluate both on the same question file")
    return pairs


@dataclass(frozen=True)
class McNemar:
    """Two runs on the same questions: who got which right, and the exact two-sided probability of such a split."""

    both: int
    only_first: int
    only_second: int
    neither: int
    p_value: float

    @property
    def n(self) -> int:
        """Questions both runs answered."""
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def difference(self) -> float:
        """Exact match of the second minus the first."""
        return (self.only_second - self.only_first) / self.n


def mcnemar(pairs: Sequence[tuple[Row, Row]]) -> McNemar:
    """The exact binomial test on the questions that only one of the two got right."""
    from scipy.stats import binomtest

    table = np.zeros((2, 2), dtype=np.int64)
    for a, b in pairs:
        table[int(is_right(a)), int(is_right(b))] += 1
    only_first, only_second = int(table[1, 0]), int(table[0, 1])
    differing = only_first + only_second
    p_value = float(binomtest(only_first, differing).pvalue) if differing else 1.0
    return McNemar(int(table[1, 1]), only_first, only_second, int(table[0, 0]), p_value)


def paired_bootstrap(result: McNemar, rng: np.random.Generator, rounds: int = ROUNDS) -> Estimate:
    """The difference in exact match (second − first) with the interval of resampled questions.

    A question counts +1, −1 or 0, so resampling questions is a multinomial draw of the three counts.
    """
    counts = np.array([result.only_second, result.only_first, result.both + result.neither])
    drawn = rng.multinomial(result.n, counts / result.n, size=rounds)
    low, high = np.quantile((drawn[:, 0] - drawn[:, 1]) / result.n, [0.025, 0.975])
    return Estimate(result.difference, float(low), float(high), result.n)


def repeated_difference(
    models: Sequence[Sequence[tuple[Row, Row]]], rng: np.random.Generator, rounds: int = ROUNDS
) -> tuple[Estimate, float]:
    """`mcnemar` and `paired_bootstrap` where several pairs of models answer the same questions: second − first, and p.

    Answers to one question are alike, so a question with the mean of its differences is what is drawn again, and what
    changes its sign at random where nothing differs.
    """
    if len(models) == 1:
        test = mcnemar(models[0])
        return paired_bootstrap(test, rng, rounds), test.p_value
    each = np.array([[int(is_right(b)) - int(is_right(a)) for a, b in pairs] for pairs in models]).mean(axis=0)
    n, seen = len(each), float(each.mean())
    low, high = np.quantile(each[rng.integers(0, n, (rounds, n))].mean(axis=1), [0.025, 0.975])
    differing = each[each != 0]
    flipped = rng.choice([-1.0, 1.0], (10 * rounds, len(differing))) @ differing / n
    p_value = ((np.abs(flipped) >= abs(seen) - 1e-9).sum() + 1) / (len(flipped) + 1)
    return Estimate(seen, float(low), float(high), n), float(p_value)


def bootstrap(
    statistic: Callable[[NDArray[np.int64]], float], n: int, rng: np.random.Generator, rounds: int | None = None
) -> Estimate:
    """`statistic` of all rows, given as indices, with the interval of resampled rows.

    By default fewer rounds for more rows: a large sample needs them less, and nobody wants to wait.
    """
    rounds = rounds or int(np.clip(10_000_000 // max(1, n), 100, 1000))
    values = np.array([statistic(rng.integers(0, n, n)) for _ in range(rounds)])
    low, high = np.quantile(values, [0.025, 0.975])
    return Estimate(statistic(np.arange(n)), float(low), float(high), n)


@dataclass(frozen=True)
class GroupTest:
    """Whether a share differs between groups."""

    method: str
    p_value: float


def shares_differ(successes: Sequence[int], totals: Sequence[int], rng: np.random.Generator) -> GroupTest:
    """Fisher's exact test for two groups; for more, chi-square, or a permutation test where cells are small."""
    from scipy.stats import chi2_contingency, fisher_exact

    hits = np.array(successes, dtype=np.int64)
    sizes = np.array(totals, dtype=np.int64)
    hits, sizes = hits[sizes > 0], sizes[sizes > 0]
    table = np.stack([hits, sizes - hits], axis=1)
    if len(sizes) < 2 or (table.sum(axis=0) == 0).any():
        return GroupTest("none", 1.0)
    if len(sizes) == 2:
        return GroupTest("Fisher", float(fisher_exact(table).pvalue))
    expected = sizes[:, None] * table.sum(axis=0) / table.sum()
    if expected.min() >= 5:
        return GroupTest("chi-square", float(chi2_contingency(table, correction=False).pvalue))
    # Dealing the hits out to the groups at random is one multivariate hypergeometric draw.
    drawn = rng.multivariate_hypergeometric(sizes, int(hits.sum()), size=10 * ROUNDS, method="marginals")
    share = hits.sum() / sizes.sum()
    spread = ((drawn - sizes * share) ** 2 / sizes).sum(axis=1)
    seen = ((hits - sizes * share) ** 2 / sizes).sum()
    # The table itself counts as one draw, so that the probability is never 0; 1e-9 forgives rounding among equals.
    return GroupTest("permutation", float(((spread >= seen - 1e-9).sum() + 1) / (len(spread) + 1)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: each probability adjusted for the number of tests made, in the order given."""
    p = np.array(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    result = np.empty_like(p)
    result[order] = np.minimum(adjusted, 1.0)
    return [float(value) for value in result]
