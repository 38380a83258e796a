import math

import numpy as np
import pytest

from loci.errors import LociError
from loci.evaluation.abstention import (
    ConformalThreshold,
    answer_set,
    conformal_quantile,
    score_sets,
    simulated_coverage,
    true_probabilities,
)
from loci.evaluation.rows import Row


def world(n, rng, places=20, kept=20):
    """Rows of a model whose candidates carry honest or dishonest probabilities; the truth is drawn from other ones."""
    rows = []
    for i in range(n):
        p = rng.dirichlet(np.full(places, 0.2))
        truth = rng.choice(places, p=p)
        claimed = p**2 / (p**2).sum()  # too sure of itself
        order = np.argsort(-claimed)[:kept]
        names = [f"place {j}" for j in order]
        chances = [float(claimed[j]) for j in order]
        rows.append(
            Row(
                f"q{i}",
                names[0],
                answers=(f"place {truth}",),
                probability=chances[0],
                alternatives=tuple(zip(names[1:], chances[1:], strict=True)),
            )
        )
    return rows


def test_hand_worked_quantile():
    truth = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
    # ⌈10 · 0.9⌉ = 9: the ninth largest
    assert conformal_quantile(truth, 0.9) == pytest.approx(0.1)
    assert conformal_quantile(truth, 0.5) == pytest.approx(0.5)
    assert conformal_quantile(truth, 0.95) == -math.inf
    with pytest.raises(LociError, match="coverage"):
        conformal_quantile(truth, 1.0)


def test_sets_and_truth():
    row = Row("q", "a", answers=("c", "b"), probability=0.6, alternatives=(("b", 0.3), ("c", 0.05)))
    assert true_probabilities([row]).tolist() == [0.3]
    assert answer_set(row, ConformalThreshold(0.9, 0.3, 10)) == ["a", "b"]
    assert answer_set(row, ConformalThreshold(0.9, 0.7, 10)) == []
    assert answer_set(row, ConformalThreshold(0.9, -math.inf, 10)) is None
    outside = Row("q", "a", answers=("z",), probability=0.6)
    assert true_probabilities([outside]).tolist() == [-math.inf]
    with pytest.raises(LociError, match="no probability"):
        true_probabilities([Row("q", "a", answers=("a",))])


def fit_conformal(rows, coverage):
    truth = true_probabilities(rows)
    return ConformalThreshold(coverage, conformal_quantile(truth, coverage), len(truth))


def test_coverage_holds_by_simulation_although_the_model_is_overconfident():
    rng = np.random.default_rng(0)
    for coverage in (0.8, 0.9):
        covered = [
            score_sets(world(150, rng, 10), fit_conformal(world(100, rng, 10), coverage)).covered.value
            for _ in range(25)
        ]
        mean = np.mean(covered)
        error = np.std(covered) / math.sqrt(len(covered))
        # At least the promise, at most the promise + 1/(n+1), up to sampling error.
        assert coverage - 3 * error <= mean <= coverage + 1 / 101 + 3 * error


def test_simulated_coverage_of_one_file_of_rows():
    estimate = simulated_coverage(
        true_probabilities(world(400, np.random.default_rng(1))), 0.9, np.random.default_rng(2)
    )
    assert 0.88 <= estimate.value <= 0.93
    assert estimate.low < estimate.value < estimate.high
    with pytest.raises(LociError, match="two rows"):
        simulated_coverage(np.array([]), 0.9, np.random.default_rng(0))


def test_a_truth_outside_the_candidates_makes_the_set_of_everything():
    rows = world(200, np.random.default_rng(3), kept=1)
    threshold = fit_conformal(rows, 0.95)
    assert threshold.unbounded
    score = score_sets(rows, threshold)
    assert score.covered.value == 1
    assert math.isnan(score.size.value)


def test_set_scores():
    rows = world(300, np.random.default_rng(4))
    threshold = fit_conformal(rows, 0.9)
    score = score_sets(rows, threshold)
    assert score.covered.value >= 0.9
    assert score.size.value > 1
    assert score.single.successes + score.empty.successes <= 300
