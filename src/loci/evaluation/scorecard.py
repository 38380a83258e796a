"""Everything that can be said of one system from its rows, in one object.

Calls the other modules of this room in turn; what cannot be known from the rows and the context at hand is None. Knows
nothing of files, pages or other systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from loci.evaluation.abstention import abstention_rate
from loci.evaluation.bias import GroupReport, Popularity, Stereotype, group_report, popularity, stereotype
from loci.evaluation.error_funnel import Ceiling, ceiling
from loci.evaluation.error_kinds import ErrorClassifier, Kind, Verdict, kinds_by_split, look_alike_by_chance
from loci.evaluation.metrics import Rate, by_split, exact_match, scorable
from loci.evaluation.rows import SEEN, UNKNOWABLE, Prediction
from loci.evaluation.run_calibration import RunCalibration
from loci.evaluation.score_arrays import has_probabilities
from loci.evaluation.selective import Trust, trust
from loci.text.corpus import Corpus


@dataclass(frozen=True)
class Context:
    """What is known beside the rows."""

    known: Mapping[str, str] = field(default_factory=dict)
    """Subject → answer, of the people the model was taught about."""
    corpus: Corpus | None = None
    vectors: Mapping[str, NDArray[np.floating]] | None = None
    """Name → the model's own vector of it."""
    window: int | None = None
    """Characters of a line that the model was ever shown."""
    places: frozenset[str] = frozenset()
    """Places beside the known answers."""
    calibration: RunCalibration | None = None
    """The calibration that the run brings along."""
    fitted_on: frozenset[str] = frozenset()
    """Those of the rows' questions that it was fitted on."""


@dataclass(frozen=True)
class Scorecard:
    """One system, scored."""

    rows: int
    accuracy: Mapping[str, Rate]
    abstention: Mapping[str, Rate]
    trust: Trust | None
    fabrication: Mapping[str, Mapping[Kind, Rate]]
    look_alike_by_chance: Mapping[str, float]
    groups: GroupReport | None
    popularity: Popularity | None
    stereotype: Stereotype | None
    ceiling: Ceiling | None


def judged(rows: Sequence[Prediction]) -> list[Prediction]:
    """The scorable rows whose people were not asked about in training; all scorable rows if there are no others."""
    scored = scorable(rows)
    return [row for row in scored if row.split != SEEN] or scored


def score(rows: Sequence[Prediction], context: Context, rng: np.random.Generator) -> Scorecard:
    """Score one system's rows. Trust, bias and ceiling are judged on people not asked about in training."""
    fair = judged(rows)
    knowable = [row for row in fair if row.split not in UNKNOWABLE]
    verdicts = ErrorClassifier(context.known, context.corpus, context.vectors, places=context.places).verdicts(rows)
    has_groups = any(row.group is not None for row in fair)
    answered = any(row.answers and not row.abstained for row in knowable)
    return Scorecard(
        rows=len(rows),
        accuracy={split: exact_match(members) for split, members in by_split(scorable(rows)).items()},
        abstention={split: abstention_rate(members) for split, members in by_split(rows).items()},
        trust=trust(fair, rng, calibration=context.calibration, fitted_on=context.fitted_on)
        if has_probabilities(fair)
        else None,
        fabrication=kinds_by_split(verdicts),
        look_alike_by_chance=_chances(verdicts),
        groups=group_report(fair, rng) if has_groups else None,
        popularity=popularity(knowable) if answered else None,
        stereotype=stereotype(fair, rng) if has_groups else None,
        ceiling=ceiling(knowable, context.corpus, context.window) if context.corpus and knowable else None,
    )


def _chances(verdicts: Sequence[Verdict]) -> dict[str, float]:
    members: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        members.setdefault(verdict.row.split or "all", []).append(verdict)
    return {split: look_alike_by_chance(found) for split, found in members.items()}
