"""Self-study: a model that has learned to read writes questions and answers about everybody in the corpus.

The train people keep their given answers; about everybody else the model reads its own way through their lines. Nothing
but the corpus and the train questions is looked at.
"""

from __future__ import annotations

from collections.abc import Callable

from loci.data.passages import told
from loci.data.reading import reading_prompt, shortened
from loci.errors import LociError
from loci.knowledge.quoting import ROOM_FOR_ANSWER, Scored, quotations
from loci.model import GPT
from loci.text.corpus import Line
from loci.text.questions import Questions
from loci.text.template import infer_template
from loci.training.sources import TrainingData


def study(
    model: GPT, data: TrainingData, *, progress: Callable[[int, int], None] = lambda done, total: None
) -> Questions:
    """The train questions, and one question about every other subject with the answer the model reads in its lines.

    `progress` is told how many lines of how many are read.
    """
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
    for done, line in enumerate(lines, start=1):
        answer, probability = _read(model, data, line, template.ask(line.subject), longest)
        best[line.subject] = max(best.get(line.subject, (-1.0, "")), (probability, answer))
        progress(done, len(lines))
    written = [(template.ask(subject), answer) for subject, (_, answer) in best.items()]
    given = [(question.text, question.answer) for question in answered]
    return Questions.from_pairs([*given, *written], template=template)


def _read(model: GPT, data: TrainingData, line: Line, question: str, longest: int) -> Scored:
    """What a line answers to the question about its subject, with its probability."""
    text = shortened(line.text, max(1, model.config.block_size - len(question) - ROOM_FOR_ANSWER))
    prompt = reading_prompt(data.vocab, question, text)
    return quotations(model, data.vocab, [prompt], [text.removeprefix(line.subject)], longest=longest)[0][0]
