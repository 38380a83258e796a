"""Self-training: a model that has learned to read writes questions and answers about everybody in the corpus.

The train people keep their given answers; about everybody else the model reads its own way through their lines. Where a
line names several places, what the train questions are in the habit of calling the answer is weighed in. Nothing but
the corpus and the train questions is looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from loci.answering.span_scoring import ROOM_FOR_ANSWER, Scored, score_spans
from loci.data.reading import reading_prompt, shortened
from loci.errors import LociError
from loci.model import GPT
from loci.pipeline.labelers.answer_prior import AnswerPrior, answer_prior
from loci.text.corpus import Line
from loci.text.questions import Questions
from loci.text.spans import word_spans
from loci.text.template import Template
from loci.text.vocab import Vocab
from loci.training.checkpoint import load_model
from loci.training.sources import TrainingData

RIVALS = 16
"""The favourites of each reader that habit may choose from."""


def load_readers(runs: Sequence[str | Path], vocab: Vocab) -> list[GPT]:
    """The models of runs that are to read beside another one; they must know the same characters."""
    loaded = [load_model(run) for run in runs]
    for run, one in zip(runs, loaded, strict=True):
        if one.vocab != vocab:
            raise LociError("knows other characters", path=run, remedy="train the reader on the same corpus")
    return [one.model.eval() for one in loaded]


def study(
    model: GPT,
    data: TrainingData,
    *,
    beside: Sequence[GPT] = (),
    use_prior: bool = True,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Questions:
    """The train questions, and one question about every other subject with the answer the model reads in its lines.

    A span's probability, the mean of the model's and of those `beside` it, is multiplied by its habit, or stands alone
    without `use_prior`. `progress` is told how many lines of how many are read.
    """
    assert data.questions is not None
    answered, template = data.questions.answered, data.form
    known = {question.subject for question in answered}
    longest = max(len(question.answer.split()) for question in answered if question.answer)
    habit = answer_prior(data.corpus, data.questions, longest=longest) if use_prior else AnswerPrior({}, 1.0)
    readers = (model, *beside)
    block = min(reader.config.block_size for reader in readers)
    lines = [line for line in data.corpus if line.subject not in known and _askable(block, template, line)]
    best: dict[str, tuple[float, str]] = {}
    for done, line in enumerate(lines, start=1):
        read = _read(readers, block, data, line, template.ask(line.subject), longest)
        weighed = max((probability * habit.of(answer), answer) for answer, probability in read)
        best[line.subject] = max(best.get(line.subject, (-1.0, "")), weighed)
        progress(done, len(lines))
    asked = [(template.ask(subject), answer) for subject, (_, answer) in best.items()]
    room = model.config.block_size - 2  # for the masks behind question and answer
    written = [(text, answer) for text, answer in asked if answer.strip() and len(text + answer) <= room]
    given = [(question.text, question.answer) for question in answered]
    return Questions.from_pairs([*given, *written], template=template)


def _askable(block: int, template: Template, line: Line) -> bool:
    """Whether a question about the line's subject can be written, and the line holds a word to answer it with.

    A sentence without a full stop is taken for a subject: a question about it would fill the block.
    """
    room = block - len(template.ask(line.subject)) - ROOM_FOR_ANSWER
    return room > 0 and bool(line.subject) and "\t" not in line.subject and bool(word_spans(line.body, 1))


def _read(
    readers: Sequence[GPT], block: int, data: TrainingData, line: Line, question: str, longest: int
) -> list[Scored]:
    """What a line may answer to the question about its subject, with the readers' mean probability."""
    text = shortened(line.text, block - len(question) - ROOM_FOR_ANSWER)
    prompt, about = reading_prompt(data.vocab, question, text), text.removeprefix(line.subject)
    mean: dict[str, float] = defaultdict(float)
    for reader in readers:
        for span, probability in score_spans(reader, data.vocab, [prompt], [about], width=RIVALS, longest=longest)[0]:
            mean[span] += probability / len(readers)
    return list(mean.items())
