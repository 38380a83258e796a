"""Asking a model: questions in, prediction rows out.

The prompt is the question and the mask that calls for the answer; the model writes until the next mask. Greedy, all
questions in batches. A model taught to recite writes the line it remembers first and answers from that
(`loci.answering.recite`). A model may have been taught to say "I don't know": that is silence, not an answer. Knows
nothing of scoring.
"""

from __future__ import annotations

import math

from loci.answering.prompts import prompts
from loci.answering.recite import recitals
from loci.evaluation.rows import Row
from loci.generation.decode import generate
from loci.text.questions import Questions
from loci.text.vocab import MASK_ID
from loci.training.checkpoint import LoadedModel

#: Characters an answer may have, as published.
ANSWER_LENGTH = 32
I_DONT_KNOW = "I don't know"
"""What a model is taught to answer when nobody could know."""


def answer_questions(
    loaded: LoadedModel, questions: Questions, *, split: str | None = None, batch_size: int = 128
) -> list[Row]:
    """Greedy answers to all questions, in their order."""
    if loaded.recites:
        return _recited_rows(loaded, questions, split)
    asked = prompts(loaded, questions)
    if not asked:
        return []
    answers = generate(loaded.model, asked, max_new=ANSWER_LENGTH, stop_id=MASK_ID, batch_size=batch_size)
    rows = []
    for question, answer in zip(questions, answers, strict=True):
        text = loaded.vocab.decode(answer.ids)
        silent = text == I_DONT_KNOW
        rows.append(
            Row(
                question=question.text,
                # Greedy decoding knows of no other answer, so nothing stands behind the silence.
                prediction="" if silent else text,
                answers=question.answers,
                subject=question.subject,
                probability=0.0 if silent else min(1.0, math.exp(answer.log_probability)),
                abstained=silent,
                split=split,
                model=loaded.hash,
                data=loaded.corpus_hash,
            )
        )
    return rows


def _recited_rows(loaded: LoadedModel, questions: Questions, split: str | None) -> list[Row]:
    rows = []
    for question, recital in zip(questions, recitals(loaded, questions), strict=True):
        answer, probability = recital.answers[0]
        rows.append(
            Row(
                question=question.text,
                prediction=answer,
                answers=question.answers,
                subject=question.subject,
                probability=probability,
                split=split,
                model=loaded.hash,
                data=loaded.corpus_hash,
            )
        )
    return rows
