"""Everything a comparison shows, computed: a scorecard an entry, and every two entries against each other.

Knows how to find what the metrics want (corpus, known answers, groups); knows nothing of pages.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loci.answering.evidence import EvidenceIndex
from loci.errors import LociError
from loci.evaluation.bias import Counterfactual, counterfactual, pair_up, typical_answers
from loci.evaluation.comparison.artifacts import look_beside
from loci.evaluation.comparison.entries import Entry, read_groups, read_places, with_groups
from loci.evaluation.json_data import plain
from loci.evaluation.metrics import Estimate, Rate, most_common_answer, scorable, wilson
from loci.evaluation.rows import HELD_OUT, SEEN, Prediction, read_predictions
from loci.evaluation.scorecard import Context, Scorecard, score
from loci.evaluation.significance import McNemar, holm, mcnemar, paired, paired_bootstrap
from loci.report.comparison.wording import listed
from loci.text.corpus import Corpus
from loci.text.layout import find_questions, find_split
from loci.text.questions import Questions

PEOPLE = "people.jsonl"
"""The file in which a world tells the origin of every name, and its places."""


@dataclass(frozen=True)
class Duel:
    """Two entries on the same questions of the headline's split; p is corrected for the number of duels."""

    first: str
    second: str
    test: McNemar
    difference: Estimate
    p_value: float


@dataclass(frozen=True)
class Study:
    """A comparison, computed. Lists run parallel to `entries`."""

    entries: tuple[Entry, ...]
    cards: tuple[Scorecard, ...]
    contexts: tuple[Context, ...]
    evidence: tuple[EvidenceIndex | None, ...]
    duels: tuple[Duel, ...]
    split: str
    """The split the headline is about."""
    baseline: tuple[str, dict[str, Rate]] | None
    """The commonest known answer, and how often it is true in each split."""
    renamed: Counterfactual | None
    remarks: tuple[str, ...] = ()
    """What a reader should know about what was found beside the rows."""

    @property
    def questions(self) -> tuple[str, ...]:
        """The files that the headline's questions are of, each once."""
        return tuple(dict.fromkeys(entry.files[self.split] for entry in self.entries if self.split in entry.files))

    @property
    def people(self) -> str:
        """Whom the headline is about, in words: the split and the file."""
        return f"{self.split} people" + (f" of {listed(self.questions)}" if self.questions else "")

    def as_dict(self) -> dict[str, Any]:
        """All numbers as plain JSON data."""
        return {
            "split": self.split,
            "questions": list(self.questions),
            "runs": [
                {
                    "name": entry.name,
                    "path": str(entry.path),
                    "files": dict(entry.files),
                    "left_out": {split: list(files) for split, files in entry.left_out.items()},
                    **plain(card),
                    "calibration": context.calibration.as_dict() if context.calibration is not None else None,
                }
                for entry, card, context in zip(self.entries, self.cards, self.contexts, strict=True)
            ],
            "remarks": list(self.remarks),
            "duels": plain(self.duels),
            "baseline": {"answer": self.baseline[0], "accuracy": plain(self.baseline[1])} if self.baseline else None,
            "counterfactual": plain(self.renamed),
        }


def study(
    entries: Sequence[Entry],
    rng: np.random.Generator,
    *,
    corpus: Path | None = None,
    train: Path | None = None,
    groups: Path | None = None,
    places: Path | None = None,
    pairs: tuple[Path, Path] | None = None,
    window: int | None = None,
) -> Study:
    """Compute the comparison. What is not given is taken from the runs' own notes, or from the corpus's folder."""
    if not entries:
        raise LociError("nothing to compare", remedy="name at least one run or prediction file")
    folder = corpus if corpus is not None and corpus.is_dir() else None
    people = [_people(corpus or entry.corpus) for entry in entries]
    told = {file: read_groups(file) for file in {groups, *people} if file is not None}
    entries = [
        with_groups(entry, told[file]) if (file := groups or own) is not None else entry
        for entry, own in zip(entries, people, strict=True)
    ]
    real = {file: read_places(file) for file in {places, *people} if file is not None}
    if train is None and folder is not None and find_split(folder, "train"):
        train = find_questions(folder, "train")
    corpora: dict[Path, Corpus] = {}
    taught: dict[Path, dict[str, tuple[str, str]]] = {}
    contexts = []
    remarks: list[str] = []
    for entry, own in zip(entries, people, strict=True):
        text, asked = corpus or entry.corpus, train or entry.questions
        if text is not None and text not in corpora:
            corpora[text] = Corpus.read(text)
        if asked is not None and asked not in taught:
            taught[asked] = {
                q.subject: (q.text, q.answers[0]) for q in Questions.read(asked) if q.subject and q.answers
            }
        pupils = taught[asked] if asked is not None else _seen(entry.rows)
        beside = look_beside(entry, {subject: question for subject, (question, _) in pupils.items()})
        remarks += beside.remarks
        contexts.append(
            Context(
                known={subject: answer for subject, (_, answer) in pupils.items()},
                corpus=corpora[text] if text is not None else None,
                vectors=beside.vectors,
                window=window,
                places=frozenset().union(*(real[file] for file in (places, own) if file is not None)),
                calibration=beside.calibration,
                fitted_on=beside.fitted_on,
            )
        )
    indices = {id(text): EvidenceIndex(text) for text in corpora.values()}
    split = headline_split(entries)
    remarks += _which_questions(entries, split)
    return Study(
        entries=tuple(entries),
        cards=tuple(score(entry.rows, context, rng) for entry, context in zip(entries, contexts, strict=True)),
        contexts=tuple(contexts),
        evidence=tuple(indices.get(id(context.corpus)) for context in contexts),
        duels=tuple(_duels(entries, split, rng)),
        split=split,
        baseline=_baseline(entries[0].rows, contexts[0]),
        renamed=_renamed(entries[0], pairs) if pairs else None,
        remarks=tuple(remarks),
    )


