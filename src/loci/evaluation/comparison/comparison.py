"""Everything a comparison shows, computed: a scorecard per entry, and every two entries against each other.

A pure function of entries that were read before. Knows nothing of files, models or pages.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from loci.errors import LociError
from loci.evaluation.bias import Counterfactual, counterfactual, pair_up, typical_answers
from loci.evaluation.comparison.entries import Entry
from loci.evaluation.json_data import to_json
from loci.evaluation.metrics import Estimate, Rate, most_common_answer, scorable, wilson
from loci.evaluation.outcomes import as_given, best_answers
from loci.evaluation.rows import HELD_OUT, TAUGHT, Row
from loci.evaluation.scorecard import Context, Scorecard, score
from loci.evaluation.significance import McNemar, holm, mcnemar, paired, paired_bootstrap


@dataclass(frozen=True)
class Pairwise:
    """The best answers of two entries to the same questions of the headline's split; p is corrected for all tests."""

    first: str
    second: str
    test: McNemar
    difference: Estimate
    p_value: float


@dataclass(frozen=True)
class Comparison:
    """A comparison, computed. `cards` run parallel to `entries`."""

    entries: tuple[Entry, ...]
    cards: tuple[Scorecard, ...]
    pairwise: tuple[Pairwise, ...]
    split: str
    """The split the headline is about."""
    baseline: tuple[str, dict[str, Rate]] | None
    """The commonest known answer, and how often it is true in each split."""
    renamed: Counterfactual | None
    remarks: tuple[str, ...] = ()
    """What a reader should know about what was compared."""

    def __iter__(self) -> Iterator[tuple[int, Entry, Scorecard]]:
        """Entries with their numbers and scorecards."""
        return ((index, *pair) for index, pair in enumerate(zip(self.entries, self.cards, strict=True)))

    @property
    def names(self) -> list[str]:
        """The names of the entries."""
        return [entry.name for entry in self.entries]

    @property
    def questions(self) -> tuple[str, ...]:
        """The files that the headline's questions are of, each once."""
        return tuple(dict.fromkeys(entry.files[self.split] for entry in self.entries if self.split in entry.files))

    def as_dict(self) -> dict[str, Any]:
        """All numbers as JSON data."""
        return {
            "split": self.split,
            "questions": list(self.questions),
            "runs": [
                {
                    "name": entry.name,
                    "path": str(entry.path),
                    "files": dict(entry.files),
                    "left_out": to_json(entry.left_out),
                    **to_json(card),
                    "calibration": entry.context.calibration and entry.context.calibration.as_dict(),
                }
                for _, entry, card in self
            ],
            "remarks": list(self.remarks),
            "pairwise": to_json(self.pairwise),
            "baseline": {"answer": self.baseline[0], "accuracy": to_json(self.baseline[1])} if self.baseline else None,
            "counterfactual": to_json(self.renamed),
        }


def compare(
    entries: Sequence[Entry], rng: np.random.Generator, *, renamed: tuple[Sequence[Row], Sequence[Row]] | None = None
) -> Comparison:
    """Compute the comparison. `renamed`: line by line the same facts under other names, judged by the first entry."""
    split = headline_split(entries)
    return Comparison(
        entries=tuple(entries),
        cards=tuple(score(entry.rows, entry.context, rng) for entry in entries),
        pairwise=tuple(_pairwise(entries, split, rng)),
        split=split,
        baseline=_baseline(entries[0].rows, entries[0].context),
        renamed=counterfactual(pair_up(*map(as_given, renamed)), typical_answers([*entries[0].rows, *renamed[0]]))
        if renamed
        else None,
        remarks=(*(remark for entry in entries for remark in entry.remarks), *_which_questions(entries, split)),
    )


def headline_split(entries: Sequence[Entry]) -> str:
    """Held-out people if anybody was asked about them, else the split with most rows outside training."""
    counts = Counter(row.split or "all" for entry in entries for row in scorable(entry.rows))
    if not counts:
        remedy = "evaluate on a file with answers"
        raise LociError("no row has a known truth, so there is nothing to compare", remedy=remedy)
    if HELD_OUT in counts:
        return HELD_OUT
    return max(counts, key=lambda split: (split != TAUGHT, counts[split]))


def _which_questions(entries: Sequence[Entry], split: str) -> list[str]:
    """What a reader of two numbers side by side must know: which questions count, and whether they are the same."""
    said = [
        f"{entry.name}: {people} people are those of {entry.files[people]} alone; left out: {', '.join(others)}"
        for entry in entries
        for people, others in entry.left_out.items()
    ]
    asked = [frozenset(row.question for row in _of_split(entry.rows, split)) for entry in entries]
    if len({questions for questions in asked if questions}) > 1:
        said.append(f"not all runs were asked the same {split} questions; two runs are tested on those they share")
    return said


def _of_split(rows: Sequence[Row], split: str) -> list[Row]:
    """The best answers of a split, and those that tell none: pairing them by their questions finds what they share."""
    return best_answers(row for row in scorable(rows) if row.split is None or row.split == split)


def _pairwise(entries: Sequence[Entry], split: str, rng: np.random.Generator) -> list[Pairwise]:
    """Every two entries on the questions of the headline's split that both were asked."""
    tests = []
    for first, second in itertools.combinations(entries, 2):
        try:
            pairs = paired(_of_split(first.rows, split), _of_split(second.rows, split))
        except LociError:
            continue  # nothing in common, so there is nothing to test
        tests.append((first.name, second.name, mcnemar(pairs)))
    corrected = holm([test.p_value for _, _, test in tests])
    return [
        Pairwise(first, second, test, paired_bootstrap(test, rng), p)
        for (first, second, test), p in zip(tests, corrected, strict=True)
    ]


def _baseline(rows: Sequence[Row], context: Context) -> tuple[str, dict[str, Rate]] | None:
    if not context.known:
        return None
    answer = most_common_answer(context.known.values())
    true: dict[str, list[bool]] = {}
    for row in rows:
        if row.answers:
            true.setdefault(row.split or "all", []).append(answer in row.answers)
    return answer, {split: wilson(sum(hits), len(hits)) for split, hits in true.items()}
