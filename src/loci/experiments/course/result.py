"""What the course's table holds: for each system its score, what it cost and where its answers were lost.

Plain data, and the funnel computed from rows. Knows neither how rows come about nor how they are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loci.evaluation.error_kinds import RIGHT, ErrorFunnel, FunnelStep
from loci.evaluation.metrics import Estimate, Rate, is_right, wilson
from loci.evaluation.rows import Row
from loci.text.corpus import Corpus


@dataclass(frozen=True)
class Training:
    """What a system took, the mean of its seeds."""

    parameters: int
    characters: float
    """Useful ones, padding not counted."""
    seconds: float
    flops: float
    """Forward and backward, for the useful characters of examples of the mean length."""


@dataclass(frozen=True)
class CourseRow:
    """One system of the table; the rows of all seeds together."""

    name: str
    explanation: str
    published: str
    """What others report for it on the course's 500 dev names."""
    held_out: Rate
    """People it read about and was never asked about."""
    priced: tuple[Estimate, ...] = ()
    """Of the same people, at each of `LEVELS`: the mean of +1 for a right answer and −t/(1−t) for a wrong one."""
    by_seed: tuple[float, ...] = ()
    taught: Rate | None = None
    """People of the train questions."""
    invented: Rate | None = None
    """Names nobody wrote about: how many are answered with a known place all the same."""
    pretrained: bool = False
    training: Training | None = None
    funnel: ErrorFunnel | None = None
    kinds: Mapping[str, int] | None = None
    """Kind of answer about held-out people → how many."""
    strangers: tuple[tuple[str, str], ...] = ()
    """A few names nobody wrote about, and what was said."""


@dataclass(frozen=True)
class CourseResult:
    """The whole table."""

    rows: tuple[CourseRow, ...]
    data: Mapping[str, Any]
    """Lines, train and held-out questions; whether it is the embedded world; the fold asked about, None for dev."""
    seeds: int
    quick: bool


def funnel(rows: Sequence[Row], in_view: Sequence[bool], stored: Sequence[bool], corpus: Corpus) -> ErrorFunnel:
    """In the corpus → in view → stored → answered: each step keeps what passed all before it."""
    answered = [row for row in rows if row.answers]
    passed = [True] * len(answered)
    steps = [FunnelStep("asked", wilson(len(answered), len(answered)))]

    def keep(name: str, kept: Sequence[bool], lost_because: str) -> None:
        passed[:] = [before and now for before, now in zip(passed, kept, strict=True)]
        steps.append(FunnelStep(name, wilson(sum(passed), len(answered)), lost_because))

    told = [corpus.tells(row.subject, row.answers) for row in answered]
    keep("in the corpus", told, "no line about them says it")
    keep("in view", in_view, "pretraining never asks for it where the model sees it")
    keep("stored", stored, "asked for as in pretraining, it is not given")
    keep(RIGHT, [is_right(row) for row in answered], "the question does not reach it")
    unwritten = sum(is_right(row) for row, there in zip(answered, told, strict=True) if not there)
    return ErrorFunnel(tuple(steps), wilson(unwritten, len(answered)))
