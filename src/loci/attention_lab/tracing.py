"""Causal tracing: spoil the name, put one state back, and see how much of the answer returns.

The embeddings of some characters get noise, several times over. Then the clean state of one layer at one character is
put into the spoilt run: where that brings the answer back, the state carried what the answer needs. Knows nothing of
pages.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from loci.attention_lab.states import embedding, read_out, run_blocks
from loci.errors import LociError
from loci.generation.context import reading
from loci.model import GPT

#: Noise in units of the embeddings' own standard deviation.
NOISE = 3.0
ROWS_AT_ONCE = 64


@dataclass(frozen=True)
class CausalTrace:
    """Probability of the whole answer in each run."""

    clean: float
    spoilt: float
    """Mean over the draws of noise."""
    spoilt_error: float
    """Its standard error."""
    restored: Float[Tensor, "L P"]
    """With the state of layer l (0 is the embedding) put back at prompt character p, mean over the draws."""
    draws: int

    @property
    def effect(self) -> Float[Tensor, "L P"]:
        """What was regained, as a share of what was lost: 1 when the answer is back, 0 when nothing is."""
        lost = self.clean - self.spoilt
        return (self.restored - self.spoilt) / lost if abs(lost) > 1e-12 else torch.zeros_like(self.restored)


def answer_probability(
    model: GPT, states: Float[Tensor, "B T C"], prompt: int, answer: Int[Tensor, "A"]
) -> Float[Tensor, "B"]:
    """Probability of the whole answer, each character given the ones before, read from last states."""
    logs = read_out(model, states[:, prompt - 1 :]).double().log_softmax(-1)
    return logs.gather(-1, answer.expand(len(states), -1)[..., None])[..., 0].sum(-1).exp()


def causal_trace(
    model: GPT,
    prompt: Int[Tensor, "P"],
    answer: Int[Tensor, "A"],
    span: tuple[int, int],
    *,
    generator: torch.Generator,
    noise: float = NOISE,
    draws: int = 8,
) -> CausalTrace:
    """Spoil the prompt characters of `span` and restore every single state in turn.

    The answer stands in the text as given, so each of its characters is judged with the true ones before it. States are
    restored at prompt characters only: the answer's own places hold the answer.
    """
    start, stop = span
    if not 0 <= start < stop <= len(prompt):
        raise LociError(
            f"the name must lie in the prompt of {len(prompt)} characters, it is given as {start} to {stop}"
        )
    if not len(answer):
        raise LociError("tracing needs an answer of at least one character")
    if noise <= 0 or draws < 1:
        wrong = f"draws must be at least 1, they are {draws}" if draws < 1 else f"noise must be positive, it is {noise}"
        raise LociError(wrong)
    ids = torch.cat([prompt, answer[:-1]])[None]
    n_prompt, step = len(prompt), max(1, ROWS_AT_ONCE // draws)
    with reading(model):
        clean = run_blocks(model, ids)
        scale = noise * float(model.tok_emb.weight.std())
        spoil = torch.randn(draws, stop - start, clean[0].shape[-1], generator=generator) * scale
        spoilt_start = embedding(model, ids).repeat(draws, 1, 1)
        spoilt_start[:, start:stop] += spoil.to(spoilt_start)
        spoilt = run_blocks(model, ids.expand(draws, -1), start=spoilt_start)
        restored = torch.zeros(len(clean), n_prompt, dtype=torch.float64)
        for layer in range(len(clean)):
            for first in range(0, n_prompt, step):
                places = range(first, min(n_prompt, first + step))
                restored[layer, first : places.stop] = _restore(
                    model, ids, spoilt[layer], clean[layer], layer, places, n_prompt, answer
                )
        alone = answer_probability(model, spoilt[-1], n_prompt, answer)
        whole = float(answer_probability(model, clean[-1], n_prompt, answer)[0])
    error = float(alone.std() / draws**0.5) if draws > 1 else float("nan")
    return CausalTrace(whole, float(alone.mean()), error, restored, draws)


def _restore(
    model: GPT,
    ids: Int[Tensor, "1 T"],
    spoilt: Float[Tensor, "D T C"],
    clean: Float[Tensor, "1 T C"],
    layer: int,
    places: range,
    n_prompt: int,
    answer: Int[Tensor, "A"],
) -> Float[Tensor, "n"]:
    """Mean answer probability for each place whose state is put back, run on from that layer."""
    rows = spoilt.repeat(len(places), 1, 1)  # draws of the first place, then of the second, …
    for number, place in enumerate(places):
        rows[number * len(spoilt) : (number + 1) * len(spoilt), place] = clean[0, place]
    last = run_blocks(model, ids.expand(len(rows), -1), start=rows, first=layer)[-1]
    return answer_probability(model, last, n_prompt, answer).view(len(places), -1).mean(1).cpu()
