"""A run's probabilities are brought back to what the labeler gave its labels."""

import numpy as np
import pytest
from scipy.special import expit, logit

from loci.answering.answer import Answer
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
