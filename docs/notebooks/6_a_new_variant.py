# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A new variant in 30 lines
#
# An attention class is one file and one line in a registry. This one lets every head look back with a weight that halves at a distance of its own: no queries,
# no keys, one trained number a head. It works with every recipe, cache and page.

# %%
import tempfile
from pathlib import Path

import torch
from torch import nn

import loci
from loci.model import VARIANTS, GPTConfig
from loci.model.attention import ATTENTIONS, Attention
from loci.model.attention.base import mix, positions_of, visible_mask
from loci.model.costing import Cost
from loci.model.variants import Variant


@ATTENTIONS.add("halving")
class HalvingAttention(Attention):
    """Weights that fall off with distance, each head at its own rate."""

    @classmethod
    def cost(cls, config, length):
        return Cost(parameters=2 * config.n_embd * (config.n_embd + 1) + config.n_head)

    def __init__(self, config, positions):
        super().__init__(config, positions)
        self.value, self.proj = nn.Linear(config.n_embd, config.n_embd), nn.Linear(config.n_embd, config.n_embd)
        self.rate = nn.Parameter(torch.linspace(-3, 1, config.n_head))

    def forward(self, x, *, cache=None, tap=None, values=None):
        v = self.split_heads(self.with_embedded(self.value(x), values))
        v = v if cache is None else cache.extend("v", v)
        here, there = positions_of(x, cache), torch.arange(v.shape[2], device=x.device)
        distance = (here[:, :, None] - there).clamp(min=0)[:, None]  # (b, 1, T, S)
        scores = -self.rate.exp()[:, None, None] * distance
        scores = scores.masked_fill(~visible_mask(x, cache), -torch.inf)
        return self.proj(self.merge_heads(mix(scores, v, dropout=self.dropout, tap=tap)))


VARIANTS.add("halving", Variant("attention that halves with distance", {"attention": "halving"}))

# %% [markdown]
# It is causal, cached and uncached agree, and its weights sum to 1: what `tests/contracts` asks of every class.

# %%
model = loci.GPT(VARIANTS["halving"].apply(GPTConfig(30, n_layer=2, n_head=4, n_embd=32, block_size=32))).eval()
ids = torch.randint(2, 30, (2, 20))
with torch.no_grad():
    whole = model(ids, trace=True)
    cache = model.make_cache(2, 20)
    steps = torch.cat([model(ids[:, t : t + 1], cache=cache).logits for t in range(20)], 1)
print("cached = uncached:", torch.allclose(whole.logits, steps, atol=1e-5))
print("rows sum to 1:", torch.allclose(whole.trace[0].sum(-1), torch.ones(2, 4, 20)))
changed = ids.clone()
changed[:, 10:] = 5
with torch.no_grad():
    print("causal:", torch.equal(model(changed).logits[:, :10], whole.logits[:, :10]))

# %% [markdown]
# And it trains like any other. Next to dot-product attention, with the same small budget:

# %%
folder = Path(tempfile.mkdtemp())
world = loci.make_world(folder / "world", people=40, paraphrases=2, seed=0)
sizes = ["model.n_embd=64", "model.n_layer=2", "pretrain.characters=4e4", "finetune.characters=4e4"]
for name in ("rope", "halving"):
    point = [f"model.{axis}={value}" for axis, value in VARIANTS[name].point.items()]
    run = loci.train(loci.recipe("demo", world).override([*sizes, *point, "model.qk_norm=false"]), world, folder / name)
    print(name, f"{run.model.n_parameters():,} parameters", f"loss {run.summary()['loss']:.3f}")

# %% [markdown]
# In a file of its own it is a plugin: `loci --import halving.py train --variant halving …`.
