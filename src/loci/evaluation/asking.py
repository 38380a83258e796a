"""From a model and questions to rows: the only place where a model is asked to be judged.

Asks through the run's own answerer, so a row holds what `loci ask` would answer. Knows nothing of metrics.
"""

from __future__ import annotations

from collections.abc import Sequence

from loci.answering.answer import Answer
from loci.answering.answerer import make_answerer
from loci.evaluation.rows import Row
from loci.text.questions import Questions
from loci.training.checkpoint import LoadedModel


def ask_rows(
    loaded: LoadedModel,
    questions: Questions,
    *,
    n: int = 1,
    split: str | None = None,
    answerer: str | None = None,
    withhold: bool = False,
) -> list[Row]:
    """The rows of a model's answers, each with at most n − 1 alternatives; by another answerer if one is named."""
    answers = make_answerer(loaded, name=answerer).answer(questions, n=n)
    return rows_of(answers, questions, split=split, model=loaded.hash, data=loaded.corpus_hash, withhold=withhold)


def rows_of(
    answers: Sequence[Answer],
    questions: Questions,
    *,
    split: str | None = None,
    model: str | None = None,
    data: str | None = None,
    withhold: bool = False,
) -> list[Row]:
    """Answers as rows. The probabilities are the model's own, so that calibrations can be fitted and judged on them.

    A row tells by `silence` where the run gives no answer. It abstained only where the model itself was silent, so that
    other thresholds can be judged; with `withhold` wherever the run is silent.
    """
    return [
        Row(
            question=question.text,
            prediction=answer.text,
            answers=question.answers,
            subject=answer.subject,
            relation=answer.relation,
            probability=answer.raw_probability,
            alternatives=tuple((other.text, other.raw_probability) for other in answer.alternatives),
            abstained=answer.declined or (withhold and not answer.known),
            silence=answer.silence,
            reasons=tuple(answer.reason_probabilities.items()),
            split=split,
            questions_hash=questions.hash,
            model=model,
            data=data,
        )
        for question, answer in zip(questions, answers, strict=True)
    ]
