"""A recipe with every part of silence, tiny: it runs, keeps its labels, and the run keeps four numbers."""

import pytest

from loci.answering.answerer import make_answerer
from loci.pipeline import carry_out, familiarity
from loci.pipeline.labels_file import read_labels
from loci.text.questions import Questions
from loci.training.checkpoint import load_model
from loci.training.plain_data import to_dict
from loci.training.plan import LabelStep, MixtureComponent, Recipe, Stage, recipe_from_dict
from loci.training.run import PSEUDO_LABELS


@pytest.fixture
def recipe(tiny_recipe):
    reading = MixtureComponent("reading", source="reading-taught", options={"untold": 0.3})
    labels = MixtureComponent("question-answer", source="pseudo-labels", options={"count_subject": True})
    steps = (
        Stage("read", (reading,), steps=3, batch_size=4),
        LabelStep("label", "self-training", {"degrees": True}),
        Stage("memorize", (labels,), steps=3, batch_size=4),
    )
    model = {**tiny_recipe.model, "block_size": 96}
    return Recipe("silent", model, steps, answerer="memory", stranger_rate=0.01)


def test_a_run_with_all_parts_of_silence(recipe, tiny_data, tmp_path, monkeypatch):
    monkeypatch.setattr(familiarity, "DRAWN", 5)
    assert recipe_from_dict(to_dict(recipe)) == recipe
    assert carry_out(recipe, tiny_data, tmp_path / "run").finished
    labels = read_labels(tmp_path / "run" / PSEUDO_LABELS)
    given = {question.text for question in tiny_data.questions}
    assert all((row.degree == 9) == (row.text in given) for row in labels)
    loaded = load_model(tmp_path / "run")
    assert set(loaded.config["familiarity"]) == {"gate", "slope", "intercept", "most"}
    for answer in make_answerer(loaded).answer(Questions.from_pairs([("Where was Zq Xy born?", None)])):
        assert answer.silence is not None or answer.known
