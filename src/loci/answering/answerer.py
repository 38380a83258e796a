"""The one way to ask a model: an `Answerer`, named by the run's recipe.

Everything that asks (`loci ask`, `evaluate`, `look`, reports, experiments, Python) makes its answerer here, so that the
same question gets the same answer with the same probability everywhere. A new way of answering is one file and one
line at the end of this one, or `ANSWERERS.add` in a plugin. Knows no way of answering itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Protocol

from loci.answering.answer import Answer
from loci.answering.confidence import Confidence, confidence_of
from loci.answering.direct import DirectAnswerer
from loci.answering.greedy import GreedyAnswerer
from loci.answering.memory import MemoryAnswerer
from loci.answering.recite import ReciteAnswerer, ZeroShotAnswerer
from loci.errors import naming
from loci.registry import Registry
from loci.text.questions import Questions
from loci.training.checkpoint import CONFIG, LoadedModel


class Answerer(Protocol):
    """Answers questions from a model's weights and config; reads no file of the data."""

    def answer(self, questions: Questions, *, n: int = 1, candidates: Sequence[str] | None = None) -> list[Answer]:
        """An answer to every question, in their order.

        Args:
            questions: What is asked. A question that the model cannot read is answered with silence and a note.
            n: The best answer and at most n − 1 alternatives. The best answer does not depend on it.
            candidates: Consider these answers only, each scored exactly.
        """
        ...


#: Name → what makes an answerer for a model and a confidence.
ANSWERERS: Registry[Callable[[LoadedModel, Confidence], Answerer]] = Registry("answerer")


def make_answerer(loaded: LoadedModel, *, name: str | None = None, threshold: float | None = None) -> Answerer:
    """The answerer that the model's recipe names, with the run's own calibration and threshold.

    Args:
        loaded: The model.
        name: Another answerer of the registry.
        threshold: Answers whose confidence is below this are withheld; default: the run's own.
    """
    with naming(loaded.path / CONFIG if name is None else None):  # whose words they are
        loaded.vocab.require_mask()
        make = ANSWERERS[name or loaded.answerer]
    if name not in (None, loaded.answerer):  # what another way's probabilities are worth was not fitted
        config = {key: value for key, value in loaded.config.items() if key != "recalled"}
        loaded = dataclasses.replace(loaded, config=config)
    return make(loaded, confidence_of(loaded, threshold=threshold))


ANSWERERS.add("direct", DirectAnswerer)
ANSWERERS.add("recite", ReciteAnswerer)
ANSWERERS.add("zero-shot", ZeroShotAnswerer)
ANSWERERS.add("memory", MemoryAnswerer)
ANSWERERS.add("greedy", GreedyAnswerer)
