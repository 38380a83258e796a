"""Everything that can be said of one system from its rows, in one object.

Calls the other modules of evaluation in turn; what cannot be known from the rows and the context at hand is None. Knows
nothing of files, pages or other systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from loci.answering.confidence import RunCalibration
from loci.evaluation.bias import GroupReport, OriginMatch, Popularity, group_report, popularity, stereotype
from loci.evaluation.error_kinds import (
    ErrorClassifier,
    ErrorFunnel,
    ErrorKind,
    error_funnel,
    kinds_by_split,
    nearest_name_by_chance,
)
from loci.evaluation.metrics import Rate, by_split, has_probabilities, rows_by_relation, scorable
from loci.evaluation.outcomes import Outcomes, as_given, outcomes
from loci.evaluation.rows import TAUGHT, UNKNOWABLE, Row
from loci.evaluation.selective import SelectivePrediction, selective_prediction
from loci.text.corpus import Corpus


@dataclass(frozen=True)
class Context:
    """What is known apart from the rows."""

    known: Mapping[str, str] = field(default_factory=dict)
    """Subject → answer, of the people the model was taught about."""
    corpus: Corpus | None = None
    vectors: Mapping[str, NDArray[np.floating]] | None = None
    """Name → the model's own vector of it."""
    window: int | None = None
    """Characters of a line that the model was ever shown."""
    places: frozenset[str] = frozenset()
    """Places other than the known answers."""
    calibration: RunCalibration | None = None
    """The calibration that the run brings along."""
    fitted_on: frozenset[str] = frozenset()
    """Those of the rows' questions that it was fitted on."""


@dataclass(frozen=True)
class Scorecard:
    """One system, scored."""

    rows: int
    people: Mapping[str, Outcomes]
    """Split → best answers, answers given, silences. `selective` judges best answers, all below answers given."""
    relations: Mapping[str, Mapping[str, Outcomes]]
    """Split → relation → the same, of the splits in which several relations were asked."""
    selective: SelectivePrediction | None
    error_kinds: Mapping[str, Mapping[ErrorKind, Rate]]
    nearest_name_by_chance: Mapping[str, float]
    groups: GroupReport | None
    popularity: Popularity | None
    stereotype: OriginMatch | None
    error_funnel: ErrorFunnel | None


def not_taught(rows: Sequence[Row]) -> list[Row]:
    """The scorable rows whose people were not asked about in training; all scorable rows if there are no others."""
    scored = scorable(rows)
    return [row for row in scored if row.split != TAUGHT] or scored


def score(rows: Sequence[Row], context: Context, rng: np.random.Generator) -> Scorecard:
    """Score one system's rows. Probabilities, bias and the funnel are judged on people not asked about in training."""
    given, fair = as_given(rows), not_taught(rows)
    knowable = [row for row in not_taught(given) if row.split not in UNKNOWABLE]
    classified = ErrorClassifier(context.known, context.corpus, context.vectors, places=context.places).classify(given)
    has_groups = any(row.group is not None for row in knowable)
    answered = any(row.answers and not row.abstained for row in knowable)
    return Scorecard(
        rows=len(rows),
        people={split: outcomes(members) for split, members in by_split(rows).items()},
        relations={
            split: {name: outcomes(asked) for name, asked in own.items()}
            for split, members in by_split(rows).items()
            if len(own := rows_by_relation(members)) > 1
        },
        selective=selective_prediction(fair, rng, calibration=context.calibration, fitted_on=context.fitted_on)
        if has_probabilities(fair)
        else None,
        error_kinds=kinds_by_split(classified),
        nearest_name_by_chance=nearest_name_by_chance(classified),
        groups=group_report(knowable, rng) if has_groups else None,
        popularity=popularity(knowable) if answered else None,
        stereotype=stereotype(not_taught(given), rng) if has_groups else None,
        error_funnel=error_funnel(knowable, context.corpus, context.window) if context.corpus and knowable else None,
    )
