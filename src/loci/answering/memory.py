"""The way of a memory: the direct way, and after each answer the degree that was memorized with it.

The degree says how sure the labeler was when it read the answer, so the probability of an answer is that of remembering
it times the chance that what is remembered is right. Knows nothing of thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from loci.answering.base import Asked, Thought
from loci.answering.direct import DirectAnswerer
from loci.data.degrees import NOT_TOLD, VALUES, degree_id
from loci.generation.likelihood import next_log_probabilities
from loci.text.vocab import MASK_ID


class MemoryAnswerer(DirectAnswerer):
    """The likeliest answers after the question, each with its degree."""

    one_form: ClassVar[bool] = True

    def rank(self, asked: Sequence[Asked], candidates: Sequence[str] | None) -> list[Thought]:
        """As the direct way, with the degree of every answer."""
        thoughts = super().rank(asked, candidates)
        vocab = self.loaded.vocab
        texts = [[text for text, _ in thought.ranked if text not in self.silences] for thought in thoughts]
        after = [
            [*question.prompt, *vocab.encode(text).tolist(), MASK_ID]
            for question, said in zip(asked, texts, strict=True)
            for text in said
        ]
        symbols = [degree_id(vocab, degree) for degree in range(len(VALUES))]
        spoken = np.exp(next_log_probabilities(self.loaded.model, after)[:, symbols]) if after else np.empty((0, 1))
        shares = iter(spoken / spoken.sum(axis=1, keepdims=True))
        found = []
        for thought, said, read in zip(thoughts, texts, self.familiar(asked), strict=True):
            degrees = {text: next(shares) for text in said}
            right = {text: float(share @ np.array(VALUES)) for text, share in degrees.items()}
            if not said:
                found.append(Thought(thought.ranked, familiar=read, not_told=0.0))
                continue
            shown = dict(thought.ranked)
            # Of two answers the likelier is remembered: what the others have left is no chance of being right.
            total = sum(shown.values())
            untold = shown[said[0]] / total * float(degrees[said[0]][NOT_TOLD]) * (1 - right[said[0]])
            right = {text: shown[text] / total * right[text] for text in said}
            found.append(Thought(thought.ranked, right=right, familiar=read, not_told=untold))
        return found
