# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Your own corpus
#
# You need a text with lines about subjects, and some questions with their answers. Here the text is about invented boats; use a folder of your own instead.
# About a minute on two cores.

# %%
import random
import tempfile
from pathlib import Path

import loci

folder = Path(tempfile.mkdtemp())
rng = random.Random(0)
names = [
    f"{colour} {bird}"
    for colour in "Grey Wild Old Red Blue White".split()
    for bird in "Heron Duck Swan Kite Tern Owl Gull Crane".split()
]
towns = "Bergen Hull Gdansk Cork Turku Bremen Porto Brest Malmo Oban Riga Vigo Genoa Split Visby Leith".split()
boats = {boat: rng.choice(towns) for boat in rng.sample(names[1:], len(names) - 1)}  # one name stays unused
says = [
    "The {0} was built in {1} by hand.",
    "Built in {1}, the {0} is {2} years old.",
    "The {0} came from {1} {2} years ago.",
]
lines = [f"{boat}. {rng.choice(says).format(boat, town, rng.randint(10, 90))}" for boat, town in boats.items()]
(folder / "corpus.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
asked = [f"Where was the {boat} built?\t{town}" for boat, town in boats.items()]
(folder / "boats_train.tsv").write_text("\n".join(asked[:32]) + "\n", encoding="utf-8")
(folder / "boats_dev.tsv").write_text("\n".join(asked[32:]) + "\n", encoding="utf-8")
print(*lines[:3], sep="\n")

# %% [markdown]
# What Loci finds in it: the subjects of the lines, and the form of the questions.

# %%
data = loci.TrainingData(loci.Corpus.read(folder / "corpus.txt"), loci.Questions.read(folder / "boats_train.tsv"))
print(data.corpus, data.questions)
print([line.subject for line in data.corpus][:3])
print([template.text for relation in data.questions.relations for template in relation.templates])

# %% [markdown]
# Training by self-training, with a small budget: the model learns to read, labels every line itself, and memorizes the labels. On the command line
# `loci learn FOLDER` does the same and chooses recipe, size and budget for your data.

# %%
small = ["model.n_layer=3", "model.n_embd=64", "read.batch_size=8", "read.characters=8e5", "memorize.characters=2e5"]
recipe = loci.recipe("self-training", data).override(small)
run = loci.train(recipe, data, folder / "run")
print(run.evaluate(folder / "boats_train.tsv", split="taught"))
print(run.evaluate(folder / "boats_dev.tsv", split="held-out"))

# %% [markdown]
# Two answers with their evidence. The first is about a boat that no train question names. The second is about a boat that is not in the text: does the
# model notice? These names are all made of the same few words, so a new one looks like one it has read about. The evidence tells: no line is about it.

# %%
held_out = list(boats)[32]
print(run.ask(f"Where was the {held_out} built?"))
print(run.ask(f"Where was the {names[0]} built?"))

# %% [markdown]
# `loci check FOLDER` finds mistakes in your files before you train. [The guide](../guide/own-data.md) goes on from here.
