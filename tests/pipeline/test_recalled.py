"""A run's probabilities are brought back to what the labeler gave its labels, or to how often answers are right."""

import numpy as np
import pytest
from scipy.special import expit, logit

from loci.answering.answer import NEVER_READ, UNREADABLE, Answer
from loci.data.degrees import GIVEN, VALUES
from loci.data.prompts import NOT_TOLD
from loci.pipeline import recalled
from loci.text.questions import Question, Questions


def labels(n: int, degrees: tuple[int, ...]) -> Questions:
    rows = [
        Question(f"Where was P{i} born?", (f"A{i}",), f"P{i}", i + 1, degree=degrees[i % len(degrees)])
        for i in range(n)
    ]
    return Questions(None, tuple(rows))


class Humble:
    """Remembers every label, but says half of its odds."""

    def answer(self, asked: Questions) -> list[Answer]:
        said = [float(expit(logit(VALUES[row.degree]) - np.log(2))) for row in asked.rows]
        return [
            Answer(row.text, row.subject, None, row.answers[0], p, p, True)
            for row, p in zip(asked.rows, said, strict=True)
        ]


@pytest.fixture
def humble(monkeypatch):
    monkeypatch.setattr(recalled, "make_answerer", lambda loaded, threshold: Humble())


def test_what_is_said_too_humbly_is_brought_back(humble):
    fitted = recalled.fit_recalled(None, labels(600, (2, 4, 6, 8)), 0)
    said = logit(np.array(VALUES)[[2, 4, 6, 8]]) - np.log(2)
    found = expit(fitted["slope"] * said + fitted["intercept"])
    assert found == pytest.approx(np.array(VALUES)[[2, 4, 6, 8]], abs=0.03)


def test_given_answers_and_told_silences_do_not_count(humble):
    untold = Questions(None, tuple(Question("?", (NOT_TOLD,), "P", 1, degree=0) for _ in range(200)))
    assert recalled.fit_recalled(None, labels(500, (GIVEN,)), 0) is None
    assert recalled.fit_recalled(None, untold, 0) is None
    assert recalled.fit_recalled(None, labels(recalled.FEWEST - 1, (3,)), 0) is None


def test_a_slope_that_is_rounded_to_nothing_is_no_fit(humble, monkeypatch):
    """Labels that are all as sure as each other have no order to keep; a slope of 0 would be refused by `load`."""
    monkeypatch.setattr(recalled, "fit_logistic", lambda features, right: np.array([4e-5, 3.9]))
    assert recalled.fit_recalled(None, labels(600, (8,)), 0) is None


class Shy:
    """Right as often as odds twice as high as it says; some questions it cannot read, or takes for strangers'."""

    def __init__(self, said=None):
        self.said = said

    def answer(self, asked: Questions) -> list[Answer]:
        rng, found = np.random.default_rng(0), []
        for row in asked.rows:
            p = self.said if self.said is not None else float(rng.uniform(0.3, 0.95))
            right = rng.random() < expit(logit(p) + np.log(2))
            silence = {0: UNREADABLE, 1: NEVER_READ}.get(row.number % 10)
            p, text = (1e-9, "") if silence else (p, row.answers[0] if right else "no")
            found.append(Answer(row.text, row.subject, None, text, p, p, not silence, silence=silence))
        return found


def test_a_reciting_runs_probabilities_are_brought_to_how_often_it_is_right(monkeypatch):
    """Whom it is silent about for another reason than doubt does not count: their 0 would bend the fit."""
    monkeypatch.setattr(recalled, "make_answerer", lambda loaded, threshold: Shy())
    fitted = recalled.fit_recited(None, labels(3000, (3,)))
    said = np.array([0.4, 0.6, 0.8, 0.9])
    found = expit(fitted["slope"] * logit(said) + fitted["intercept"])
    assert found == pytest.approx(expit(logit(said) + np.log(2)), abs=0.04)
    assert recalled.fit_recited(None, labels(recalled.FEWEST, (3,))) is None  # a fifth of them do not count


def test_numbers_that_a_run_could_not_be_loaded_with_are_no_fit(monkeypatch):
    monkeypatch.setattr(recalled, "make_answerer", lambda loaded, threshold: Shy())
    monkeypatch.setattr(recalled, "fit_logistic", lambda features, right: np.array([1405.9, -3093.0]))
    assert recalled.fit_recited(None, labels(600, (3,))) is None
