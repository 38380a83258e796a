# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Inside one answer
#
# Where the heads look, what each layer would say, which heads an answer needs, and what happens when activations of one question are put into another.
# About a minute on two cores.

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
    ["model.n_embd=64", "model.n_layer=3", "pretrain.characters=1e5", "finetune.characters=1e6"]
)
run = loci.train(recipe, world, folder / "run")
train = loci.Questions.read(world / "birth_places_train.tsv")
question = train[0].text
print(run.ask(question))

# %% [markdown]
# **Attention.** At the mask `⁇`, where the answer begins: block, head, and the five characters with the largest weights.

# %%
text = f"{question}⁇"
inside = run.activations(text, ["blocks.*.attn.pattern"])
for name, weights in inside.items():
    for head, row in enumerate(weights[0, :, -1]):
        top = row.topk(5)
        shown = " ".join(f"{text[index]!r}@{index}:{weight:.2f}" for weight, index in zip(*(x.tolist() for x in top)))
        print(name.split(".")[1], head, shown)

# %% [markdown]
# **Logit lens.** What the residual stream after each block would say, for each character of the answer (0 is the embedding).

# %%
answer = run.ask(question).text or train[0].answers[0]
prompt = torch.from_numpy(question_prompt(run.vocab, question))
lens = logit_lens(run.model, prompt, torch.from_numpy(run.vocab.encode(answer)))
for layer, row in enumerate(lens.best):
    print(layer, run.vocab.decode(row.tolist()))

# %% [markdown]
# **Heads.** The log-probability of the same answer with one head ablated.

# %%
print("all heads", round(run.score(text, [answer])[answer], 2))
for block in range(run.model.config.n_layer):
    for head in range(run.model.config.n_head):
        lesioned = run.ablate([(block, head)]).score(text, [answer])[answer]
        print(f"without {block}.{head}: log p {lesioned:.2f}")

# %% [markdown]
# **Patching.** Two questions of the same length about two people. After one block, the residual stream of the other question is put in: at the name, or at
# the mask. The figure is log p of the other answer's first letter minus log p of the own answer's. The higher it is, the more of the answer is
# carried there: at the name in the early blocks, at the mask in the late ones.

# %%
own = train[0].answers[0]
other = next(one for one in train if len(one.text) == len(question) and one.answers[0][0] != own[0])
theirs = run.activations(f"{other.text}⁇", ["blocks.*.resid_post"])
places = {"name": slice(len("Where was "), len(question) - len(" born?")), "mask": slice(len(question), None)}
first = [int(run.vocab.encode(answer)[0]) for answer in (own, other.answers[0])]
print("not patched", round(float(inside.logits[0, -1, first[1]] - inside.logits[0, -1, first[0]]), 2))
for block in range(run.model.config.n_layer):
    for place, where in places.items():
        name = f"blocks.{block}.resid_post"

        def swapped(value, name=name, where=where):
            value = value.clone()
            value[:, where] = theirs[name][:, where]
            return value

        logits = run.activations(text, [], patch={name: swapped}).logits[0, -1]
        print(f"after block {block}, {place}: {float(logits[first[1]] - logits[first[0]]):.2f}")

# %% [markdown]
# `loci look run QUESTION` puts all this on one page, with causal tracing.
