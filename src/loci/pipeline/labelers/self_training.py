"""Self-training: a model that has learned to read writes questions and answers about everybody in the corpus.

The train people keep their given answers; about everybody else the model reads their lines. Where a line names several
places, the answer prior of the train questions is weighed in. Nothing but the corpus and the train questions is used.
"""

from __future__ import annotations

from dataclasses import replace

from loci.answering.span_scoring import ROOM_FOR_ANSWER, score_spans
from loci.data.degrees import GIVEN, degree_of
from loci.data.prompts import reading_prompt
from loci.data.reading import shortened
from loci.pipeline.labelers.answer_prior import AnswerPrior, answer_prior
from loci.pipeline.labelers.confidence import Label, fit_confidence
from loci.pipeline.labelers.labeler import Progress
from loci.text.corpus import Line
from loci.text.match import is_accepted
from loci.text.questions import Questions
from loci.text.spans import word_spans
from loci.text.template import Template
from loci.training.checkpoint import LoadedModel
from loci.training.sources import TrainingData

_LIKELY = 0.5
RIVALS = 16
"""The likeliest answers of a line that the answer prior may choose from."""


def given(loaded: LoadedModel, data: TrainingData, progress: Progress, *, path: str) -> Questions:
    """The questions and answers of a file, such as another run's pseudo-labels: storing without reading."""
    return Questions.read(path)


def label(
    loaded: LoadedModel, data: TrainingData, progress: Progress, *, use_prior: bool = True, degrees: bool = False
) -> Questions:
    """The train questions, and one question about every other subject with the answer the model reads in its lines.

    A span's probability is multiplied by its answer prior, or stands alone without `use_prior`. With `degrees`
    every label has one: how sure the reader was, by a fit on the train questions that reading was not taught with (a
    stage that reads `reading-taught`).
    """
    assert data.questions is not None
    answered, template = data.questions.answered, data.template
    kept = {question.subject for question in data.calibrating} if degrees else set()
    taught = replace(data.questions, rows=tuple(question for question in answered if question.subject not in kept))
    known = set(taught.subjects)
    longest = max(len(question.answer.split()) for question in answered if question.answer)
    prior = answer_prior(data.corpus, taught, longest=longest) if use_prior else AnswerPrior({}, 1.0)
    block = loaded.model.config.block_size
    lines = [line for line in data.corpus if line.subject not in known and _askable(block, template, line)]
    labels: dict[str, Label] = {}
    for done, line in enumerate(lines, start=1):
        found = _read(loaded, line, template.ask(line.subject), longest, prior)
        if line.subject not in labels or found.weight > labels[line.subject].weight:
            labels[line.subject] = found
        progress(done, len(lines))
    checked = [question for question in answered if question.subject in kept and question.subject in labels]
    confidence = fit_confidence(
        [labels[question.subject or ""] for question in checked],
        [is_accepted(labels[question.subject or ""].answer, question.answers) for question in checked],
    )
    given = [(question.text, question.answer or "", GIVEN) for question in answered]
    written = [
        (template.ask(subject), one.answer, degree_of(confidence(one), told=one.not_told <= _LIKELY))
        for subject, one in labels.items()
        if subject not in kept and one.answer.strip()
    ]
    room = block - 3  # for the masks after question and answer, and the degree
    written = [row for row in written if len(row[0] + row[1]) <= room]
    rows = [*given, *written]
    made = Questions.from_pairs([row[:2] for row in rows], relations=data.questions.relations)
    if not degrees:
        return made
    return replace(made, rows=tuple(replace(one, degree=row[2]) for one, row in zip(made.rows, rows, strict=True)))


def _askable(block: int, template: Template, line: Line) -> bool:
    """Whether a question about the line's subject can be written, and the line holds a word to answer it with.

    A sentence without a full stop is taken for a subject: a question about it would fill the block.
    """
    room = block - len(template.ask(line.subject)) - ROOM_FOR_ANSWER
    return room > 0 and bool(line.subject) and "\t" not in line.subject and bool(word_spans(line.body, 1))


def _read(loaded: LoadedModel, line: Line, question: str, longest: int, prior: AnswerPrior) -> Label:
    """What a line answers to the question about its subject."""
    text = shortened(line.text, loaded.model.config.block_size - len(question) - ROOM_FOR_ANSWER)
    prompt, about = reading_prompt(loaded.vocab, question, text), text.removeprefix(line.subject)
    spans = score_spans(loaded.model, loaded.vocab, [prompt], [about], width=RIVALS, longest=longest, silence=True)[0]
    not_told = dict(spans).get("", 0.0)
    return max((Label(span, p, prior.of(span), not_told) for span, p in spans if span), key=lambda one: one.weight)
