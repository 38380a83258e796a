"""A character model of one running text, such as the plays of Shakespeare: windows of it, no lines, no questions.

About ten minutes on two cores: a million parameters see the text five times. nanoGPT publishes two figures
for such a text (its own split, the last tenth held out): 1.88 nats per character after three minutes on a CPU, 1.4697
with ten times the parameters on a large GPU.
"""

from __future__ import annotations

from loci.recipes.shape import DataShape
from loci.training.plan import MixtureComponent, Recipe, Stage

CHAR_MODEL = {
    "n_layer": 4,
    "n_head": 5,
    "n_embd": 160,
    "block_size": 256,
    "positions": "rope",
    "embd_pdrop": 0.0,
    "attn_pdrop": 0.0,
    "resid_pdrop": 0.0,
    "qk_norm": True,
    "activation": "relu2",
    "zero_init": True,
}


def char(shape: DataShape) -> Recipe:
    """Windows of a running text, line ends included; every character counts."""
    read = Stage(
        name="pretrain",
        mixture=(MixtureComponent("language-model", source="text", options={"closing_mask": False}),),
        characters=5.6e6,
        batch_size=16,
        lr=3e-3,
        optimiser="muon",
        schedule="wsd",
        decay=0.5,
        held_out=0.1,
    )
    return Recipe(
        "char", CHAR_MODEL, (read,), note="a character model of a running text (--text FILE), for loci sample"
    )
