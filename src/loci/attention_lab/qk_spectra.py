"""How much of its rank a trained head uses: spectra of W̃, and models whose heads are cut to a lower rank.

A score needs (W_Qᵀ, b_Q)·W_K only; a key bias adds the same to all of a row's scores. With rotary positions the
scores at distance 0 are meant, and with normalised queries and keys the matrices before the norm. Knows nothing of
recall: what a cut model still knows is measured by whoever asks it.
"""

from __future__ import annotations

import copy

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray

from loci.errors import LociError
from loci.model import GPT
from loci.model.attention import DotAttention
from loci.model.folding import fold, split_query_key, unfold


def dot_layers(model: GPT) -> list[DotAttention]:
    """The layers whose scores are products of queries and keys of their own input."""
    layers = [module for module in model.modules() if isinstance(module, DotAttention)]
    if not layers:
        message = f"{model.config.attention} attention has no query and key matrices"
        raise LociError(message, remedy="look at a model with dot attention")
    return layers


def qk_spectra(model: GPT) -> Float[NDArray[np.float64], "L H I"]:
    """Singular values of every head's W̃ with its query bias as one row more, largest first."""
    layers = dot_layers(model)
    with torch.no_grad():
        values = [torch.linalg.svdvals(_score_matrix(layer))[:, : layer.widths[0] // layer.n_head] for layer in layers]
    return torch.stack(values).numpy()


def cut_rank(model: GPT, rank: int) -> GPT:
    """A copy whose scores have at most that rank in every head: keys keep the `rank` strongest directions of W̃.

    W̃ = U S Vᵀ, and W_Qᵀ (W_K V_r V_rᵀ) = W̃ V_r V_rᵀ is the nearest matrix of rank r, so it is enough to change the
    keys. Queries, and the coordinates in which rotary positions turn them, stay as they were.
    """
    layers = dot_layers(model)
    width = layers[0].widths[0] // layers[0].n_head
    if not 0 <= rank <= width:
        raise LociError(f"a head of width {width} can be cut to rank 0 to {width}, not {rank}")
    cut = copy.deepcopy(model)
    with torch.no_grad():
        for layer in dot_layers(cut):
            directions = torch.linalg.svd(_score_matrix(layer), full_matrices=False).Vh[:, :rank]  # (H, r, C)
            keep = directions.transpose(1, 2) @ directions
            _, _, keys, _ = split_query_key(layer)
            kept = (keys.double() @ keep).to(keys.dtype)
            start = layer.widths[0]
            layer.qkv.weight[start : 2 * start] = kept.reshape(start, -1)
    return cut


def folding_error(model: GPT) -> str:
    """How far the logits move when every head is folded into one matrix and split again, or why it cannot be."""
    try:
        folded = fold(model)
        again = unfold(folded, model.config.query_width)
    except LociError as error:
        return f"The run's heads cannot be folded: {error}."
    ids = torch.arange(model.config.vocab_size)[None, : min(model.config.block_size, 32)]
    with torch.no_grad():
        logits, *others = (one.eval()(ids).logits for one in (model, folded, again))
    moved = ", ".join(f"{float((logits - other).abs().max()):.1g}" for other in others)
    return f"Folded into one matrix per head, and split again, the run's logits move by at most {moved}."


def _score_matrix(layer: DotAttention) -> Float[torch.Tensor, "H C1 C"]:
    """(W_Qᵀ, b_Q)·W_K·β of each head, in double precision."""
    w_q, b_q, w_k, _ = (part.double() for part in split_query_key(layer))
    queries = torch.cat([w_q, b_q[..., None]], dim=-1)  # (H, I, C + 1)
    beta = layer.temperature.betas().double()[:, None, None]
    return beta * queries.transpose(1, 2) @ w_k
