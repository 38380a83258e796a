"""Causal tracing: corrupt the name, restore some states, and see how much of the answer returns.

The embeddings of the name's characters get noise, several times over. Then the clean state of one layer is put into the
corrupted run, at one character or at several. Where that brings the answer back, those states carried what the answer
needs. What is measured is the log-probability of the answer's first character: a character-level model spreads a name
over many positions, so a single state seldom brings back the probability of a whole answer, while the log-probability
shows each share. Knows nothing of pages.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from loci.attention_lab.lens import layer_names
from loci.errors import LociError
from loci.model import GPT
from loci.model.activations import run_with_activations

#: Noise in units of the embeddings' own standard deviation.
NOISE = 3.0
ROWS_AT_ONCE = 64


@dataclass(frozen=True)
class CausalTrace:
    """Log-probability of the answer's first character. Layer 0 is the embedding, layer l the state after block l."""

    clean: float
    corrupted: Float[Tensor, "D"]
    """For each draw of noise."""
    restored: Float[Tensor, "L P D"]
    """With the state of layer l put back at prompt character p alone."""
    groups: tuple[str, ...]
    """Names of sets of characters: the whole name, what follows it, the last position."""
    restored_groups: Float[Tensor, "L G D"]
    """With the states of layer l put back at all characters of a group at once."""

    @property
    def lost(self) -> float:
        """What the noise takes away on average, in nats."""
        return self.clean - float(self.corrupted.mean())

    def effect(self, restored: Float[Tensor, "L N D"]) -> Float[Tensor, "L N"]:
        """What was regained, as a share of what was lost: 1 when the answer is back, 0 when nothing is."""
        gained = (restored - self.corrupted).mean(-1)
        return gained / self.lost if abs(self.lost) > 1e-12 else torch.zeros_like(gained)

    def error(self, restored: Float[Tensor, "L N D"]) -> Float[Tensor, "L N"]:
        """Standard error of the effect over the draws of noise: it is a ratio of two means over the same draws."""
        rest = restored - self.corrupted - self.effect(restored)[..., None] * (self.clean - self.corrupted)
        spread: Tensor = rest.std(-1)
        return spread / (math.sqrt(len(self.corrupted)) * max(abs(self.lost), 1e-12))


def causal_trace(
    model: GPT,
    prompt: Int[Tensor, "P"],
    answer: int,
    span: tuple[int, int],
    *,
    generator: torch.Generator,
    noise: float = NOISE,
    draws: int = 8,
) -> CausalTrace:
    """Corrupt the prompt characters of `span`; restore every single state, and groups of states, in turn.

    `answer` is the id of the answer's first character.
    """
    start, stop = span
    if not 0 <= start < stop <= len(prompt):
        raise LociError(
            f"the name must lie in the prompt of {len(prompt)} characters, it is given as {start} to {stop}"
        )
    if noise <= 0 or draws < 1:
        wrong = f"draws must be at least 1, they are {draws}" if draws < 1 else f"noise must be positive, it is {noise}"
        raise LociError(wrong)
    last = len(prompt) - 1
    groups = {"the whole name": span, "after the name": (stop, last), "the last position": (last, last + 1)}
    groups = {name: (first, end) for name, (first, end) in groups.items() if end > first}
    spans = [*((position, position + 1) for position in range(len(prompt))), *groups.values()]

    def run(rows: int, patch: dict[str, Tensor], names: list[str]) -> tuple[Tensor, dict[str, Tensor]]:
        logits, inside = run_with_activations(model, prompt.expand(rows, -1), names, patch=patch)
        return logits[:, -1].double().log_softmax(-1)[:, answer].cpu(), inside

    layers = layer_names(model)
    (clean,), states = run(1, {}, layers)
    noisy = states["embed"].repeat(draws, 1, 1)
    added = torch.randn(draws, stop - start, noisy.shape[-1], generator=generator)
    noisy[:, start:stop] += (noise * float(model.tok_emb.weight.detach().std()) * added).to(noisy)
    corrupted, corrupted_states = run(draws, {"embed": noisy}, layers)
    restored = torch.zeros(len(layers), len(spans), draws, dtype=torch.float64)
    step = max(1, ROWS_AT_ONCE // draws)
    for layer, name in enumerate(layers):
        for first in range(0, len(spans), step):
            chosen = spans[first : first + step]
            rows = corrupted_states[name].repeat(len(chosen), 1, 1, 1)  # (spans, draws, T, C)
            for row, (begin, end) in zip(rows, chosen, strict=True):
                row[:, begin:end] = states[name][0, begin:end]
            values, _ = run(len(chosen) * draws, {name: rows.flatten(0, 1)}, [])
            restored[layer, first : first + len(chosen)] = values.view(-1, draws)
    n = len(prompt)
    return CausalTrace(float(clean), corrupted, restored[:, :n], tuple(groups), restored[:, n:])
