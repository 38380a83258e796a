"""A model run block by block, so that what stands between the blocks can be read, or put back.

Only the plain trunk has one state for each layer and character. State 0 is the embedding, state l what block l has
made of it; the last one goes to the final norm and the head. Knows nothing of what is read out of the states.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from loci.errors import LociError
from loci.model import GPT
from loci.model.block import Block
from loci.model.trunk import PlainTrunk


def blocks_of(model: GPT) -> list[Block]:
    """The blocks of a plain trunk; another trunk is a `LociError`."""
    if not isinstance(model.trunk, PlainTrunk):
        raise LociError(
            f"the {model.config.trunk} trunk has no state for each layer and character to look at",
            remedy="look at a model with a plain trunk",
        )
    return model.trunk.layers


def embedding(model: GPT, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T C"]:
    """State 0: characters with their positions, without dropout."""
    if model.limit is not None and ids.shape[1] > model.limit:
        raise LociError(
            f"{ids.shape[1]} characters do not fit the model, which takes {model.limit}",
            remedy="ask a shorter question",
        )
    places = torch.arange(ids.shape[1], device=ids.device)[None]
    return model.positions.embed(model.tok_emb(ids), places)


def run_blocks(
    model: GPT, ids: Int[Tensor, "B T"], *, start: Float[Tensor, "B T C"] | None = None, first: int = 0
) -> list[Float[Tensor, "B T C"]]:
    """The states from layer `first` to the last; `start` stands for the first of them (the embedding, if None)."""
    blocks = blocks_of(model)
    assert 0 <= first <= len(blocks), f"there is no state {first}"
    assert first == 0 or start is not None, "only the embedding can be made from the characters"
    x = embedding(model, ids) if start is None else start
    values = None if model.val_emb is None else model.val_emb(ids)
    states = [x]
    for block in blocks[first:]:
        x, _ = block(x, values=values)
        states.append(x)
    return states


def read_out(model: GPT, state: Float[Tensor, "*N C"]) -> Float[Tensor, "*N V"]:
    """Logits of any state, as if it were the last one."""
    return model.logits(model.ln_f(state))
