# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # The course experiment in small
#
# A small GPT is asked "Where was X born?" about people that no train question names. We compare a baseline that always gives the most common place, a
# model that saw the train questions alone, and a model that read the text first. About a minute and a half on two cores.

# %%
import tempfile
from pathlib import Path

import loci
from loci.evaluation.metrics import exact_match, most_common_answer_baseline

folder = Path(tempfile.mkdtemp())
world = loci.make_world(
    folder / "world", people=70, skew=0.5, paraphrases=5, permute=True, train_share=4 / 7, dev_share=3 / 7, seed=0
)
train = loci.Questions.read(world / "birth_places_train.tsv")
dev = loci.Questions.read(world / "birth_dev.tsv")
print(len(train), "train questions,", len(dev), "about other people")
print((world / "wiki.txt").read_text(encoding="utf-8").splitlines()[0])

# %% [markdown]
# The baseline: always the most common place of the train questions.

# %%
constant = most_common_answer_baseline([question.answers[0] for question in train], dev)
print(exact_match(constant))

# %% [markdown]
# Questions alone, and the text first. A recipe is data: `override` changes it, here to a smaller budget.

# %%
scratch = loci.recipe("demo-scratch", world)
pretrained = loci.recipe("demo", world).override(["pretrain.characters=3e5", "finetune.characters=1.2e6"])
runs = {name: loci.train(recipe, world, folder / name) for name, recipe in (("scratch", scratch), ("demo", pretrained))}

# %%
for name, run in runs.items():
    taught = run.evaluate(train, split="taught").accuracy
    held_out = run.evaluate(dev, split="held-out").accuracy
    print(f"{name:8} taught {taught}   held out {held_out}")

# %% [markdown]
# The pretrained model knows the taught people and some of the others, about whom it has only read. Look at what it says when it is wrong:

# %%
for answer in runs["demo"].ask_all([question.text for question in dev[:5]]):
    print(answer.question, "→", answer.text, f"({answer.probability:.2f})")

# %% [markdown]
# One training on so few people proves little: look at the intervals. `loci demo` has larger budgets and adds self-training, which gets nearly all
# held-out people right. `loci course` has the published experiment with its own commands.
