"""Self-training: a model that has learned to read writes questions and answers about everybody in the corpus.

Train questions keep their given answers. Everything else that the relations could ask about the corpus's subjects the
model reads in their lines: an answer, or that the lines do not tell. Where a line names several places, the answer
prior of the relation's train questions is weighed in. Nothing but the corpus and the train questions is used.
"""

from __future__ import annotations

from dataclasses import replace

from loci.data.degrees import GIVEN, degree_of
from loci.data.prompts import NOT_TOLD
from loci.pipeline.labelers.answer_prior import answer_prior
from loci.pipeline.labelers.confidence import fit_confidence
from loci.pipeline.labelers.labeler import Progress
from loci.pipeline.labelers.read_lines import Asked, Reader, read_lines
from loci.text.match import is_accepted
from loci.text.questions import Question, Questions
from loci.text.relations import Relation
from loci.text.spans import longest_and_joiners
from loci.training.checkpoint import LoadedModel
from loci.training.sources import TrainingData

_LIKELY = 0.5
_CLEAR = 0.9
"""How likely the empty answer is where no answer is remembered, not even a doubtful one."""


def given(loaded: LoadedModel, data: TrainingData, progress: Progress, *, path: str) -> Questions:
    """The questions and answers of a file, such as another run's pseudo-labels: storing without reading."""
    return Questions.read(path)


def label(
    loaded: LoadedModel,
    data: TrainingData,
    progress: Progress,
    *,
    use_prior: bool = True,
    degrees: bool = False,
    twice: bool = False,
) -> Questions:
    """The train questions, and one question for every other subject and relation with what the model reads in the
    subject's lines: an answer, or "not told".

    A span's probability is multiplied by its answer prior. Without `use_prior` it stands alone, and only parts of
    longer names and what looks like no answer weigh less. With `degrees` every label has one: how sure the reader was,
    by a fit on the train questions that reading was not taught with (a stage that reads `reading-taught`). A doubtful
    "not told" is then an answer of the lowest degree. With `twice` lines are shown two times, as reading was taught.
    """
    assert data.questions is not None
    _ = data.template  # questions are written in it
    kept = {_asked(question): question for question in data.calibrating} if degrees else {}
    taught = replace(data.questions, rows=tuple(row for row in data.questions.answered if _asked(row) not in kept))
    readers = [_reader(data, relation, taught, use_prior=use_prior) for relation in data.relations]
    labels = read_lines(loaded, data.lines, readers, set(map(_asked, taught)), progress, twice=twice)
    checked = [asked for asked in kept if asked in labels]
    confidence = fit_confidence(
        [labels[asked] for asked in checked],
        [is_accepted(labels[asked].answer, kept[asked].answers) for asked in checked],
    )
    rows = [replace(row, degree=GIVEN if degrees else None) for row in data.questions.answered]
    relations = {relation.name: relation for relation in data.relations}
    room = loaded.model.config.block_size - 3  # for the masks after question and answer, and the degree
    for (name, subject), one in labels.items():
        text, degree = relations[name].ask(subject), degree_of(confidence(one), told=one.not_told <= _LIKELY)
        answer = one.answer.strip() if one.not_told <= (_CLEAR if degrees else _LIKELY) else ""
        answer = answer or NOT_TOLD
        if (name, subject) not in kept and len(text + answer) <= room:
            number = len(rows) + 1
            rows.append(Question(text, (answer,), subject, number, name, degree=degree if degrees else None))
    return Questions(None, tuple(rows), data.relations)


def _asked(question: Question) -> Asked:
    return question.relation, question.subject or ""


def _reader(data: TrainingData, relation: Relation, taught: Questions, *, use_prior: bool) -> Reader:
    """How a relation is read: with the words its train questions often call the answer."""
    assert data.questions is not None
    longest, joiners = longest_and_joiners(
        answer for row in data.questions.answered if row.relation == relation.name for answer in row.answers
    )
    own = replace(taught, rows=tuple(row for row in taught if row.relation == relation.name))
    prior = answer_prior(data.corpus, own, longest=longest, joiners=joiners)
    return Reader(relation, longest, prior if use_prior else prior.without_shares(), joiners)
