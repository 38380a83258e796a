# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Attention by hand
#
# Attention is a weighted mean. With a handful of vectors one can see all of it: copying, averaging, and why a length that varies is trouble for one head.

# %%
import numpy as np

rng = np.random.default_rng(0)


def attend(query, keys, values):
    """softmax(K q) V."""
    scores = keys @ query
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    return weights, weights @ values


n, d = 8, 64
keys = np.linalg.qr(rng.normal(size=(d, n)))[0].T  # orthonormal, so that their products are 0 or 1
values = rng.normal(size=(n, 4))

# %% [markdown]
# **Copying.** A query along one key copies its value, the better the longer it is: the weight is $1-\epsilon$ at $\beta = \ln((n-1)(1-\epsilon)/\epsilon)$.

# %%
for epsilon in (0.1, 0.01, 0.001):
    beta = np.log((n - 1) * (1 - epsilon) / epsilon)
    weights, _ = attend(beta * keys[2], keys, values)
    print(f"β = {beta:.3f}: weight {weights[2]:.4f}, wanted {1 - epsilon}")

# %% [markdown]
# **Averaging two.** $q = \beta(k_a + k_b)$ puts the same weight on both.

# %%
weights, mean = attend(20 * (keys[1] + keys[5]), keys, values)
print(weights.round(3))
print(np.abs(mean - (values[1] + values[5]) / 2).max())

# %% [markdown]
# **A key whose length varies.** One head that averages two values swings between them; two heads with a query each do not.

# %%
lengths = rng.normal(1, np.sqrt(0.5), size=2000)
one, two = [], []
for length in lengths:
    moved = keys.copy()
    moved[1] *= length
    one.append(attend(8 * (keys[1] + keys[5]), moved, values)[0][1])
    heads = [attend(8 * keys[k], moved, values)[0] for k in (1, 5)]
    two.append((heads[0][1] + heads[1][1]) / 2)
print("share of the first value, one head: sd", np.std(one).round(3), " two heads: sd", np.std(two).round(3))

# %% [markdown]
# The exercises of the lab do the same with closed forms next to the simulation, as tables and pages:

# %%
from loci.attention_lab.catalogue import EXERCISES

print(", ".join(EXERCISES))
