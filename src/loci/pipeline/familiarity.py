"""How familiar a name must be to a run, chosen as the last step of its training from names that it makes up itself.

No answers are needed: whoever is asked about is nobody's name, so every answer is made up. The run keeps the number and
nothing of the names. Knows no recipe by name.
"""

from __future__ import annotations

import numpy as np

from loci.answering.answer import NEVER_READ
from loci.answering.answerer import make_answerer
from loci.data.silence import StrangerPool
from loci.text.questions import Questions
from loci.text.strangers import Strangers
from loci.training.checkpoint import LoadedModel
from loci.training.plan import Recipe
from loci.training.sources import TrainingData

DRAWN = 1000
LEAST, LARGEST = 0.3, 0.9
"""A run that finds made-up names more familiar than this is not helped by silence about nearly everything."""


def choose_familiarity(loaded: LoadedModel, data: TrainingData, recipe: Recipe) -> float:
    """The familiarity that all but `stranger_rate` of the recombined names stay below."""
    assert recipe.stranger_rate is not None
    assert data.questions is not None
    rng = np.random.default_rng([recipe.seed, len(recipe.steps)])
    pool = StrangerPool(Strangers(data.subjects), data.template)
    names = {pool.name("recombined", rng) for _ in range(DRAWN)}
    asked = Questions.from_pairs(
        [(data.template.ask(name), None) for name in sorted(names)], relations=data.questions.relations
    )
    answers = make_answerer(loaded, threshold=0.0).answer(asked)
    familiar = np.sort([1 - answer.reason_probabilities.get(NEVER_READ, 0.0) for answer in answers])[::-1]
    least = float(np.nextafter(familiar[int(recipe.stranger_rate * len(familiar))], 1.0))
    return round(min(LARGEST, max(LEAST, least)), 4)
