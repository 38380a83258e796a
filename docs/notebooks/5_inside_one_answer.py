# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Inside one answer
#
# Where the heads look, what each layer would say, which heads an answer needs, and what happens when the middle of one question is put into another.

# %%
import tempfile
from pathlib import Path

import torch

import loci
from loci.attention_lab.looking import logit_lens
from loci.data.prompts import question_prompt

folder = Path(tempfile.mkdtemp())
world = loci.make_world(folder / "world", people=60, paraphrases=3, permute=True, seed=0)
recipe = loci.recipe("demo", world).override(
    ["model.n_embd=64", "model.n_layer=3", "pretrain.characters=1e5", "finetune.characters=4e5"]
)
run = loci.train(recipe, world, folder / "run")
train = loci.Questions.read(world / "birth_places_train.tsv")
question = train[0].text
print(run.ask(question))

# %% [markdown]
# **Attention.** From the mask that calls for the answer: the five characters each head looks at most.

# %%
text = f"{question}⁇"
inside = run.activations(text, ["blocks.*.attn.pattern"])
for name, weights in inside.items():
    for head, row in enumerate(weights[0, :, -1]):
        top = row.topk(5)
        shown = " ".join(f"{text[index]!r}@{index}:{weight:.2f}" for weight, index in zip(*(x.tolist() for x in top)))
        print(name.split(".")[1], head, shown)

# %% [markdown]
# **Logit lens.** What the stream after each block would say, character by character of the answer.

# %%
answer = run.ask(question).text or train[0].answers[0]
prompt = torch.from_numpy(question_prompt(run.vocab, question))
lens = logit_lens(run.model, prompt, torch.from_numpy(run.vocab.encode(answer)))
for layer, row in enumerate(lens.best):
    print(layer, run.vocab.decode(row.tolist()))

# %% [markdown]
# **Heads.** Without a head, how sure is it of the same answer?

# %%
print("all heads", round(run.score(text, [answer])[answer], 2))
for block in range(run.model.config.n_layer):
    for head in range(run.model.config.n_head):
        lesioned = run.ablate([(block, head)]).score(text, [answer])[answer]
        print(f"without {block}.{head}: log p {lesioned:.2f}")

# %% [markdown]
# **Patching.** The stream of a question about somebody else, put in after one block: from where on does the other answer come?

# %%
other = next(one for one in train if len(one.text) == len(question) and one.answers != train[0].answers)
theirs = run.activations(f"{other.text}⁇", ["blocks.*.resid_post"])
for block in range(run.model.config.n_layer):
    name = f"blocks.{block}.resid_post"
    logits = run.activations(text, [], patch={name: theirs[name]}).logits[0, -1].log_softmax(-1)
    ids = [int(run.vocab.encode(place)[0]) for place in (train[0].answers[0], other.answers[0])]
    print(f"after block {block}: own first letter {logits[ids[0]]:.2f}, the other's {logits[ids[1]]:.2f}")

# %% [markdown]
# `loci look run QUESTION` puts all this on one page, with causal tracing.
