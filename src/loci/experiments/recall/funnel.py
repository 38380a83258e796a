"""The error funnel of a model that read its corpus before it was asked.

    in the corpus       the answer stands in a line about the subject
    in the text read    it still stands there in the format and length that is read or memorized
    readable            with that text in view, the model answers rightly
    recited             without it, the model recites the answer from the subject's name
    answered rightly    and gives it as its answer

A model that labels its corpus has no step "recited": it gives the answer it had written, or another. Each step keeps
the questions that passed all before it, so each loss has one cause. Knows nothing of training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from loci.answering.answerer import make_answerer
from loci.answering.span_scoring import ROOM_FOR_ANSWER, score_spans
from loci.data.prompts import reading_prompt
from loci.data.reading import formatted_line, shortened
from loci.evaluation.error_kinds import RIGHT, FunnelStep
from loci.evaluation.metrics import is_right, wilson
from loci.evaluation.rows import Row
from loci.text.corpus import Corpus
from loci.text.match import any_stands_in, is_accepted
from loci.text.questions import Question, Questions
from loci.training.checkpoint import LoadedModel

RECITE = "recite"


def model_funnel(
    loaded: LoadedModel,
    questions: Questions,
    rows: Sequence[Row],
    corpus: Corpus,
    *,
    labels: Questions | None = None,
) -> tuple[FunnelStep, ...]:
    """The funnel of a model that recites, or of one that wrote `labels`; the rows are its answers to the questions."""
    left = [(question, row) for question, row in zip(questions, rows, strict=True) if question.answers]
    n = len(left)
    steps = [FunnelStep("asked", wilson(n, n))]

    def keep(name: str, passed: Sequence[bool]) -> Questions:
        left[:] = [pair for pair, ok in zip(left, passed, strict=True) if ok]
        steps.append(FunnelStep(name, wilson(len(left), n)))
        return replace(questions, rows=tuple(question for question, _ in left))

    keep("in the corpus", [corpus.tells(question.subject, question.answers) for question, _ in left])
    texts = {question.text: _text_read(loaded, corpus, question) for question, _ in left}
    asked = keep("in the text read", [_holds_any(texts[question.text], question) for question, _ in left])
    asked = keep("readable", _read(loaded, asked, texts, labels))
    if loaded.answerer == RECITE:
        answers = make_answerer(loaded).answer(asked)
        recited = [(answer.recited or "").removeprefix(answer.subject or "") for answer in answers]
        keep("recited", list(map(_holds_any, recited, asked)))
    keep(RIGHT, [is_right(row) for _, row in left])
    return tuple(steps)


def _holds_any(text: str, question: Question) -> bool:
    return any_stands_in([text], question.answers)


def _text_read(loaded: LoadedModel, corpus: Corpus, question: Question) -> str:
    """The subject's line as the model read or memorized it: one that holds the answer, if any does."""
    options = _options(loaded)
    room = loaded.model.config.block_size - len(question.text) - ROOM_FOR_ANSWER
    room = max(1, (room - 1) // 2 if options.get("twice") else room)
    assert question.subject is not None
    texts = [
        shortened(
            formatted_line(line.subject, line.body, options.get("line_format", "line")),
            min(room, options.get("longest", room)),
        )
        for line in corpus.about(question.subject)
    ]
    return next((text for text in texts if _holds_any(text, question)), texts[0])


def _options(loaded: LoadedModel) -> dict[str, Any]:
    """How the recipe's last stage that reads or memorizes sees a line."""
    recipe = loaded.config.get("recipe")
    steps = recipe.get("steps", []) if isinstance(recipe, dict) else []
    wanted = "memorize" if loaded.answerer == RECITE else "reading"
    found = [part["options"] for step in steps for part in step.get("mixture", ()) if part["objective"] == wanted]
    return dict(found[-1]) if found else {}


def _read(loaded: LoadedModel, asked: Questions, texts: dict[str, str], labels: Questions | None) -> list[bool]:
    """Whether each question is answered rightly with the text in view: as labelled, or read now."""
    if labels is not None:
        written = {question.text: question.answer for question in labels}
        return [is_accepted(written.get(question.text) or "", question.answers) for question in asked]
    twice = bool(_options(loaded).get("twice"))
    prompts = [reading_prompt(loaded.vocab, one.text, texts[one.text], twice=twice) for one in asked]
    bodies = [texts[question.text].removeprefix(question.subject or "") for question in asked]
    found = score_spans(loaded.model, loaded.vocab, prompts, bodies)
    return [is_accepted(answers[0][0], question.answers) for question, answers in zip(asked, found, strict=True)]
