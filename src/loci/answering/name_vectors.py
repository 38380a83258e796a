"""A name as a model has it: its inner state where the name ends.

The model reads a question as far as the name goes, and the state behind the last norm at the name's last character is
the name's vector: the whole name has been read by then, and nothing behind it. Any trunk has this state. Knows nothing
of answers or of what a nearness of vectors means.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils.rnn import pad_sequence

from loci.errors import LociError
from loci.text.vocab import PAD_ID
from loci.training.checkpoint import LoadedModel


def name_vectors(
    loaded: LoadedModel, questions: Mapping[str, str], *, batch_size: int = 256
) -> dict[str, NDArray[np.float32]]:
    """Name → vector, for `questions` by the name each holds; what the model cannot read is left out."""
    readable = [(name, ids) for name, text in questions.items() if (ids := _until_name(loaded, name, text))]
    readable.sort(key=lambda pair: len(pair[1]))  # neighbours in length share a batch: little padding is read
    device = loaded.model.tok_emb.weight.device
    found: dict[str, NDArray[np.float32]] = {}
    for start in range(0, len(readable), batch_size):
        batch = readable[start : start + batch_size]
        rows = [torch.tensor(ids, device=device) for _, ids in batch]
        with torch.inference_mode():
            # Padding stands behind the name and a model never looks ahead: it changes nothing.
            hidden, _ = loaded.model.hidden(pad_sequence(rows, batch_first=True, padding_value=PAD_ID))
        ends = torch.tensor([len(ids) - 1 for _, ids in batch], device=device)
        states = hidden[torch.arange(len(batch), device=device), ends].float().cpu().numpy()
        found.update((name, state) for (name, _), state in zip(batch, states, strict=True))
    return found


def _until_name(loaded: LoadedModel, name: str, question: str) -> list[int]:
    """The ids of the question up to the end of the name; none when it does not hold the name or cannot be read."""
    position = question.find(name)
    if not name or position < 0:
        return []
    try:
        ids: list[int] = loaded.vocab.encode(question[: position + len(name)]).tolist()
    except LociError:
        return []
    return ids if len(ids) <= loaded.model.config.block_size else []
