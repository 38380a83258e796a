"""The demo's recipes: the course's experiment on the embedded world, small enough for two cores and five minutes.

*demo* has two stages. First the text alone, its names, places and dates masked or asked for by the subject. Then the
train questions, with the text going on next to them: questions alone would be memorized within seconds, and the way
from a new name to its place would never be needed (docs/experiments.md has the figures). *demo-scratch* has the
questions alone. The demo's self-training is the recipe of that name in more and smaller steps.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from loci.recipes.shape import DataShape
from loci.text.world import WorldSpec
from loci.training.plan import MixtureComponent, Recipe, Stage

#: The embedded world: 80 people are taught, 60 held out, each told of in five lines; 40 have no line at all.
DEMO_WORLD = WorldSpec(
    people=180,
    skew=0.5,
    paraphrases=5,
    permute=True,
    outside=40 / 180,
    train_share=80 / 140,
    dev_share=60 / 140,
)

DEMO_MODEL = {
    "n_layer": 4,
    "n_head": 4,
    "n_embd": 128,
    "block_size": 160,
    "positions": "rope",
    "embd_pdrop": 0.0,
    "attn_pdrop": 0.0,
    "resid_pdrop": 0.0,
    "qk_norm": True,
    "activation": "relu2",
    "zero_init": True,
}


#: Three narrow layers are enough for the demo's world, and learn it several times as fast.
DEMO_SIZE = {"n_layer": 3, "n_embd": 64}


def small_stage(name: str, characters: float, *mixture: MixtureComponent, **changes: Any) -> Stage:
    """A stage for small models: Muon, the full rate and then a decay, batches of like lengths. `changes` are fields."""
    fields = {"batch_size": 32, "pool": 16, "lr": 3e-3, "optimiser": "muon", "schedule": "wsd", "floor": 0.05}
    return Stage(name, mixture, characters=characters, **{"time_share": characters, **fields, **changes})


def demo(shape: DataShape) -> Recipe:
    """The text, then the train questions next to it."""
    pretrain = small_stage(
        "pretrain",
        0.5e6,
        MixtureComponent("salient-span", share=0.6),
        MixtureComponent("word-recall", share=0.4),
        floor=1.0,  # the next stage goes on from here at the full rate
    )
    finetune = small_stage(
        "finetune",
        1.5e6,
        MixtureComponent("question-answer", source="questions", share=0.25),
        MixtureComponent("salient-span", share=0.4),
        MixtureComponent("word-recall", share=0.35),
    )
    note = "the demo: the text first, then questions next to it"
    return Recipe("demo", {**DEMO_MODEL, **DEMO_SIZE}, (pretrain, finetune), note=note)


def demo_scratch(shape: DataShape) -> Recipe:
    """The same model without pretraining: the train questions alone."""
    finetune = small_stage("finetune", 0.1e6, MixtureComponent("question-answer", source="questions"))
    note = "the demo's model without pretraining"
    return Recipe("demo-scratch", {**DEMO_MODEL, **DEMO_SIZE}, (finetune,), note=note)


def demo_self_training(shape: DataShape) -> Recipe:
    """Self-training in more and smaller steps: the world is small, and so is the time."""
    from loci.recipes.recall import self_training  # which takes its model from here

    small = (
        *(f"model.{name}={value}" for name, value in DEMO_SIZE.items()),
        "read.batch_size=8",
        "read.characters=2.0e6",
        "label.use_prior=false",
        "memorize.batch_size=32",
        "memorize.characters=0.4e6",
    )
    return dataclasses.replace(self_training(shape).override(small), name="demo-self-training")
