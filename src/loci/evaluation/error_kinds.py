"""Where a wrong answer came from.

Every row gets one kind, the first that fits: right, withheld, no known answer at all, another answer of the same line,
the answer of the nearest name, a popular answer, an answer with no visible link. What counts as an answer ("place") is
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
from loci.evaluation.rows import Row
from loci.text.corpus import Corpus
from loci.text.match import any_stands_in

POPULAR = 10
"""How many of the commonest known answers count as popular."""


class ErrorKind(StrEnum):
    """What became of a question; the value is what a reader is shown."""

    RIGHT = "right"
    WITHHELD = "I don't know"
    SAME_LINE = "another place of the same line"
    NEAREST_SPELLING = "place of the nearest spelling"
    NEAREST_EMBEDDING = "place of the nearest embedding"
    POPULAR = "a popular place"
    UNLINKED = "a real place with no link"
    NOT_A_PLACE = "not a place"


FABRICATED = tuple(kind for kind in ErrorKind if kind not in (ErrorKind.RIGHT, ErrorKind.WITHHELD))


@dataclass(frozen=True)
class ClassifiedRow:
    """A row, its kind, and the nearest name whose answer was given, if that is the kind."""

    row: Row
    kind: ErrorKind
    neighbour: str | None = None
    chance: float = 0.0
    """The chance that as many random people as there were nearest names would have had this answer among them."""


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
    """Places other than the known answers: nobody may have been born where many studied."""

    def popular_answers(self) -> list[str]:
        """The commonest known answers, the commonest first; equals in alphabetical order."""
        counts = Counter(self.known.values())
        return sorted(counts, key=lambda answer: (-counts[answer], answer))[: self.popular]

    def classify(self, rows: Sequence[Row]) -> list[ClassifiedRow]:
        """The kind of each scorable row, in order."""
        rows = scorable(rows)
        places = {*self.places, *self.known.values(), *(answer for row in rows for answer in row.answers)}
        found: list[ClassifiedRow | None] = [self._at_once(row, places) for row in rows]
        open_rows = [row for row, known in zip(rows, found, strict=True) if known is None]
        subjects = [row.subject for row in open_rows if row.subject]
        names = list(self.known)
        spelling = nearest_by_spelling(subjects, names) if names and subjects else {}
        vector = nearest_by_vector(subjects, names, self.vectors) if self.vectors else {}
        counts = Counter(self.known.values())
        popular = set(self.popular_answers())
        return [
            known or self._by_link(row, spelling, vector, popular, counts[row.prediction])
            for row, known in zip(rows, found, strict=True)
        ]

    def _at_once(self, row: Row, places: set[str]) -> ClassifiedRow | None:
        if row.abstained:
            return ClassifiedRow(row, ErrorKind.WITHHELD)
        if is_right(row):
            return ClassifiedRow(row, ErrorKind.RIGHT)
        if row.prediction not in places:
            return ClassifiedRow(row, ErrorKind.NOT_A_PLACE)
        lines = self.corpus.about(row.subject) if self.corpus and row.subject else ()
        if any_stands_in((line.text for line in lines), [row.prediction]):
            return ClassifiedRow(row, ErrorKind.SAME_LINE)
        return None

    def _by_link(
        self,
        row: Row,
        spelling: Mapping[str, tuple[str, ...]],
        vector: Mapping[str, tuple[str, ...]],
        popular: set[str],
        sharing: int,
    ) -> ClassifiedRow:
        drawn = sum(len(nearest.get(row.subject or "", ())) for nearest in (spelling, vector))
        chance = 1 - (1 - sharing / len(self.known)) ** drawn if self.known else 0.0
        for kind, nearest in ((ErrorKind.NEAREST_SPELLING, spelling), (ErrorKind.NEAREST_EMBEDDING, vector)):
            for name in nearest.get(row.subject or "", ()):
                if self.known[name] == row.prediction:
                    return ClassifiedRow(row, kind, name, chance)
        return ClassifiedRow(row, ErrorKind.POPULAR if row.prediction in popular else ErrorKind.UNLINKED, chance=chance)


def kinds_by_split(classified: Sequence[ClassifiedRow]) -> dict[str, dict[ErrorKind, Rate]]:
    """Split → kind → its share of the split's rows, every kind listed; the shares of a split sum to 1."""
    table = {}
    for split, members in _by_split(classified).items():
        counts = Counter(one.kind for one in members)
        table[split] = {kind: wilson(counts[kind], len(members)) for kind in ErrorKind}
    return table


def fabrication_rate(kinds: Mapping[ErrorKind, Rate]) -> Rate:
    """Share of rows answered, and answered with something made up, from the shares of one split's kinds."""
    return wilson(sum(kinds[kind].successes for kind in FABRICATED), kinds[ErrorKind.RIGHT].n)


def nearest_name_by_chance(classified: Sequence[ClassifiedRow]) -> dict[str, float]:
    """Split → share of rows that random draws would have put down to the nearest name: what those kinds must exceed."""
    return {
        split: sum(one.chance for one in members) / len(members) for split, members in _by_split(classified).items()
    }


def _by_split(classified: Sequence[ClassifiedRow]) -> dict[str, list[ClassifiedRow]]:
    of = {id(one.row): one for one in classified}
    return {split: [of[id(row)] for row in rows] for split, rows in by_split([one.row for one in classified]).items()}
