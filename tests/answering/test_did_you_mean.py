"""Names found again letter by letter, with a stand-in for a model that has memorized a few."""

import math
import unicodedata
from types import SimpleNamespace

import numpy as np
import pytest

from loci.answering import did_you_mean as module
from loci.answering.did_you_mean import did_you_mean
from loci.answering.familiarity import Familiarity
from loci.text.vocab import Vocab

NAMES = ["Alfred Mele", "Alfred Mehl", "Zoë Åberg", "Ann Lee", unicodedata.normalize("NFD", "José Núñez")]
BEFORE, AFTER = "Where was ", " born?"
VOCAB = Vocab.from_text("".join(NAMES) + BEFORE + AFTER + "abcdefghijklmnopqrstuvwxyzoA")
LEAST = -4.0


@pytest.fixture(autouse=True)
def memorized(monkeypatch):
    """Letters that go on as memorized names do have their share of them, all others are hardly likely."""

    def after(model, prompts):
        found = np.full((len(prompts), len(VOCAB)), -9.0)
        for row, prompt in enumerate(map(VOCAB.decode, prompts)):
            told = prompt.removeprefix(BEFORE)
            going_on = [f"{name} "[len(told)] for name in NAMES if name.startswith(told)]
            for letter in going_on:
                found[row, VOCAB.ids[letter]] = math.log(going_on.count(letter) / len(going_on))
        return found

    monkeypatch.setattr(module, "next_log_probabilities", after)


def meant(name: str, *, before: str = BEFORE) -> str | None:
    model = SimpleNamespace(config=SimpleNamespace(block_size=64))
    return did_you_mean(model, VOCAB, name, before=before, after=AFTER, least=LEAST)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", ["Alfred Mela", "Alfed Mele", "Allfred Mele", "Blfred Mele", "Aflred Mele", "alfred mele", "Alfred Melee"]
)
def test_a_misspelt_name_is_found(name):
    assert meant(name) == "Alfred Mele"


def test_of_several_the_one_with_fewest_edits():
    assert meant("Alfred Meh") == "Alfred Mehl"


def test_accents_cost_nothing():
    assert meant("Zoe Aberg") == "Zoë Åberg"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(
    ("name", "known"), [("Zoë Åberk", NAMES[2]), ("José Núñes", NAMES[4]), ("Jose Nunes", NAMES[4])]
)
def test_accents_cost_nothing_composed_or_not(name, known, form):
    assert meant(unicodedata.normalize(form, name)) == known


def test_a_name_may_stand_at_the_beginning():
    assert meant("Alfred Mela", before="") == "Alfred Mele"


@pytest.mark.parametrize("name", ["Alfred Nobel", "Bo Lee", "Xyz", "A"])
def test_nobody_is_offered_for_another_name(name):
    """Two edits at most, and none for a name that is too short to be told by the rest."""
    assert meant(name) is None


def test_the_gate_as_a_likelihood():
    familiarity = Familiarity(gate=0.7, slope=2.0, intercept=20.0)
    assert familiarity.probability(np.array([[familiarity.least, 0.0]])) == pytest.approx([0.7])
