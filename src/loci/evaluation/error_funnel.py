"""The error funnel: where questions are lost between "asked" and "answered rightly".

Each step keeps the questions that passed all steps before it, so what is lost between two steps has one cause: nothing
was written, it was written out of reach, the model never thought of it, or it chose something else. What the text
leaves is the ceiling of any model. Knows nothing of models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loci.evaluation.metrics import Rate, is_right, wilson
from loci.evaluation.rows import Row
from loci.text.corpus import Corpus
from loci.text.match import is_accepted

RIGHT = "answered rightly"
"""The last step of every funnel."""


@dataclass(frozen=True)
class FunnelStep:
    """How many of all questions are left after a step, and why others were lost before it."""

    name: str
    kept: Rate
    lost_because: str = ""


@dataclass(frozen=True)
class ErrorFunnel:
    """The steps of one run, and the right answers that stand in no line: guesses that came true."""

    steps: tuple[FunnelStep, ...]
    right_unwritten: Rate


def considered(row: Row) -> bool:
    """Whether an accepted answer is the prediction or among the alternatives."""
    return any(is_accepted(text, row.answers) for text in (row.prediction, *(text for text, _ in row.alternatives)))


def error_funnel(rows: Sequence[Row], corpus: Corpus, window: int | None = None) -> ErrorFunnel:
    """The funnel of the rows with answers. `window`: how many characters of a line the model was ever shown."""
    rows = [row for row in rows if row.answers]
    n = len(rows)
    left = list(rows)
    steps = [FunnelStep("asked", wilson(n, n))]

    def keep(name: str, passes: list[bool], lost_because: str) -> None:
        left[:] = [row for row, passed in zip(left, passes, strict=True) if passed]
        steps.append(FunnelStep(name, wilson(len(left), n), lost_because))

    keep("person in the text", [bool(row.subject and corpus.about(row.subject)) for row in left], "no line about them")
    keep("answer written there", [corpus.tells(row.subject, row.answers) for row in left], "their line does not say it")
    in_text = {id(row) for row in left}
    if window is not None:
        seen = [corpus.tells(row.subject, row.answers, within=window) for row in left]
        keep(f"within {window} characters", seen, "it stands too far along")
    if any(row.alternatives for row in rows):
        keep("model thinks of it", [considered(row) for row in left], "not among its candidates")
    keep(RIGHT, [is_right(row) for row in left], "another answer, or none, was given")
    unwritten = sum(is_right(row) for row in rows if id(row) not in in_text)
    return ErrorFunnel(tuple(steps), wilson(unwritten, n))
