"""A model that counts: the next id given the last k, with nothing learnt beyond the text it was shown.

Order 2 is the trigram model. Where the last k ids never occurred, it looks at the longest shorter end of them that
did. So the next id depends on the last k ids alone, whatever the temperature: an order-k Markov process. Knows
nothing of characters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from loci.errors import LociError
from loci.generation.context import Prompt, check_prompt
from loci.generation.sampling import FORBIDDEN, GREEDY, Chooser, Sampler, draw_uniforms


class MarkovModel:
    """Counts of what followed every run of at most `order` ids."""

    def __init__(self, order: int, vocab_size: int):
        if order < 0 or vocab_size < 1:
            raise LociError(f"order must be at least 0 and vocab_size at least 1, they are {order} and {vocab_size}")
        self.order = order
        self.vocab_size = vocab_size
        self.counts: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        self._rows: dict[tuple[int, ...], Tensor] = {}

    @classmethod
    def fit(cls, texts: Iterable[Sequence[int] | NDArray[np.integer]], order: int, vocab_size: int) -> MarkovModel:
        """Count over texts; nothing is counted across the end of one."""
        model = cls(order, vocab_size)
        for text in texts:
            ids = [int(index) for index in text]
            for position, following in enumerate(ids):
                for length in range(min(order, position) + 1):
                    model.counts[tuple(ids[position - length : position])][following] += 1
        if not model.counts:
            raise LociError("there is no text to count")
        return model

    def state(self, ids: Sequence[int]) -> tuple[int, ...]:
        """The longest end of `ids`, at most `order` long, that was followed by something."""
        for length in range(min(self.order, len(ids)), 0, -1):
            state = tuple(ids[len(ids) - length :])
            if state in self.counts:
                return state
        return ()

    def logits(self, ids: Sequence[int]) -> Float[Tensor, "V"]:
        """ln of the share of each id among those that followed; −∞ for those that never did."""
        state = self.state(ids)
        if state not in self._rows:
            row = torch.zeros(self.vocab_size, dtype=torch.float64)
            for index, count in self.counts[state].items():
                row[index] = count
            self._rows[state] = torch.where(row > 0, (row / row.sum()).log(), FORBIDDEN)
        return self._rows[state]


def generate_markov(
    model: MarkovModel,
    prompts: Sequence[Prompt],
    *,
    max_new: int,
    sampler: Sampler = GREEDY,
    generator: torch.Generator | None = None,
) -> list[list[int]]:
    """Continue every prompt by `max_new` ids, chosen as a transformer's would be."""
    if max_new < 1:
        raise LociError(f"max_new must be at least 1, it is {max_new}")
    checked: list[Int[Tensor, "T"]] = [check_prompt(prompt, model.vocab_size) for prompt in prompts]
    if not checked:
        return []
    uniforms = draw_uniforms(len(checked), max_new, sampler, generator)
    chooser = Chooser(checked, model.vocab_size, sampler=sampler, uniforms=uniforms)
    rows = [prompt.tolist() for prompt in checked]
    for _ in range(max_new):
        chosen = chooser.choose(torch.stack([model.logits(row) for row in rows]))
        for row, index in zip(rows, chosen.tolist(), strict=True):
            row.append(index)
    return [row[len(prompt) :] for row, prompt in zip(rows, checked, strict=True)]
