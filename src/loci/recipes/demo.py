"""The demo's recipe: the course's experiment on the embedded world, small enough for two cores and a few minutes."""

from __future__ import annotations

from loci.recipes.shape import DataShape
from loci.text.world import WorldSpec
from loci.training.plan import Ingredient, Recipe, Stage

#: The embedded world: as many people in training as held out, five tellings of each life.
DEMO_WORLD = WorldSpec(people=400, paraphrases=5, permute=True, train_share=0.5, dev_share=0.5)

DEMO_MODEL = {
    "n_layer": 4,
    "n_head": 4,
    "n_embd": 128,
    "block_size": 128,
    "positions": "rope",
    "embd_pdrop": 0.0,
    "attn_pdrop": 0.0,
    "resid_pdrop": 0.0,
    "qk_norm": True,
    "activation": "relu2",
    "zero_init": True,
}


def _finetune(minutes: float) -> Stage:
    return Stage(
        name="finetune",
        mixture=(Ingredient("question-answer", source="questions"),),
        minutes=minutes,
        time_share=1,
        batch_size=64,
        lr=1e-3,
        optimiser="muon",
        schedule="wsd",
    )


def demo(shape: DataShape) -> Recipe:
    """Pretraining on the corpus, then the train questions."""
    pretrain = Stage(
        name="pretrain",
        mixture=(Ingredient("corruption-2024"),),
        minutes=3.0,
        time_share=9,
        batch_size=48,
        pool=16,
        lr=3e-3,
        optimiser="muon",
        schedule="wsd",
    )
    return Recipe(
        "demo", DEMO_MODEL, (pretrain, _finetune(0.3)), note="the demo: pretrain on the corpus, then questions"
    )


def demo_scratch(shape: DataShape) -> Recipe:
    """The same model without pretraining."""
    return Recipe("demo-scratch", DEMO_MODEL, (_finetune(0.3),), note="the demo's model without pretraining")
