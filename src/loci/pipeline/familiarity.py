"""How familiar a name must be to a run, chosen as the last step of its training from names that it makes up itself.

No answers are needed: its own subjects are familiar, and a made-up name is nobody's. The run keeps four numbers and
nothing of the names. Names of other origins and left-out subjects have no part in it: they only measure. Knows no
recipe by name.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from loci.answering.answerer import make_answerer
from loci.answering.base import ModelAnswerer
from loci.answering.familiarity import Familiarity
from loci.errors import LociError
from loci.evaluation.abstention import best_threshold
from loci.evaluation.asking import ask_rows
from loci.evaluation.metrics import score_arrays
from loci.pipeline.logistic import fit_logistic
from loci.text.questions import Questions
from loci.text.strangers import Strangers
from loci.training.checkpoint import LoadedModel
from loci.training.plan import Recipe
from loci.training.sources import TrainingData

DRAWN = 1000
"""Names of each kind, for fitting and again for choosing."""
MISSPELT = 0.08
"""How many names with one letter changed may get an answer: some of them are somebody else's."""
PARTS = 0.01
"""How many parts of its names may."""
SILENCED = 0.05
"""How many of its own subjects a run may be silent about, however familiar strangers look."""


def choose_familiarity(loaded: LoadedModel, data: TrainingData, recipe: Recipe) -> Familiarity:
    """A fit to the likelihoods of names, and a gate that all but `stranger_rate` of the recombined names stay below.

    No name counts as likelier than half of its own: what is, is how several begin.
    """
    assert recipe.stranger_rate is not None
    rng = np.random.default_rng([recipe.seed, len(recipe.steps)])
    answerer = make_answerer(loaded, threshold=0.0)
    assert isinstance(answerer, ModelAnswerer)
    strangers = Strangers(data.subjects)
    kinds = [
        (_drawable(strangers, "recombined"), recipe.stranger_rate),
        (_drawable(strangers, "part"), PARTS),
        ("one_letter", MISSPELT),
    ]

    def scores(names: list[str]) -> Float[NDArray[np.float64], "N 2"]:
        asked = Questions.from_pairs([(data.template.ask(name), None) for name in names], relations=data.relations)
        return answerer.name_scores(answerer.readable(asked))

    def made_up(kind: str) -> Float[NDArray[np.float64], "N 2"]:
        return scores(sorted({strangers.name(kind, rng) for _ in range(DRAWN)}))

    own = scores([data.subjects[index] for index in rng.permutation(len(data.subjects))[: 2 * DRAWN]])
    others = np.concatenate([made_up(kind) for kind, _ in kinds])
    most = float(np.median(own[:, 0]))
    likely = np.minimum(np.concatenate([own, others])[:, 0], most) + np.concatenate([own, others])[:, 1]
    known = np.arange(len(likely)) < len(own)
    slope, intercept = fit_logistic(likely[:, None], known.astype(np.float64)).tolist()
    # A run that has learned no names yet may find strangers likelier; a slope stays one that can be loaded.
    fitted = Familiarity(0.0, max(1e-4, round(slope, 4)), round(intercept, 4), min(0.0, round(most, 4)))
    gate = max(0.5, *(_above(fitted.probability(made_up(kind)), rate) for kind, rate in kinds))
    lowest = float(np.quantile(fitted.probability(own), SILENCED))
    # Rounded down: a gate of 1 would be passed by nobody.
    return dataclasses.replace(fitted, gate=max(1e-6, math.floor(min(gate, lowest) * 1e6) / 1e6))


def _drawable(strangers: Strangers, kind: str) -> str:
    """The kind, where the names give new ones of it (not where each is one word, or every combination is somebody's);
    else names with one letter changed."""
    try:
        strangers.names(kind, 1, np.random.default_rng(0))
    except LociError:
        return "one_letter"
    return kind if any(" " in subject for subject in strangers.subjects) else "one_letter"


def choose_threshold(loaded: LoadedModel, asked: Questions) -> float:
    """The threshold at which an answer is worth giving, by questions that reading was not taught with.

    A right answer earns as much as a wrong one costs.
    """
    found = best_threshold(score_arrays(ask_rows(loaded, asked)), 0.5)
    return min(0.5, math.floor(found * 1e4) / 1e4) if math.isfinite(found) else 0.5


def _above(familiar: NDArray[np.float64], rate: float) -> float:
    """The gate that only this share passes."""
    return float(np.nextafter(np.sort(familiar)[::-1][int(rate * len(familiar))], 1.0))
