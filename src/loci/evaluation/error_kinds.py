"""Where a wrong answer came from.

Every row gets one kind, the first that fits: right, withheld, no known answer at all, another answer of the same line,
the answer of a look-alike name, a popular answer, an answer with no visible link. What counts as an answer ("place") is
the set of answers known from training and from the rows themselves, and of any places handed in; nothing about births
is assumed. Knows nothing of models; vectors of names are handed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from loci.evaluation.metrics import Rate, by_split, is_right, scorable, wilson
from loci.evaluation.nearest_name import nearest_by_spelling, nearest_by_vector
from loci.evaluation.rows import Prediction
from loci.text.corpus import Corpus
from loci.text.match import any_stands_in

POPULAR = 10
"""How many of the commonest known answers count as popular."""


class Kind(StrEnum):
    """What became of a question; the value is what a reader is shown."""

    RIGHT = "right"
    WITHHELD = "I don't know"
    SAME_LINE = "another place of the same line"
    LOOK_ALIKE_SPELLING = "place of the nearest spelling"
    LOOK_ALIKE_VECTOR = "place of the nearest embedding"
    POPULAR = "a popular place"
    UNLINKED = "a real place with no link"
    NOT_A_PLACE = "not a place"


FABRICATED = tuple(kind for kind in Kind if kind not in (Kind.RIGHT, Kind.WITHHELD))


@dataclass(frozen=True)
class Verdict:
    """A row, its kind, and the look-alike name whose answer was given, if that is the kind."""

    row: Prediction
    kind: Kind
    neighbour: str | None = None
    chance: float = 0.0
    """The chance that as many people drawn blindly as there were look-alikes would have had this answer among them."""


@dataclass(frozen=True)
class ErrorClassifier:
    """What is needed to tell the kinds apart; leave out what is not at hand and its kind is never given."""

    known: Mapping[str, str]
    """Subject → answer, of the people the model was taught about."""
    corpus: Corpus | None = None
    vectors: Mapping[str, NDArray[np.floating]] | None = None
    """Name → the model's own vector of it."""
    popular: int = POPULAR
    places: Collection[str] = ()
    """Places beside the known answers, such as all that a world has: nobody may have been born where many studied."""

    def popular_answers(self) -> list[str]:
        """The commonest known answers, the commonest first; equals in alphabetical order."""
        counts = Counter(self.known.values())
        return sorted(counts, key=lambda answer: (-counts[answer], answer))[: self.popular]

    def verdicts(self, rows: Sequence[Prediction]) -> list[Verdict]:
        """One verdict for each scorable row, in order."""
        rows = scorable(rows)
        places = {*self.places, *self.known.values(), *(answer for row in rows for answer in row.answers)}
        found: list[Verdict | None] = [self._at_once(row, places) for row in rows]
        open_rows = [row for row, verdict in zip(rows, found, strict=True) if verdict is None]
        subjects = [row.subject for row in open_rows if row.subject]
        names = list(self.known)
        spelling = nearest_by_spelling(subjects, names) if names and subjects else {}
        vector = nearest_by_vector(subjects, names, self.vectors) if self.vectors else {}
        counts = Counter(self.known.values())
        popular = set(self.popular_answers())
        return [
            verdict or self._by_link(row, spelling, vector, popular, counts[row.prediction])
            for row, verdict in zip(rows, found, strict=True)
        ]

    def _at_once(self, row: Prediction, places: set[str]) -> Verdict | None:
        if row.abstained:
            return Verdict(row, Kind.WITHHELD)
        if is_right(row):
            return Verdict(row, Kind.RIGHT)
        if row.prediction not in places:
            return Verdict(row, Kind.NOT_A_PLACE)
        lines = self.corpus.about(row.subject) if self.corpus and row.subject else ()
        if any_stands_in((line.text for line in lines), [row.prediction]):
            return Verdict(row, Kind.SAME_LINE)
        return None

    def _by_link(
        self,
        row: Prediction,
        spelling: Mapping[str, tuple[str, ...]],
        vector: Mapping[str, tuple[str, ...]],
        popular: set[str],
        sharing: int,
    ) -> Verdict:
        drawn = sum(len(nearest.get(row.subject or "", ())) for nearest in (spelling, vector))
        chance = 1 - (1 - sharing / len(self.known)) ** drawn if self.known else 0.0
        for kind, nearest in ((Kind.LOOK_ALIKE_SPELLING, spelling), (Kind.LOOK_ALIKE_VECTOR, vector)):
            for name in nearest.get(row.subject or "", ()):
                if self.known[name] == row.prediction:
                    return Verdict(row, kind, name, chance)
        return Verdict(row, Kind.POPULAR if row.prediction in popular else Kind.UNLINKED, chance=chance)


def kinds_by_split(verdicts: Sequence[Verdict]) -> dict[str, dict[Kind, Rate]]:
    """Split → kind → its share of the split's rows, every kind listed; the shares of a split sum to 1."""
    kind_of = {id(verdict.row): verdict.kind for verdict in verdicts}
    table = {}
    for split, rows in by_split([verdict.row for verdict in verdicts]).items():
        counts = Counter(kind_of[id(row)] for row in rows)
        table[split] = {kind: wilson(counts[kind], len(rows)) for kind in Kind}
    return table


def fabrication_rate(verdicts: Sequence[Verdict]) -> Rate:
    """Share of rows answered, and answered with something made up."""
    return wilson(sum(verdict.kind in FABRICATED for verdict in verdicts), len(verdicts))


def look_alike_by_chance(verdicts: Sequence[Verdict]) -> float:
    """Share of rows that blind draws would have called look-alikes: what the look-alike rates must exceed."""
    return sum(verdict.chance for verdict in verdicts) / len(verdicts) if verdicts else 0.0
