"""Asking a model: questions in, prediction rows out.

The prompt is the question and the mask that calls for the answer; the model writes until the next mask. Greedy, all
questions in batches. Knows nothing of scoring.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from loci.data.objectives import question_prompt
from loci.errors import LociError
from loci.generation.decode import generate
from loci.knowledge.rows import Prediction
from loci.text.questions import Question, Questions
from loci.text.vocab import MASK_ID
from loci.training.checkpoint import LoadedModel

#: Characters an answer may have, as published.
ANSWER_LENGTH = 32


def answer_questions(
    loaded: LoadedModel, questions: Questions, *, split: str | None = None, batch_size: int = 256
) -> list[Prediction]:
    """Greedy answers to all questions, in their order."""
    prompts = [_prompt(loaded, questions, question) for question in questions]
    if not prompts:
        return []
    answers = generate(loaded.model, prompts, max_new=ANSWER_LENGTH, stop_id=MASK_ID, batch_size=batch_size)
    return [
        Prediction(
            question=question.text,
            prediction=loaded.vocab.decode(answer.ids),
            answers=question.answers,
            subject=question.subject,
            probability=min(1.0, math.exp(answer.log_probability)),
            split=split,
            model=loaded.hash,
            data=loaded.corpus_hash,
        )
        for question, answer in zip(questions, answers, strict=True)
    ]


def _prompt(loaded: LoadedModel, questions: Questions, question: Question) -> Sequence[int]:
    try:
        ids = question_prompt(loaded.vocab, question.text)
    except LociError as error:
        raise LociError(error.message, path=questions.path, line=question.number, remedy=error.remedy) from None
    limit = loaded.model.config.block_size
    if len(ids) >= limit:
        raise LociError(
            f"the question takes {len(ids)} of the model's {limit} characters and leaves none for an answer",
            path=questions.path,
            line=question.number,
            remedy="shorten it, or train with a larger block_size",
        )
    return [int(index) for index in ids]
