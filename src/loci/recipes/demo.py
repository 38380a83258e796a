"""The demo's recipe: the course's experiment on the embedded world, small enough for two cores and four minutes.

Two stages. First the text alone, its names, places and dates masked or asked for by the subject. Then the train
questions, with the text going on beside them: questions alone would be learned by heart within seconds, and the way
from a new name to its place would never be needed (docs/experiments.md has the figures).
"""

from __future__ import annotations

from loci.recipes.shape import DataShape
from loci.text.world import WorldSpec
from loci.training.plan import MixtureComponent, Recipe, Stage

#: The embedded world: as many people in training as held out, five tellings of each life.
DEMO_WORLD = WorldSpec(people=240, paraphrases=5, permute=True, train_share=0.5, dev_share=0.5)

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


def _stage(name: str, minutes: float, *mixture: MixtureComponent, floor: float = 0.05) -> Stage:
    return Stage(
        name=name,
        mixture=mixture,
        minutes=minutes,
        time_share=minutes,
        batch_size=32,
        pool=16,
        lr=3e-3,
        matrix_lr=0.02,
        optimiser="muon",
        schedule="wsd",
        floor=floor,
    )


def demo(shape: DataShape) -> Recipe:
    """The text, then the train questions beside it."""
    pretrain = _stage(
        "pretrain",
        1.0,
        MixtureComponent("salient-span", share=0.6),
        MixtureComponent("word-recall", share=0.4),
        floor=1.0,  # the next stage goes on from here at the full rate
    )
    finetune = _stage(
        "finetune",
        2.4,
        MixtureComponent("question-answer", source="questions", share=0.25),
        MixtureComponent("salient-span", share=0.4),
        MixtureComponent("word-recall", share=0.35),
    )
    return Recipe("demo", DEMO_MODEL, (pretrain, finetune), note="the demo: the text first, then questions beside it")


def demo_scratch(shape: DataShape) -> Recipe:
    """The same model without pretraining: the train questions alone."""
    finetune = _stage("finetune", 0.3, MixtureComponent("question-answer", source="questions"))
    return Recipe("demo-scratch", DEMO_MODEL, (finetune,), note="the demo's model without pretraining")
