# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # What does it make up?
#
# A model answers even when it was never told. Here are four kinds of people: asked about in training, only read about, read about without their birthplace,
# and never written about. For the last two nobody could know the answer. About a minute on two cores.

# %%
import tempfile
from pathlib import Path

import loci
from loci.evaluation.abstention import with_threshold
from loci.evaluation.metrics import exact_match, wilson

folder = Path(tempfile.mkdtemp())
world = loci.make_world(
    folder / "world", people=90, paraphrases=3, permute=True, unstated=0.15, outside=0.2, train_share=0.6, dev_share=0.4
)
recipe = loci.recipe("demo", world).override(
    ["model.n_embd=64", "model.n_layer=2", "pretrain.characters=2e5", "finetune.characters=1.2e6"]
)
run = loci.train(recipe, world, folder / "run")

# %%
files = {
    "taught": "birth_places_train",
    "held-out": "birth_dev",
    "unstated": "birth_unstated",
    "never-read": "birth_outside",
}
found = {split: run.evaluate(world / f"{name}.tsv", split=split) for split, name in files.items()}
for split, evaluation in found.items():
    said = wilson(sum(not row.abstained for row in evaluation.rows), len(evaluation.rows))
    print(f"{split:11} right {evaluation.accuracy}   says something {said}")

# %% [markdown]
# Can its probability tell the difference? If so, a threshold removes what it makes up and keeps what it knows.

# %%
for threshold in (0.0, 0.2, 0.4, 0.6, 0.8):
    made_up = with_threshold(found["never-read"].rows, threshold)
    taught = with_threshold(found["taught"].rows, threshold)
    said = wilson(sum(not row.abstained for row in made_up), len(made_up))
    print(f"threshold {threshold:.1f}: makes up {said}   right about taught people {exact_match(taught)}")

# %% [markdown]
# What it says about people that are not in the text:

# %%
for row in found["never-read"].rows[:6]:
    print(row.question, "→", row.prediction, f"({row.probability:.2f})")

# %% [markdown]
# `loci report` counts the kinds of errors. The recipes `self-training` and `recite` also learn whom they read about, and stay silent about others.
