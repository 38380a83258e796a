"""A small data set and a recipe that trains in a second, for the tests of training and of the pipeline."""

import numpy as np
import pytest

from loci.pipeline import carry_out
from loci.text.corpus import Corpus
from loci.text.questions import Question, Questions
from loci.text.relations import Relation
from loci.text.template import BIRTHPLACE
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.sources import TrainingData

PLACES = ("Rome", "Oslo", "Lima", "Kyiv")


@pytest.fixture(scope="session")
def tiny_data() -> TrainingData:
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(list("abcdefgh"), 4)).title() for _ in range(24)]
    places = [PLACES[rng.integers(len(PLACES))] for _ in names]
    corpus = Corpus.from_lines(
        f"{name}. {name} was born in {place}." for name, place in zip(names, places, strict=True)
    )
    questions = Questions(
        None,
        tuple(
            Question(BIRTHPLACE.ask(name), (place,), name, i + 1, "birthplace")
            for i, (name, place) in enumerate(zip(names, places, strict=True))
        ),
        (Relation("birthplace", (BIRTHPLACE,)),),
    )
    return TrainingData(corpus, questions)


@pytest.fixture(scope="session")
def tiny_recipe() -> Recipe:
    """Two stages, dropout, a pool and Muon: everything whose state a resume must bring back."""
    model = {"n_layer": 1, "n_head": 2, "n_embd": 16, "block_size": 64}
    pretrain = Stage(
        "pretrain", (MixtureComponent("corruption-2024"),), steps=14, batch_size=4, pool=3, optimiser="muon"
    )
    finetune = Stage(
        "finetune",
        (MixtureComponent("question-answer", source="questions"), MixtureComponent("language-model", share=0.5)),
        steps=9,
        batch_size=6,
    )
    return Recipe("tiny", model, (pretrain, finetune), seed=3)


@pytest.fixture(scope="session")
def tiny_run(tiny_recipe, tiny_data, tmp_path_factory):
    """The recipe carried out at one go, alone in its folder; not to be changed."""
    run = tmp_path_factory.mktemp("tiny") / "run"
    assert carry_out(tiny_recipe, tiny_data, run).finished
    return run
