"""The Python door: what a notebook uses, on a small world."""

import math
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

import loci
from loci.training.run import read_metrics

SHORT = 250
"""Characters that printing anything may take."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return loci.make_world(tmp_path_factory.mktemp("api") / "world", people=40)


@pytest.fixture(scope="module")
def data(folder):
    return loci.TrainingData.read(folder)


@pytest.fixture(scope="module")
def run(folder, data):
    small = ["model.n_layer=2", "model.n_embd=32", "finetune.steps=30", "finetune.batch_size=16"]
    return loci.train(loci.recipe("demo-scratch", data).override(small), data, folder.parent / "run")


@pytest.mark.parametrize("name", loci.RECIPES)
def test_every_recipe_is_trained_from_python(name, data, tmp_path):
    """Labelling steps too: nothing but the recipe, the data and a folder is asked for."""
    recipe = loci.recipe(name, data).override(["model.n_layer=1", "model.n_head=2", "model.n_embd=8"])
    recipe = recipe.with_stages(lambda stage: replace(stage.with_budget(steps=1), batch_size=2, pool=1))
    assert loci.train(recipe, data, tmp_path / "run").path == tmp_path / "run"
    assert [row["stage"] for row in read_metrics(tmp_path / "run")] == [stage.name for stage in recipe.stages]


def test_importing_loads_nothing_heavy():
    code = "import sys, loci; assert not {'torch', 'numpy'} & set(sys.modules); loci.Corpus; print(*dir(loci))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(loci.__all__) <= set(told.stdout.split())


def test_every_name_is_there():
    for name in loci.__all__:
        assert getattr(loci, name) is not None
    with pytest.raises(AttributeError, match="no_such"):
        _ = loci.no_such


def test_a_trained_run_is_asked_and_found_again_on_disk(run, data):
    question = data.questions[0].text
    answer = run.ask(question, threshold=0.0)
    again = loci.load(run.path).ask(question, threshold=0.0)
    assert isinstance(answer, loci.Answer)
    assert (again.text, again.probability) == (answer.text, answer.probability)
    assert answer.evidence


def test_evaluating_from_files_questions_and_pairs(run, data, folder, tmp_path):
    found = run.evaluate(data.questions, alternatives=2, split="taught")
    assert found.accuracy.n == len(data.questions)
    assert found.probabilities.brier.n == len(data.questions)
    assert {row.split for row in found.rows} == {"taught"}
    (pair,) = run.evaluate([(data.questions[0].text, data.questions[0].answer)]).rows
    assert pair.prediction == found.rows[0].prediction
    found.write(tmp_path / "rows.jsonl")
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == len(found.rows)
    assert loci.evaluate(run.path, folder / "birth_dev.tsv").accuracy.n > 0


def test_generating_scoring_and_loss(run, data):
    text = run.generate("The", length=20, seed=3)
    assert len(text) == 20
    assert text == run.generate("The", length=20, seed=3)
    scores = run.score("Where was she born?⁇", ["Rome", "Oslo"])
    assert set(scores) == {"Rome", "Oslo"}
    assert all(value < 0 for value in scores.values())
    assert 0 < run.loss(data.corpus.raw) < 2 * math.log(len(run.vocab))


def test_activations_are_read_patched_and_ablated(run):
    text = "Where was she born?⁇"
    inside = run.activations(text)
    assert inside["blocks.0.attn.pattern"].shape == (1, 4, len(text), len(text))
    only = run.activations(text, ["blocks.*.resid_post"])
    assert list(only) == ["blocks.0.resid_post", "blocks.1.resid_post"]
    other = run.activations(text.replace("she", "Ann"), [], patch={"final.norm": inside["final.norm"]})
    assert torch.allclose(other.logits, inside.logits, atol=1e-5)
    without = run.activations(text, [], ablate=[(0, 1)])
    assert not torch.allclose(without.logits, inside.logits, atol=1e-4)


def test_a_patched_run_answers_by_its_patches(run, data):
    question = data.questions[0].text
    before = run.ask(question, threshold=0.0)
    whole = [(block, head) for block in range(2) for head in range(4)]
    lesioned = run.ablate(whole)
    inside = run.activations(f"{question}⁇", [], ablate=whole)
    first = lesioned.activations(f"{question}⁇", [])
    assert torch.allclose(first.logits, inside.logits, atol=1e-5)
    assert lesioned.ask(question, threshold=0.0).probability != before.probability
    assert run.patch({"final.norm": lambda value: value}).ask(question, threshold=0.0).text == before.text
    assert run.ask(question, threshold=0.0) == before
    with pytest.raises(loci.LociError, match="no head"):
        run.ablate([(9, 0)])
    with pytest.raises(loci.LociError, match=r"no activation 'blocks\.9'"):
        run.patch({"blocks.9": lambda value: value})


def test_printing_is_short_and_notebooks_get_tables(run, data):
    answer, judged = run.ask(data.questions[0].text), run.evaluate(data.questions)
    inside = run.activations("Ann", [])
    shown = [run, run.loaded, data, data.corpus, data.questions, data.vocab, answer, judged, inside]
    for thing in [*shown, loci.recipe("self-training", data)]:
        assert len(repr(thing)) <= SHORT, repr(thing)[:400]
    for thing in (run, answer, judged, inside):
        assert thing._repr_html_().startswith(("<table>", "<div"))
    assert "demo-scratch" in run._repr_html_()


def test_bad_input_has_a_remedy(data, tmp_path):
    with pytest.raises(loci.LociError, match="WorldSpec"):
        loci.make_world(tmp_path / "w", poeple=3)
    with pytest.raises(loci.LociError, match="did you mean 'demo'"):
        loci.recipe("demos", data)
    with pytest.raises(loci.LociError, match="no such run"):
        loci.load(tmp_path / "none")


def test_a_plugin_file_brings_an_answerer(run, data, tmp_path, capsys):
    from loci.answering.answerer import ANSWERERS
    from loci.cli.main import main

    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "from loci.answering.answer import Answer\n"
        "from loci.answering.answerer import ANSWERERS\n\n"
        '@ANSWERERS.add("shout")\n'
        "class Shout:\n"
        "    def __init__(self, loaded, confidence):\n        pass\n"
        "    def answer(self, questions, *, n=1, candidates=None):\n"
        "        return [Answer(q.text, q.subject, None, q.text.upper(), 1.0, 1.0, True) for q in questions]\n"
    )
    config = {**run.loaded.config, "recipe": {**run.loaded.config["recipe"], "answerer": "shout"}}
    from loci.training.checkpoint import save_checkpoint

    save_checkpoint(tmp_path / "run", run.model, run.vocab, about={"recipe": config["recipe"]})
    try:
        assert main(["--import", str(plugin), "ask", str(tmp_path / "run"), "Who?"]) == 0
        assert "WHO?" in capsys.readouterr().out
    finally:
        ANSWERERS.remove("shout")
