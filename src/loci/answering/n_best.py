"""The likeliest whole answers of a model, each with the probability of all its characters and its end.

Found by beam search, by reciting where the model was taught to, or, among given candidates, scored exactly. A model may
have been taught to say "I don't know": that is silence, not an answer, so a row keeps the likeliest real answer beside
it. Knows nothing of scoring.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from loci.answering.greedy import ANSWER_LENGTH, I_DONT_KNOW
from loci.answering.prompts import prompts
from loci.answering.recite import recitals
from loci.answering.span_scoring import Scored, candidate_ids
from loci.evaluation.rows import Row
from loci.generation import beam_search, score_candidates
from loci.text.questions import Questions
from loci.text.vocab import MASK_ID
from loci.training.checkpoint import LoadedModel

WIDTH = 8


def n_best_answers(
    loaded: LoadedModel, questions: Questions, *, width: int = WIDTH, candidates: Sequence[str] | None = None
) -> list[list[Scored]]:
    """For each question at most `width` answers with their probabilities, likeliest first.

    With `candidates` only these are considered. Their probabilities stay the model's own and need not sum to 1.
    """
    if not len(questions):
        return []
    if loaded.recites:
        return [list(recital.answers) for recital in recitals(loaded, questions, width=width, candidates=candidates)]
    asked = prompts(loaded, questions)
    if candidates is not None:
        texts = list(dict.fromkeys(candidates))
        scores = score_candidates(loaded.model, asked, candidate_ids(loaded.vocab, texts), stop_id=MASK_ID)
        return [
            sorted(zip(texts, map(_probability, row.tolist()), strict=True), key=lambda pair: -pair[1])[:width]
            for row in scores
        ]
    found = beam_search(loaded.model, asked, width=width, max_new=ANSWER_LENGTH, stop_id=MASK_ID)
    answers = []
    for texts_of_one in found:
        # A text cut off by length has no end yet: its probability is that of a beginning.
        ended = [text for text in texts_of_one if text.stopped] or texts_of_one[:1]
        answers.append([(loaded.vocab.decode(text.ids), _probability(text.log_probability)) for text in ended])
    return answers


def n_best_rows(
    loaded: LoadedModel, questions: Questions, *, split: str | None = None, width: int = WIDTH
) -> list[Row]:
    """Rows with alternatives. Where silence is likeliest the row abstained and keeps the likeliest real answer."""
    rows = []
    for question, answers in zip(questions, n_best_answers(loaded, questions, width=width), strict=True):
        real = [pair for pair in answers if pair[0] != I_DONT_KNOW] or [("", 0.0)]
        rows.append(
            Row(
                question=question.text,
                prediction=real[0][0],
                answers=question.answers,
                subject=question.subject,
                probability=real[0][1],
                alternatives=tuple(real[1:]),
                abstained=answers[0][0] == I_DONT_KNOW,
                split=split,
                model=loaded.hash,
                data=loaded.corpus_hash,
            )
        )
    return rows


def _probability(log_probability: float) -> float:
    return min(1.0, math.exp(log_probability))
