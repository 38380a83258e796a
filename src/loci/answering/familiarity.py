"""Whether a model read about a subject, by how likely it finds the subject's name.

A model that has memorized the names finds each of them about as likely as any other, and one wrong letter costs
several nats: its own spelling test, without a list of names. A part of a name is likelier than the whole, but it ends
where the model expects it to go on: so the ending has its say, and no name counts as likelier than most. What
likelihood is enough is fitted as the last step of training (`loci.pipeline.familiarity`). Knows nothing of answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from loci.generation.likelihood import log_probabilities
from loci.model import GPT


@dataclass(frozen=True)
class Familiarity:
    """From log p of a name to the probability of having read about its subject, and how much of it an answer needs."""

    gate: float
    """Below this probability nothing is said, whatever the answer."""
    slope: float
    intercept: float
    most: float | None = None
    """log p beyond which a name counts no more; None for a run that did not learn where names end."""

    @property
    def least(self) -> float:
        """log p of a name and its ending from which on it passes the gate; its letters count `most` at the most."""
        return float((np.log(self.gate) - np.log1p(-self.gate) - self.intercept) / self.slope)

    def probability(self, name_scores: Float[NDArray[np.float64], "N 2"]) -> NDArray[np.float64]:
        """The probability that the model read about each subject: a logistic function of log p of its name's letters,
        and of its ending."""
        letters = name_scores[:, 0] if self.most is None else np.minimum(name_scores[:, 0], self.most)
        odds = np.clip(self.slope * (letters + name_scores[:, 1]) + self.intercept, -50, 50)
        return np.asarray(1 / (1 + np.exp(-odds)), dtype=np.float64)


def score_names(
    model: GPT, sequences: Sequence[Sequence[int]], names: Sequence[slice], ends: Sequence[slice]
) -> Float[NDArray[np.float64], "N 2"]:
    """log p of each name where it stands in its sequence, and of what ends it; a sequence's first id has no say."""
    logs = log_probabilities(model, sequences)
    found = [(sum(row[name]), sum(row[end])) for row, name, end in zip(logs, names, ends, strict=True)]
    return np.array(found, dtype=np.float64).reshape(len(found), 2)
