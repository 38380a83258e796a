"""What a run says about everybody, about strangers and in other wordings, computed from rows.

Pure functions of rows. Knows nothing of trainings or pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loci.answering.answer import NEVER_READ
from loci.evaluation.calibration import auroc
from loci.evaluation.metrics import Estimate, Rate, wilson
from loci.evaluation.outcomes import Outcomes
from loci.evaluation.rows import Row


@dataclass(frozen=True)
class Stranger:
    """Answers about one kind of names that nobody wrote about."""

    answered: Rate
    auroc: Estimate
    """How often a right answer's subject is more familiar than a stranger."""


@dataclass(frozen=True)
class StrangersResult:
    """All figures of one run."""

    run: str
    parameters: int
    characters: int
    people: Mapping[str, Outcomes]
    right_or_wrong: Estimate
    """AUROC of the probability of held-out people's answers, right against wrong."""
    ece: float
    strangers: Mapping[str, Stranger]
    wordings: Mapping[str, Outcomes]
    """Held-out people in each wording; in those of another question every answer given is wrong."""
    quick: bool = False


def stranger(familiar: Sequence[float], answered: Sequence[bool], told: Sequence[Row]) -> Stranger:
    """Strangers of one kind, how familiar they are and whether they got an answer, against people it is right about."""
    own = [1 - dict(row.reasons).get(NEVER_READ, 0.0) for row in told if row.correct]
    scores = np.array([*own, *familiar])
    return Stranger(wilson(sum(answered), len(answered)), auroc(scores, np.arange(len(scores)) < len(own)))
