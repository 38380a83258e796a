"""Self-study: a model that has learned to read writes questions and answers about everybody in the corpus.

The train people keep their given answers; about everybody else the model reads its own way through their lines. Nothing
but the corpus and the train questions is looked at.
"""

from __future__ import annotations

from collections.abc import Callable

from loci.data.passages import told
from loci.data.reading import reading_prompt, shortened
from loci.errors import LociError
from loci.knowledge.quoting import Scored, quotations
from loci.model import GPT
from loci.text.corpus import Line
from loci.text.questions import Questions
from loci.text.template import infer_template
from loci.training.sources import TrainingData

ROOM_FOR_ANSWER = 40


def study(model: GPT, data: TrainingData) -> Questions:
    """The train questions, and one question about every other subject with the answer the model reads in its lines."""
    assert data.questions is not None
    answered = data.questions.answered
    template = infer_template(question.text for question in answered)
    if template is None:
        raise LociError(
            "the train questions share no form, so none can be written about others",
            path=data.questions.path,
            remedy='give questions of one form, such as "Where was {subject} born?"',
        )
    known = {question.subject for question in answered}
    lines = [line for line in data.corpus if line.subject and line.subject not in known and told(line)]
    best: dict[str, tuple[float, str]] = {}
    longest = max(len(question.answer.split()) for question in answered if question.answer)
    for line, (answer, probability) in zip(lines, _read(model, data, lines, template.ask, longest), strict=True):
        best[line.subject] = max(best.get(line.subject, (-1.0, "")), (probability, answer))
    written = [(template.ask(subject), answer) for subject, (_, answer) in best.items()]
    given = [(question.text, question.answer) for question in answered]
    return Questions.from_pairs([*given, *written], template=template)


def _read(model: GPT, data: TrainingData, lines: list[Line], ask: Callable[[str], str], longest: int) -> list[Scored]:
    """What each line answers to the question about its subject, with its probability."""
    prompts, texts = [], []
    for line in lines:
        question = ask(line.subject)
        text = shortened(line.text, max(1, model.config.block_size - len(question) - ROOM_FOR_ANSWER))
        prompts.append(reading_prompt(data.vocab, question, text))
        texts.append(text.removeprefix(line.subject))
    return [found[0] for found in quotations(model, data.vocab, prompts, texts, longest=longest)]
