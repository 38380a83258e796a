"""Self-training: a model that has learned to read writes questions and answers about everybody in the corpus.

The train people keep their given answers; about everybody else the model reads their lines. Where a line names several
places, the answer prior of the train questions is weighed in. Nothing but the corpus and the train questions is used.
"""

from __future__ import annotations

from loci.answering.answer import Scored
from loci.answering.span_scoring import ROOM_FOR_ANSWER, score_spans
from loci.data.prompts import reading_prompt
from loci.data.reading import shortened
from loci.pipeline.labelers.answer_prior import AnswerPrior, answer_prior
from loci.pipeline.labelers.labeler import Progress
from loci.text.corpus import Line
from loci.text.questions import Questions
from loci.text.spans import word_spans
from loci.text.template import Template
from loci.training.checkpoint import LoadedModel
from loci.training.sources import TrainingData

RIVALS = 16
"""The likeliest answers of a line that the answer prior may choose from."""


def given(loaded: LoadedModel, data: TrainingData, progress: Progress, *, path: str) -> Questions:
    """The questions and answers of a file, such as another run's pseudo-labels: storing without reading."""
    return Questions.read(path)


def label(loaded: LoadedModel, data: TrainingData, progress: Progress, *, use_prior: bool = True) -> Questions:
    """The train questions, and one question about every other subject with the answer the model reads in its lines.

    A span's probability is multiplied by its answer prior, or stands alone without `use_prior`.
    """
    assert data.questions is not None
    model, answered, template = loaded.model, data.questions.answered, data.template
    known = {question.subject for question in answered}
    longest = max(len(question.answer.split()) for question in answered if question.answer)
    prior = answer_prior(data.corpus, data.questions, longest=longest) if use_prior else AnswerPrior({}, 1.0)
    block = model.config.block_size
    lines = [line for line in data.corpus if line.subject not in known and _askable(block, template, line)]
    best: dict[str, tuple[float, str]] = {}
    for done, line in enumerate(lines, start=1):
        read = _read(loaded, line, template.ask(line.subject), longest)
        weighed = max((probability * prior.of(answer), answer) for answer, probability in read)
        best[line.subject] = max(best.get(line.subject, (-1.0, "")), weighed)
        progress(done, len(lines))
    asked = [(template.ask(subject), answer) for subject, (_, answer) in best.items()]
    room = block - 2  # for the masks after question and answer
    written = [(text, answer) for text, answer in asked if answer.strip() and len(text + answer) <= room]
    taught = [(question.text, question.answer) for question in answered]
    return Questions.from_pairs([*taught, *written], relations=data.questions.relations)


def _askable(block: int, template: Template, line: Line) -> bool:
    """Whether a question about the line's subject can be written, and the line holds a word to answer it with.

    A sentence without a full stop is taken for a subject: a question about it would fill the block.
    """
    room = block - len(template.ask(line.subject)) - ROOM_FOR_ANSWER
    return room > 0 and bool(line.subject) and "\t" not in line.subject and bool(word_spans(line.body, 1))


def _read(loaded: LoadedModel, line: Line, question: str, longest: int) -> list[Scored]:
    """What a line may answer to the question about its subject."""
    text = shortened(line.text, loaded.model.config.block_size - len(question) - ROOM_FOR_ANSWER)
    prompt, about = reading_prompt(loaded.vocab, question, text), text.removeprefix(line.subject)
    return score_spans(loaded.model, loaded.vocab, [prompt], [about], width=RIVALS, longest=longest)[0]
