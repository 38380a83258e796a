"""The logit lens: what each layer would answer if it were the last.

Every state of the residual stream goes through the final norm and the head. Knows nothing of pages.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from loci.errors import LociError
from loci.model import GPT
from loci.model.activations import run_with_activations


def layer_names(model: GPT) -> list[str]:
    """The activations that are the residual stream at every character: the embedding, then after each block."""
    if model.config.trunk != "plain":
        raise LociError(
            f"the {model.config.trunk} trunk has no state for each layer and character to look at",
            remedy="look at a model with a plain trunk",
        )
    return ["embed", *(f"blocks.{block}.resid_post" for block in range(model.config.n_layer))]


@dataclass(frozen=True)
class Lens:
    """For each layer (0 is the embedding) and each character of the answer."""

    probability: Float[Tensor, "L A"]
    """Of the character that was given."""
    rank: Int[Tensor, "L A"]
    """How many characters are likelier: 0 means the layer already says it."""
    best: Int[Tensor, "L A"]
    """What the layer would say."""
    best_probability: Float[Tensor, "L A"]

    @property
    def appears(self) -> list[int | None]:
        """For each character the first layer from which it stays on top to the end; None if it never is."""
        return [_settles(column.tolist()) for column in self.rank.T]


def _settles(ranks: list[int]) -> int | None:
    first = None
    for layer in reversed(range(len(ranks))):
        if ranks[layer]:
            break
        first = layer
    return first


def logit_lens(model: GPT, prompt: Int[Tensor, "P"], answer: Int[Tensor, "A"]) -> Lens:
    """Each layer's view of each answer character, given the prompt and the answer before it."""
    if not len(prompt) or not len(answer):
        raise LociError("the lens needs a prompt and an answer of at least one character each")
    names = layer_names(model)
    _, inside = run_with_activations(model, torch.cat([prompt, answer[:-1]])[None], names)
    with torch.no_grad():
        states = torch.stack([inside[name][0, len(prompt) - 1 :] for name in names])
        probabilities = model.logits(model.ln_f(states)).double().softmax(-1)
    given = probabilities.gather(-1, answer.expand(len(states), -1)[..., None])
    top = probabilities.max(dim=-1)
    return Lens(given[..., 0], (probabilities > given).sum(-1), top.indices, top.values)
