"""The direct way: the question and the mask, and the likeliest whole answers by beam search.

The probability of an answer is that of all its characters and its end. Given candidates are scored exactly. Knows
nothing of thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from loci.answering.answer import Scored
from loci.answering.base import Asked, ModelAnswerer, Thought, candidate_ids
from loci.generation import Generated, beam_search, score_candidates
from loci.text.vocab import MASK_ID

ANSWER_LENGTH = 32
"""Characters an answer may have, its end included: as published."""
WIDTH = 8
"""Beams of every search, however many answers are asked for: so the best answer does not depend on that number."""


class DirectAnswerer(ModelAnswerer):
    """The likeliest answers behind the question."""

    def rank(self, asked: Sequence[Asked], candidates: Sequence[str] | None) -> list[Thought]:
        """Beam search, or every candidate scored."""
        model, vocab = self.loaded.model, self.loaded.vocab
        prompts = [question.prompt for question in asked]
        if candidates is not None:
            scores = score_candidates(model, prompts, candidate_ids(self.loaded, candidates), stop_id=MASK_ID)
            return [Thought(ranked(candidates, row.tolist())) for row in scores]
        thoughts = []
        for found in self.search(prompts):
            # A text cut off by length has no end yet: its probability is that of a beginning.
            ended = [text for text in found if text.stopped] or found[:1]
            texts = [vocab.decode(text.ids) for text in ended]
            thoughts.append(Thought(ranked(texts, [text.log_probability for text in ended])))
        return thoughts

    def search(self, prompts: Sequence[Sequence[int]]) -> list[list[Generated]]:
        """The likeliest continuations of each prompt."""
        return beam_search(self.loaded.model, prompts, width=WIDTH, max_new=ANSWER_LENGTH, stop_id=MASK_ID)


def ranked(texts: Sequence[str], log_probabilities: Sequence[float]) -> list[Scored]:
    """Texts with their probabilities, likeliest first."""
    scored = [(text, min(1.0, math.exp(log))) for text, log in zip(texts, log_probabilities, strict=True)]
    return sorted(scored, key=lambda pair: -pair[1])
