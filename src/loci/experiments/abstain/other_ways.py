"""Other ways to be silent, for comparison with a run: what each memorizes, and by what it is silent.

*Taught silence* memorizes "unknown" about people without a line and "not told" about people whose lines leave the fact
out, and is silent where it says so.

*R-Tuning* (Zhang et al. 2024) asks the model before it is tuned, appends "sure" to the answers that it knows and
"unsure" to the others, tunes on both and is silent where "unsure" follows. Here the reader is the model before, the
memorize stage is the tuning, and two of the ten degrees are the two words. Train questions that reading was not taught
with are known if the reader reads them rightly; a label without a gold answer is known if the reader's confidence is at
least one half, as in the unsupervised form of R-Tuning; people of whom nothing is told are not known.

The *familiarity probe* is a logistic regression on the residual stream after every block at the name's last character:
names of the corpus against first names of one with last names of another. Its weights are fitted on the same names as
the run's own gate.

Knows nothing of trainings, thresholds or figures.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from loci.data.degrees import GIVEN, VALUES, degree_id
from loci.data.prompts import closed
from loci.evaluation.rows import Row
from loci.generation.likelihood import next_log_probabilities
from loci.model.activations import run_with_activations
from loci.pipeline.labelers import LABELERS, Progress
from loci.pipeline.logistic import fit_logistic
from loci.text.match import is_accepted
from loci.text.questions import Question, Questions
from loci.text.strangers import Strangers
from loci.text.vocab import Vocab
from loci.training.checkpoint import LoadedModel
from loci.training.sources import TrainingData

SURE, UNSURE = GIVEN, 1
"""The two degrees that stand for R-Tuning's words."""
KNOWN = 0.5
"""The reader's confidence from which on it knows the answer, and the probability of "sure" that an answer needs."""
DRAWN = 1000
"""Made-up names that the probe is fitted on."""


def with_taught(labels: Questions, taught: Iterable[Question], vocab: Vocab, degree: int) -> Questions:
    """The labels with these learned instead or as well, all of one degree; what cannot be spelled is left out."""
    new = {
        row.text: replace(row, degree=degree) for row in taught if not vocab.missing(row.text + "".join(row.answers))
    }
    return replace(labels, rows=(*(row for row in labels if row.text not in new), *new.values()))


def sure_or_unsure(labels: Questions, misread: Collection[str]) -> Questions:
    """The labels with two degrees instead of ten; questions that the reader gets wrong are not known."""
    return replace(
        labels,
        rows=tuple(
            replace(row, degree=SURE if VALUES[row.degree or 0] >= KNOWN and row.text not in misread else UNSURE)
            for row in labels
        ),
    )


def misread(reader: LoadedModel, data: TrainingData) -> set[str]:
    """The train questions that reading was not taught with and that the reader gets wrong."""
    kept = {question.subject or "": question for question in data.calibrating}
    if not kept:
        return set()
    assert data.questions is not None
    taught = replace(data.questions, rows=tuple(row for row in data.questions if row.subject not in kept))
    theirs = replace(data.corpus, lines=tuple(line for name in kept for line in data.corpus.about(name)))
    read = LABELERS["self-training"](reader, TrainingData(theirs, taught), Progress(), use_prior=False)
    said = {row.subject: row.answer or "" for row in read}
    return {question.text for name, question in kept.items() if not is_accepted(said.get(name, ""), question.answers)}


def if_sure(loaded: LoadedModel, rows: Sequence[Row]) -> list[Row]:
    """The rows with the probability of "sure" after each answer; where "unsure" is likelier, withheld."""
    said = [row for row in rows if row.prediction]
    if not said:
        return list(rows)
    after = [closed(loaded.vocab, row.question, row.prediction).tolist() for row in said]
    symbols = [degree_id(loaded.vocab, degree) for degree in (UNSURE, SURE)]
    unsure, sure = next_log_probabilities(loaded.model, after)[:, symbols].T
    found = {row.question: p for row, p in zip(said, _sigmoid(sure - unsure).tolist(), strict=True)}
    return [
        replace(row, probability=found[row.question], abstained=row.abstained or found[row.question] < KNOWN)
        if row.question in found
        else row
        for row in rows
    ]


def fit_probe(loaded: LoadedModel, data: TrainingData, rng: np.random.Generator) -> NDArray[np.float64]:
    """The weights of the probe, the intercept last."""
    strangers = Strangers(data.subjects)
    made_up = sorted({strangers.name("recombined", rng) for _ in range(DRAWN)})
    names = [*data.subjects, *made_up]
    known = np.arange(len(names)) < len(data.subjects)
    states = _states(loaded, [(data.template.ask(name), name) for name in names])
    return fit_logistic(states, known.astype(np.float64))


def probed(loaded: LoadedModel, weights: NDArray[np.float64], rows: Sequence[Row]) -> list[Row]:
    """The rows with the probe's probability that the name was read; a row without an answer stays as it is."""
    said = [(row.question, row.subject or "") for row in rows if row.prediction]
    familiar = iter(_sigmoid(_states(loaded, said) @ weights[:-1] + weights[-1]).tolist() if said else ())
    return [replace(row, probability=next(familiar)) if row.prediction else row for row in rows]


def _states(loaded: LoadedModel, asked: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """The residual stream after every block where the name ends, for questions with their names."""
    found = []
    for question, name in asked:
        ids = loaded.vocab.encode(question[: question.index(name) + len(name)])
        _, inside = run_with_activations(loaded.model, torch.from_numpy(ids)[None], ["blocks.*.resid_post"])
        found.append(torch.cat([state[0, -1] for state in inside.values()]).double().numpy())
    return np.stack(found)


def _sigmoid(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -50, 50))), dtype=np.float64)
