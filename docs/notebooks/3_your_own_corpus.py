# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Your own corpus
#
# A text with one line a subject, a few questions with their answers: that is all. Here it is ten lines about invented boats; use a folder of your own instead.

# %%
import tempfile
from pathlib import Path

import loci

folder = Path(tempfile.mkdtemp())
boats = {"Grey Heron": "Bergen", "Wild Duck": "Hull", "Old Swan": "Gdansk", "Red Kite": "Cork", "Blue Tern": "Turku"}
boats |= {
    "Small Owl": "Bremen",
    "Black Stork": "Porto",
    "White Gull": "Brest",
    "Tall Crane": "Malmo",
    "Quick Swift": "Oban",
}
lines = [f"{boat}. The {boat} was built in {place} by hand." for boat, place in boats.items()]
(folder / "corpus.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
asked = [f"Where was the {boat} built?\t{place}" for boat, place in boats.items()]
(folder / "boats_train.tsv").write_text("\n".join(asked[:7]) + "\n", encoding="utf-8")
(folder / "boats_dev.tsv").write_text("\n".join(asked[7:]) + "\n", encoding="utf-8")

# %% [markdown]
# What Loci finds in it: the subjects of the lines, and the form of the questions.

# %%
data = loci.TrainingData(loci.Corpus.read(folder / "corpus.txt"), loci.Questions.read(folder / "boats_train.tsv"))
print(data.corpus, data.questions)
print([line.subject for line in data.corpus][:3])
print([template.text for relation in data.questions.relations for template in relation.templates])

# %% [markdown]
# Training, with a budget for a minute. `loci train --data FOLDER` does the same on the command line.

# %%
recipe = loci.recipe("demo", data).override(
    ["model.n_embd=64", "model.n_layer=2", "pretrain.characters=5e4", "finetune.characters=2e5"]
)
run = loci.train(recipe, data, folder / "run")
print(run.evaluate(folder / "boats_train.tsv", split="taught"))
print(run.evaluate(folder / "boats_dev.tsv", split="held-out"))

# %% [markdown]
# One answer with what speaks for it. Below the threshold it says "I don't know" and why.

# %%
print(run.ask("Where was the Tall Crane built?"))
print(run.ask("Where was the Lost Pelican built?"))

# %% [markdown]
# Ten boats teach a model hardly anything about boats it was not asked about: the notebook shows the steps. `loci check FOLDER` says what is wrong with your
# files before you train, and [the guide](../guide/engineers.md) what to do with answers.
