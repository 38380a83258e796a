"""What the published code does, not what its comments say: held by plain references written from the facts."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from course_reference import reference_training

from loci.data.objectives import QuestionAnswer
from loci.interop.course_params import COURSE_VARIANTS, course_names, to_course
from loci.model import GPT, VARIANTS, GPTConfig
from loci.pipeline import carry_out
from loci.recipes import DataShape, make_recipe
from loci.recipes.course import finetune_stage, pretrain_stage
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.world import WorldSpec, write_world
from loci.training.checkpoint import load_model
from loci.training.optim import decayed
from loci.training.plan import Recipe
from loci.training.run import read_metrics
from loci.training.sources import TrainingData, make_stream

STEPS = 10


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    folder = tmp_path_factory.mktemp("executed") / "world"
    write_world(WorldSpec(people=90, seed=5), folder)
    return TrainingData(Corpus.read(folder), Questions.read(folder / "birth_places_train.tsv"))


@pytest.mark.parametrize("variant", ["vanilla", "synthesizer", "rope"])
def test_ten_steps_with_decay_are_those_of_the_plain_loop(variant: str, data: TrainingData, tmp_path: Path) -> None:
    sizes = {"n_layer": 2, "n_head": 2, "n_embd": 32, "block_size": 128}
    dropout = dict.fromkeys(("embd_pdrop", "attn_pdrop", "resid_pdrop"), 0.0)  # the one thing chance decides
    config = GPTConfig.from_dict({**sizes, **dropout, **VARIANTS[variant].changes, "vocab_size": len(data.vocab)})
    stage = pretrain_stage(DataShape.of(data.corpus, data.questions), year=2024).with_budget(steps=STEPS)
    stage = replace(stage, batch_size=16)
    recipe = Recipe("course", {**sizes, **dropout, **VARIANTS[variant].changes}, (stage,))
    model = GPT(config, generator=torch.Generator().manual_seed(0))
    before = to_course(model)
    batches = [make_stream(stage, 0, recipe, data, 128).batch(step) for step in range(STEPS)]
    assert stage.final_tokens is not None
    losses, after = reference_training(before, batches, n_head=2, lr=6e-3, final_tokens=stage.final_tokens)
    carry_out(recipe, data, tmp_path / "run", initial=model)
    metrics = read_metrics(tmp_path / "run")
    assert [row["loss"] for row in metrics] == pytest.approx(losses, rel=1e-6)
    assert metrics[0]["lr"] == 6e-3  # the first step runs at the full rate
    trained = to_course(load_model(tmp_path / "run").model)
    # A norm that did not decay would be 1e-3 away; of a gradient that is nearly nothing AdamW makes steps of rounding.
    assert max((trained[name] - tensor).abs().mean().item() for name, tensor in after.items()) < 1e-4


@pytest.mark.parametrize("variant", COURSE_VARIANTS)
def test_everything_but_biases_decays(variant: str) -> None:
    model = GPT(VARIANTS[COURSE_VARIANTS[variant]].apply(GPTConfig(9, n_layer=3, n_head=2, n_embd=8)))
    names = {id(parameter): course_names(name) for name, parameter in model.named_parameters()}
    groups = [{name for p in group for name in names[id(p)]} for group in decayed(model, "all-but-biases")]
    assert groups[1] == {name for group in groups for name in group if name.endswith(".bias")}
    expected = {
        "vanilla": "pos_emb",
        "synthesizer": "blocks.0.attn.b2",
        "perceiver": "down_block.C",
        "rope": "ln_f.weight",
    }
    assert {"tok_emb.weight", "blocks.0.ln1.weight", "head.weight", expected[variant]} <= groups[0]


def test_a_lagging_rate_is_that_of_the_step_before(data: TrainingData, tmp_path: Path) -> None:
    rates = []
    for fix in ((), ("rate",)):
        stage = pretrain_stage(DataShape.of(data.corpus), year=2024, fix=fix).with_budget(steps=6)
        recipe = Recipe("course", {"n_layer": 1, "n_head": 2, "n_embd": 8, "block_size": 128}, (stage,))
        run = tmp_path / f"run{len(rates)}"
        carry_out(recipe, data, run)
        rates.append([row["lr"] for row in read_metrics(run)])
    assert rates[0] == [6e-3, *rates[1][:-1]]
    assert all(first != second for first, second in pairwise(rates[1][:3]))


def test_train_questions_lose_what_is_not_ascii(data: TrainingData) -> None:
    asked = Questions.from_pairs([("Where was Łukasz Żak born?", "Kraków")])
    vocab = Corpus.from_lines(["Łukasz Żak. Where was he born? In Kraków ."]).vocab
    for stage, text in (
        (finetune_stage(DataShape(1)), "Where was ukasz ak born?⁇Krakw⁇"),
        (finetune_stage(DataShape(1), fix=("ascii",)), "Where was Łukasz Żak born?⁇Kraków⁇"),
    ):
        example = QuestionAnswer(vocab, 128, **stage.mixture[0].options)(asked[0], np.random.default_rng(0))
        assert vocab.decode(example.ids) == text
        assert example.loss_mask.sum() == len(text.partition("⁇")[2]) + 1


def test_how_many_train_questions_lose_characters(course_data: Path) -> None:
    questions = Questions.read(course_data / "birth_places_train.tsv")
    assert sum(not (row.text + (row.answer or "")).isascii() for row in questions) == 124


@pytest.mark.parametrize("name", ["course-2021", "course-2024", "course-scratch"])
def test_the_recipes_are_as_executed(name: str) -> None:
    for stage in make_recipe(name, DataShape(100, 50)).stages:
        assert (stage.decay_groups, stage.rate_lag) == ("all-but-biases", 1)
        assert stage.mixture[0].options == ({"ascii_only": True} if stage.name == "finetune" else {})
