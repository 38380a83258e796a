"""From logits to the next id: pure functions of logits, the `Sampler` that combines them, and the rows of a batch.

Each filter takes logits (…, V) and returns logits with what it rules out at −∞, so filters compose. Knows nothing of
models, prompts or vocabularies. A draw is the inverse of the cumulated distribution at a given uniform number: whoever
passes the numbers decides what is reproducible. A `Chooser` keeps the ids that each row has seen and its numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from loci.errors import LociError

FORBIDDEN = -math.inf
TEMPERATURES, PENALTIES = (1e-30, 1e9), (1e-3, 1e3)
"""Beyond them logits overflow, and there is nothing left to draw from."""


def penalise_repetition(
    logits: Float[Tensor, "*B V"], seen: Bool[Tensor, "*B V"], penalty: float
) -> Float[Tensor, "*B V"]:
    """Make ids already seen less likely: positive logits are divided by the penalty, negative ones multiplied."""
    return torch.where(seen, torch.where(logits > 0, logits / penalty, logits * penalty), logits)


def keep_top_k(logits: Float[Tensor, "*B V"], k: int) -> Float[Tensor, "*B V"]:
    """The k likeliest ids; ids as likely as the k-th stay too, as published."""
    threshold = logits.topk(min(k, logits.shape[-1]), dim=-1).values[..., -1:]
    return logits.masked_fill(logits < threshold, FORBIDDEN)


def keep_top_p(logits: Float[Tensor, "*B V"], p: float) -> Float[Tensor, "*B V"]:
    """The smallest set of likeliest ids whose probability reaches p; at least one."""
    probabilities, order = logits.double().softmax(-1).sort(dim=-1, descending=True, stable=True)
    before = probabilities.cumsum(-1) - probabilities  # what the likelier ids hold without this one
    dropped = before >= p
    dropped[..., 0] = False
    return logits.masked_fill(torch.zeros_like(dropped).scatter(-1, order, dropped), FORBIDDEN)


def keep_min_p(logits: Float[Tensor, "*B V"], p: float) -> Float[Tensor, "*B V"]:
    """The ids at least p times as likely as the likeliest one."""
    return logits.masked_fill(logits < logits.amax(-1, keepdim=True) + math.log(p), FORBIDDEN)


def draw(probabilities: Float[Tensor, "*B V"], uniform: Float[Tensor, "*B"]) -> Int[Tensor, "*B"]:
    """The id at which the cumulated probability passes `uniform`, a number in [0, 1); never one of probability 0."""
    cumulated = probabilities.double().cumsum(-1)
    total = cumulated[..., -1]
    # Rounding may lift uniform · total to total itself, which no id passes.
    target = torch.minimum(uniform.double() * total, torch.nextafter(total, torch.zeros_like(total)))
    return torch.searchsorted(cumulated, target[..., None], right=True)[..., 0]


@dataclass(frozen=True)
class Sampler:
    """How the next id is chosen. Applied in this order: repetition penalty, temperature, top-k, top-p, min-p, draw."""

    temperature: float = 1.0
    """Logits are divided by it; 0 takes the likeliest id and draws nothing."""
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float = 1.0
    """Above 1 makes ids of the prompt and of the text so far less likely; 1 does nothing."""

    def __post_init__(self) -> None:
        least, most = TEMPERATURES
        if self.temperature != 0 and not least <= self.temperature <= most:
            said = f"temperature must be 0, or from {least:g} to {most:g}, it is {self.temperature:g}"
            raise LociError(said, remedy="0 takes the likeliest id")
        if self.top_k is not None and self.top_k < 1:
            raise LociError(f"top-k must be at least 1, it is {self.top_k}")
        for name, value in (("top-p", self.top_p), ("min-p", self.min_p)):
            if value is not None and not 0 < value <= 1:
                raise LociError(f"{name} must be above 0 and at most 1, it is {value}")
        least, most = PENALTIES
        if not least <= self.repetition_penalty <= most:
            said = f"repetition penalty must be from {least:g} to {most:g}, it is {self.repetition_penalty:g}"
            raise LociError(said, remedy="1 leaves it out")

    @property
    def greedy(self) -> bool:
        """Whether nothing is left to chance."""
        return self.temperature == 0

    @property
    def needs_history(self) -> bool:
        """Whether `seen` makes a difference."""
        return self.repetition_penalty != 1

    def filter(self, logits: Float[Tensor, "*B V"], seen: Bool[Tensor, "*B V"] | None = None) -> Float[Tensor, "*B V"]:
        """Logits after the penalty, the temperature and the filters."""
        if self.needs_history and seen is not None:
            logits = penalise_repetition(logits, seen, self.repetition_penalty)
        if self.greedy:
            best = logits.argmax(-1, keepdim=True)
            return torch.full_like(logits, FORBIDDEN).scatter(-1, best, 0.0)
        if self.temperature != 1:
            # The largest logit becomes 0 first: a tiny temperature may then drive the others to −∞ but makes no NaN.
            logits = (logits - logits.amax(-1, keepdim=True)) / self.temperature
        if self.top_k is not None:
            logits = keep_top_k(logits, self.top_k)
        if self.top_p is not None:
            logits = keep_top_p(logits, self.top_p)
        if self.min_p is not None:
            logits = keep_min_p(logits, self.min_p)
        return logits

    def probabilities(
        self, logits: Float[Tensor, "*B V"], seen: Bool[Tensor, "*B V"] | None = None
    ) -> Float[Tensor, "*B V"]:
        """The distribution the next id is drawn from."""
        return self.filter(logits, seen).softmax(-1)

    def choose(
        self,
        logits: Float[Tensor, "*B V"],
        uniform: Float[Tensor, "*B"] | None,
        seen: Bool[Tensor, "*B V"] | None = None,
    ) -> Int[Tensor, "*B"]:
        """The next id of each row; `uniform` may be None when the sampler is greedy."""
        if self.greedy:
            return self.filter(logits, seen).argmax(-1)
        assert uniform is not None, "a draw needs its uniform numbers"
        return draw(self.probabilities(logits, seen), uniform)


GREEDY = Sampler(temperature=0.0)


def draw_uniforms(
    rows: int, steps: int, sampler: Sampler, generator: torch.Generator | None
) -> Float[Tensor, "B steps"] | None:
    """One number in [0, 1) for each row and step, or None when nothing is left to chance."""
    if sampler.greedy:
        return None
    if generator is None:
        raise LociError("sampling needs a generator", remedy="pass torch.Generator().manual_seed(…), or temperature 0")
    return torch.rand(rows, steps, dtype=torch.float64, generator=generator)


class Chooser:
    """Rows that choose one id per step; rows may leave."""

    def __init__(
        self,
        prompts: Sequence[Int[Tensor, "T"]],
        vocab_size: int,
        *,
        sampler: Sampler,
        uniforms: Float[Tensor, "B steps"] | None = None,
    ):
        self.sampler = sampler
        self.uniforms = uniforms
        self.step = 0
        self.seen: Tensor | None = None
        if sampler.needs_history:
            self.seen = torch.zeros(len(prompts), vocab_size, dtype=torch.bool)
            for row, prompt in enumerate(prompts):
                self.seen[row, prompt] = True

    def choose(self, logits: Float[Tensor, "B V"]) -> Int[Tensor, "B"]:
        """The next id of each row."""
        uniform = self.uniforms[:, self.step] if self.uniforms is not None else None
        ids = self.sampler.choose(logits, uniform, self.seen)
        self.step += 1
        if self.seen is not None:
            self.seen[torch.arange(len(ids)), ids] = True
        return ids

    def select(self, rows: Int[Tensor, "b"]) -> None:
        """Keep these rows."""
        self.uniforms, self.seen = (part[rows] if part is not None else None for part in (self.uniforms, self.seen))
