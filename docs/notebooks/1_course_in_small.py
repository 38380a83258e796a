# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # The course experiment in small
#
# A small GPT is asked "Where was X born?" about people that no question ever named. Three ways of teaching it: always saying the commonest place, the
# train questions alone, and the text first. About a minute on two cores; the budgets are small, so the figures are too.

# %%
import tempfile
from pathlib import Path

import loci
from loci.evaluation.metrics import exact_match, most_common_answer_baseline

folder = Path(tempfile.mkdtemp())
world = loci.make_world(folder / "world", people=80, paraphrases=4, permute=True, seed=0)
train = loci.Questions.read(world / "birth_places_train.tsv")
dev = loci.Questions.read(world / "birth_dev.tsv")
print(len(train), "train questions,", len(dev), "about other people")
print((world / "wiki.txt").read_text(encoding="utf-8").splitlines()[0])

# %% [markdown]
# The baseline: the commonest place of the train questions, always.

# %%
constant = most_common_answer_baseline([question.answers[0] for question in train], dev)
print(exact_match(constant))

# %% [markdown]
# Questions alone, and the text first. A recipe is data: `override` gives it a smaller model and budget.

# %%
small = ["model.n_embd=64", "model.n_layer=2"]
scratch = loci.recipe("demo-scratch", world).override([*small, "finetune.characters=5e4"])
pretrained = loci.recipe("demo", world).override([*small, "pretrain.characters=1.5e5", "finetune.characters=4e5"])
runs = {name: loci.train(recipe, world, folder / name) for name, recipe in (("scratch", scratch), ("demo", pretrained))}

# %%
for name, run in runs.items():
    taught = run.evaluate(train, split="taught").accuracy
    held_out = run.evaluate(dev, split="held-out").accuracy
    print(f"{name:8} taught {taught}   held out {held_out}")

# %% [markdown]
# Both know some of the taught people. What they say about the others is worth a look:

# %%
for answer in runs["demo"].ask_all([question.text for question in dev[:5]]):
    print(answer.question, "→", answer.text, f"({answer.probability:.2f})")

# %% [markdown]
# `loci demo` does this with budgets that teach something, and adds self-training. `loci course` has the published experiment with its own commands.
