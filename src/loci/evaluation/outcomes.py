"""What became of questions: was the best answer right, was it given rightly or wrongly, or was the run silent, and why.

Rows hold the best answer also where the run was silent. `as_given` and `best_answers` are the two ways to count them,
for every metric that asks whether a row abstained. Knows nothing of models or files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from loci.evaluation.metrics import Estimate, Rate, exact_match, mean_share, scorable, wilson
from loci.evaluation.rows import Row


def as_given(rows: Iterable[Row]) -> list[Row]:
    """The rows as the run answers: abstained wherever it is silent, at its own threshold too."""
    return [replace(row, abstained=True) if row.silent and not row.abstained else row for row in rows]


def best_answers(rows: Iterable[Row]) -> list[Row]:
    """The rows as if the run were never silent."""
    return [replace(row, abstained=False, silence=None) if row.silent else row for row in rows]


@dataclass(frozen=True)
class Silences:
    """How often a reason for silence decided, and its mean probability where it did."""

    rate: Rate
    probability: Estimate


@dataclass(frozen=True)
class Outcomes:
    """What became of the questions about one group of people."""

    right: Rate
    """The best answer is right, given or not; of the questions whose truth is known."""
    answered_rightly: Rate
    answered_wrongly: Rate
    silent: Rate
    silences: Mapping[str, Silences]
    """By the reason that decided; rows that give none are left out."""

    @property
    def right_if_answered(self) -> Rate:
        """Of the answers given."""
        rightly = self.answered_rightly.successes
        return wilson(rightly, rightly + self.answered_wrongly.successes)


def outcomes(rows: Iterable[Row]) -> Outcomes:
    """Best answers and answers given; where nobody could know the answer, any that is not accepted is wrong."""
    rows = list(rows)
    given = as_given(scorable(rows))
    rightly = exact_match(given)
    told = sorted({row.silence for row in rows if row.silence is not None})
    return Outcomes(
        right=exact_match(row for row in best_answers(rows) if row.answers),
        answered_rightly=rightly,
        answered_wrongly=wilson(sum(not row.abstained for row in given) - rightly.successes, len(given)),
        silent=wilson(sum(row.silent for row in rows), len(rows)),
        silences={reason: _silences(reason, rows) for reason in told},
    )


def _silences(reason: str, rows: list[Row]) -> Silences:
    own = [row for row in rows if row.silence == reason]
    found = [p for row in own for told, p in row.reasons if told == reason]
    return Silences(wilson(len(own), len(rows)), mean_share(np.array(found, dtype=np.float64)))
