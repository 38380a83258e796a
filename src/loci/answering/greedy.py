"""The published way: the likeliest character each time, 32 at most, and whatever comes is the answer.

Only `loci course` answers so. Knows no other answers, and nothing of thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence

from loci.answering.confidence import Confidence
from loci.answering.direct import ANSWER_LENGTH, DirectAnswerer
from loci.generation import Generated, generate
from loci.text.vocab import MASK_ID
from loci.training.checkpoint import LoadedModel


class GreedyAnswerer(DirectAnswerer):
    """The continuation by the likeliest characters, always said."""

    def __init__(self, loaded: LoadedModel, confidence: Confidence):
        super().__init__(loaded, Confidence(threshold=0.0))

    def search(self, prompts: Sequence[Sequence[int]]) -> list[list[Generated]]:
        """One continuation of each prompt."""
        return [[text] for text in generate(self.loaded.model, prompts, max_new=ANSWER_LENGTH, stop_id=MASK_ID)]