def _people(corpus: Path | None) -> Path | None:
    """The people of the world that a corpus, or the folder of one, belongs to."""
    folder = corpus if corpus is None or corpus.is_dir() else corpus.parent
    return folder / PEOPLE if folder is not None and (folder / PEOPLE).is_file() else None


def headline_split(entries: Sequence[Entry]) -> str:
    """Held-out people if anybody was asked about them, else the split with most rows outside training."""
    counts = Counter(row.split or "all" for entry in entries for row in scorable(entry.rows))
    if not counts:
        raise LociError(
            "no row has a known truth, so there is nothing to compare", remedy="evaluate on a file with answers"
        )
    if HELD_OUT in counts:
        return HELD_OUT
    return max(counts, key=lambda split: (split != SEEN, counts[split]))


def _seen(rows: Sequence[Prediction]) -> dict[str, tuple[str, str]]:
    return {
        row.subject: (row.question, row.answers[0]) for row in rows if row.split == SEEN and row.subject and row.answers
    }


def _which_questions(entries: Sequence[Entry], split: str) -> list[str]:
    """What a reader of two numbers side by side must know: which questions count, and whether they are the same."""
    said = [
        f"{entry.name}: {people} people are those of {entry.files[people]} alone; left out: {listed(others)}"
        for entry in entries
        for people, others in entry.left_out.items()
    ]
    asked = [frozenset(row.question for row in _of_split(entry.rows, split)) for entry in entries]
    if len({questions for questions in asked if questions}) > 1:
        said.append(f"not all runs were asked the same {split} questions; two runs are tested on those they share")
    return said


def _of_split(rows: Sequence[Prediction], split: str) -> list[Prediction]:
    """The scorable rows of a split, and those that tell none: pairing them by their questions finds what they share."""
    return [row for row in scorable(rows) if row.split is None or row.split == split]


def _duels(entries: Sequence[Entry], split: str, rng: np.random.Generator) -> list[Duel]:
    """Every two entries on the questions of the headline's split that both were asked."""
    tests = []
    for first, second in itertools.combinations(entries, 2):
        try:
            pairs = paired(_of_split(first.rows, split), _of_split(second.rows, split))
        except LociError:
            continue  # nothing in common: there is no duel
        tests.append((first.name, second.name, mcnemar(pairs)))
    corrected = holm([test.p_value for _, _, test in tests])
    return [
        Duel(first, second, test, paired_bootstrap(test, rng), p)
        for (first, second, test), p in zip(tests, corrected, strict=True)
    ]


def _baseline(rows: Sequence[Prediction], context: Context) -> tuple[str, dict[str, Rate]] | None:
    if not context.known:
        return None
    answer = most_common_answer(context.known.values())
    true: dict[str, list[bool]] = {}
    for row in rows:
        if row.answers:
            true.setdefault(row.split or "all", []).append(answer in row.answers)
    return answer, {split: wilson(sum(hits), len(hits)) for split, hits in true.items()}


def _renamed(entry: Entry, pairs: tuple[Path, Path]) -> Counterfactual:
    originals, renamed = (read_predictions(path) for path in pairs)
    try:
        matched = pair_up(originals, renamed)
    except LociError as error:
        raise LociError(error.message, path=pairs[1], line=error.line, remedy=error.remedy) from None
    typical = typical_answers([*entry.rows, *originals])
    return counterfactual(matched, typical)
