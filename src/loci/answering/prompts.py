"""Questions as a model reads them: ids, and the mask that calls for the answer.

Only the question has to suit the model. An expected answer that it could never write is no fault of the question: it
will count as a wrong answer, which is why `Questions.require`, made for training, is too strict here. Knows nothing of
how an answer is written.
"""

from __future__ import annotations

from loci.data.objectives import question_prompt
from loci.errors import LociError
from loci.text.questions import Questions
from loci.text.vocab import Vocab
from loci.training.checkpoint import LoadedModel


def prompts(loaded: LoadedModel, questions: Questions) -> list[list[int]]:
    """The prompt of every question. One the model cannot read, or that leaves no room, is a `LociError` by line."""
    return question_prompts(loaded.vocab, loaded.model.config.block_size, questions)


def question_prompts(vocab: Vocab, limit: int, questions: Questions) -> list[list[int]]:
    """`prompts` for a model with this vocabulary and block, which need not be there yet."""
    found = []
    for question in questions:
        try:
            ids = question_prompt(vocab, question.text).tolist()
        except LociError as error:
            raise LociError(error.message, path=questions.path, line=question.number, remedy=error.remedy) from None
        if len(ids) >= limit:
            raise LociError(
                f"the question takes {len(ids)} of the model's {limit} characters and leaves none for an answer",
                path=questions.path,
                line=question.number,
                remedy="shorten it, or train with a larger block_size",
            )
        found.append(ids)
    return found
