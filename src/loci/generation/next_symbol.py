"""What comes next: the distribution over all symbols after each prompt. Works on ids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from loci.generation.context import Prompt, check_prompt, reading, start_context
from loci.generation.decode import length_batches
from loci.model import GPT

ROWS = 256


def next_log_probabilities(model: GPT, prompts: Sequence[Prompt]) -> NDArray[np.float64]:
    """log p of every symbol after each prompt: prompts × vocabulary."""
    checked = [check_prompt(prompt, model.config.vocab_size) for prompt in prompts]
    found = np.empty((len(checked), model.config.vocab_size))
    with reading(model):
        for batch in length_batches(checked, ROWS):
            _, logits = start_context(model, [checked[index] for index in batch], room=0)
            found[batch] = logits.cpu().double().log_softmax(-1).numpy()
    return found
