"""Where a wrong answer came from, and where questions are lost between "asked" and "answered rightly".

Every row gets one kind, the first that fits: right, withheld, no known answer at all, another answer of the same line,
the answer of the nearest name, a popular answer, an answer with no visible link. What counts as an answer ("place") is
the set of answers known from training and from the rows themselves, and of any places handed in; nothing about births
is assumed. Knows nothing of models; vectors of names are handed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from loci.errors import LociError
from loci.evaluation.metrics import Rate, by_split, commonest, is_right, scorable, wilson
from loci.evaluation.rows import Row
from loci.text.corpus import Corpus
from loci.text.match import any_stands_in, is_accepted

_ITSELF = np.iinfo(np.uint16).max
_CHUNK = 2048  # queries at a time: the table of distances stays in a few megabytes


def nearest_by_spelling(queries: Sequence[str], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """For each query all names at the least edit distance (insert, delete, replace: 1 each), itself left out."""
    try:
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cdist
    except ImportError:
        raise LociError("comparing names needs rapidfuzz", remedy="pip install rapidfuzz") from None
    names = list(dict.fromkeys(names))
    if not names:
        return dict.fromkeys(queries, ())
    found: dict[str, tuple[str, ...]] = {}
    for chunk, (rows, columns) in _chunks(queries, names):
        distances: NDArray[np.uint16] = cdist(chunk, names, scorer=Levenshtein.distance, dtype=np.uint16)
        distances[rows, columns] = _ITSELF
        least = distances.min(axis=1)
        least[least == _ITSELF] = 0  # nobody else there: a distance that no name has
        numbers, places = np.divmod(np.flatnonzero(distances == least[:, None]), len(names))
        ends = np.searchsorted(numbers, np.arange(len(chunk) + 1))
        best = [names[place] for place in places]
        found.update((query, tuple(best[ends[row] : ends[row + 1]])) for row, query in enumerate(chunk))
    return found


def _chunks(queries: Sequence[str], names: Sequence[str]) -> Iterator[tuple[list[str], tuple[list[int], list[int]]]]:
    """The queries, each once, in chunks; and the rows and columns where a query meets its own name."""
    column = {name: index for index, name in enumerate(names)}
    wanted = list(dict.fromkeys(queries))
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        met = [row for row, query in enumerate(chunk) if query in column]
        yield chunk, (met, [column[chunk[row]] for row in met])


def nearest_by_vector(
    queries: Sequence[str], names: Sequence[str], vectors: Mapping[str, NDArray[np.floating]]
) -> dict[str, tuple[str, ...]]:
    """For each query the name of highest cosine, itself left out; names without a vector take no part."""
    known = [name for name in dict.fromkeys(names) if name in vectors]
    wanted = [query for query in queries if query in vectors]
    if not known or not wanted:
        return {}
    targets = _unit(np.stack([vectors[name] for name in known]))
    found: dict[str, tuple[str, ...]] = {}
    for chunk, itself in _chunks(wanted, known):
        cosines = _unit(np.stack([vectors[query] for query in chunk])) @ targets.T
        cosines[itself] = -np.inf
        best = cosines.argmax(axis=1)
        others = np.isfinite(cosines.max(axis=1))  # not where nobody else is there
        found.update((query, (known[best[row]],)) for row, query in enumerate(chunk) if others[row])
    return found


def _unit(matrix: NDArray[np.floating]) -> NDArray[np.float32]:
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(norms == 0, 1, norms), dtype=np.float32)


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
        popular = set(commonest(counts)[: self.popular])
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
    counted = {split: Counter(one.kind for one in own) for split, own in _by_split(classified).items()}
    return {split: {kind: wilson(own[kind], own.total()) for kind in ErrorKind} for split, own in counted.items()}


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
    """The funnel of the rows with answers. `window`: how many characters of a line the model was ever shown.

    Each step keeps the questions that passed all steps before it, so what is lost between two steps has one cause:
    nothing was written, it was written out of reach, the model never thought of it, it chose something else, or it was
    silent. What the text leaves is the ceiling of any model.
    """
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
    if any(row.abstained for row in rows):
        keep("its best answer", [row.correct is True for row in left], "another answer seemed likelier")
    keep(RIGHT, [is_right(row) for row in left], "another answer, or none, was given")
    unwritten = sum(is_right(row) for row in rows if id(row) not in in_text)
    return ErrorFunnel(tuple(steps), wilson(unwritten, n))
