"""What every system of the course's table learns from and is asked, checked as it is read: before anything is trained.

Train questions are those of files named so: questions of development are never learned. Knows no systems.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from loci.errors import LociError
from loci.evaluation.error_kinds import ErrorClassifier
from loci.experiments.recall.run import held_back
from loci.text.findings import shown
from loci.text.layout import find_split
from loci.text.questions import Question, Questions
from loci.text.strangers import Strangers
from loci.training.sources import TrainingData

N_STRANGERS = 200


@dataclass(frozen=True)
class Asked:
    """The train questions, and who is asked about afterwards."""

    data: TrainingData
    train: Questions
    held_out: Questions
    strangers: Questions
    """About names nobody wrote about; there may be none."""

    @classmethod
    def read(cls, folder: Path, fold: int | None) -> Asked:
        """From a folder. With a fold, dev is not even read."""
        files = find_split(folder, "train")
        if not files:
            remedy = "files of train questions are called *train*.tsv"
            raise LociError("no file of train questions in this folder", path=folder, remedy=remedy)
        data = TrainingData.read(folder)
        train = data.questions
        if train is None or not train.answered:
            raise LociError("the train questions have no answers", path=files[0])
        if fold is not None:
            train, held_out = held_back(train, fold)
            if not train.answered:
                raise LociError(f"fold {fold} asks about all people of the train questions", path=files[0])
            data = dataclasses.replace(data, questions=train)
        else:
            held_out = Questions.read(folder, split="dev", subjects=data.corpus.by_subject)
            if not held_out.answered:
                raise LociError("the dev questions have no answers", path=held_out.path)
            _require_untold(held_out, train)
        return cls(data, train, held_out, _strangers(data, train, held_out))

    @property
    def classifier(self) -> ErrorClassifier:
        """Tells the kinds of wrong answers."""
        known = {row.subject: row.answers[0] for row in self.train.answered if row.subject}
        return ErrorClassifier(known, self.data.corpus)


def _require_untold(held_out: Questions, train: Questions) -> None:
    """Refuse dev questions whose answers are taught. Namesakes, of whom other answers are right, are no such thing."""
    told = {fact for row in train.answered for fact in _facts(row)}
    known = dict.fromkeys(row.subject or row.text for row in held_out.answered if not told.isdisjoint(_facts(row)))
    if known:
        message = f"{len(known):,} of its subjects are not held out, such as {shown(next(iter(known)), 50)}"
        remedy = "take them out of one of the two files"
        raise LociError(f"{message}: the train questions tell the same", path=held_out.path, remedy=remedy)


def _facts(row: Question) -> set[tuple[str, str, str]]:
    return {(row.relation, row.subject or row.text, answer) for answer in row.answers}


def _strangers(data: TrainingData, train: Questions, held_out: Questions) -> Questions:
    """Asked like the others: the first names of one subject with the last names of another, as many as there are."""
    subjects = sorted({*train.subjects, *held_out.subjects})
    if not (subjects and data.relations):  # the questions share no form
        return Questions.from_pairs([])
    wanted = min(N_STRANGERS, len(subjects))
    names = Strangers(subjects).at_most("recombined", wanted, np.random.default_rng(0))
    unread = (name for name in names if name not in data.corpus.by_subject)  # which has people of no question, too
    return Questions.from_pairs((data.template.ask(name), None) for name in unread)
