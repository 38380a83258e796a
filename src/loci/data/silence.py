"""Objectives that teach silence: an empty answer, or an empty line, about names that nobody in the corpus bears.

    stranger question   question ⁇⁇     the second mask counts: asked about somebody it never read about
    stranger line       name. ⁇         the mask counts: nothing to recite

Silence is the end of the text where an answer would begin, so one probability, that of the mask there, says how likely
the model never read about the subject. Names are drawn anew for every example. Knows nothing of batches or models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from loci.data.example import Example
from loci.text.strangers import Strangers
from loci.text.template import Template
from loci.text.vocab import MASK_ID, Vocab

KINDS = {"recombined": 0.4, "one_letter": 0.45, "nonsense": 0.15}
"""What strangers are taught with. Names of other origins only measure."""


@dataclass(frozen=True)
class StrangerPool:
    """Where strangers come from, and the form they are asked in. Every record of the source is the same pool."""

    strangers: Strangers
    template: Template | None

    def name(self, kind: str, rng: np.random.Generator) -> str:
        """A stranger of that kind. Names of one word cannot be recombined: there a letter is changed instead."""
        several = any(" " in subject for subject in self.strangers.subjects)
        return self.strangers.name(kind if several or kind != "recombined" else "one_letter", rng)


@dataclass(frozen=True)
class StrangerSilence:
    """A name that is nobody's, asked about or called up: the end at once is what counts."""

    vocab: Vocab
    block_size: int
    line: bool = False
    """Call up a line by the bare name, as a model that recites is asked."""
    kinds: Mapping[str, float] = field(default_factory=lambda: KINDS)

    def __call__(self, record: StrangerPool, rng: np.random.Generator) -> Example:
        """A fresh name with nothing after it."""
        names, shares = list(self.kinds), np.array(list(self.kinds.values()), dtype=np.float64)
        name = record.name(names[int(rng.choice(len(names), p=shares / shares.sum()))], rng)
        if self.line or record.template is None:
            given = self.vocab.encode(f"{name}. ")
        else:
            given = np.append(self.vocab.encode(record.template.ask(name)), MASK_ID)
        ids = np.append(given, MASK_ID)[-self.block_size :]
        return Example(ids, np.arange(len(ids)) == len(ids) - 1)
