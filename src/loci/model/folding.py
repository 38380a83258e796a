"""Query and key projections into one matrix per head, and back: the same scores in two parametrisations.

With q = W_Q x + b_Q and k = W_K y + b_K, a score β q·k is xᵀ(β W_QᵀW_K) y + (β W_Kᵀb_Q)·y and terms that do not depend
on y, which a softmax over y does not see. So W̃ = β W_QᵀW_K and u = β W_Kᵀb_Q contain all of it. Back again, the (J+1)×J
matrix of W̃ with u as its last row is cut in two by its singular values: exact when its rank allows, else the nearest of
the asked rank. Knows nothing of training: the model given is left as it is, a new one is returned.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from loci.errors import LociError
from loci.model.attention import DotAttention, FoldedAttention
from loci.model.config import GPTConfig
from loci.model.gpt import GPT

HIC = Float[Tensor, "H I C"]
HI = Float[Tensor, "H I"]
#: What a fold replaces; everything else of a layer keeps its name and its weights.
FACTORED = ("qkv.", "temperature.")
FOLDED = ("fold", "pull", "value.")


def fold(model: GPT) -> GPT:
    """The model with dot-product attention as one with folded attention and the same logits."""
    config = model.config
    _demand(config, "dot", "fold")
    own_scores = config.temperature is not None or config.learn_temperature or config.qk_width is not None
    if config.trunk != "plain" and own_scores:
        raise LociError("temperature and qk_width also shape a perceiver's cross-attention, which does not fold")
    plain = config.replace(attention="folded", temperature=None, learn_temperature=False, qk_width=None)
    folded = _copy(model, plain, old=FACTORED)
    for name, layer in model.named_modules():
        if isinstance(layer, DotAttention):
            target = folded.get_submodule(name)
            assert isinstance(target, FoldedAttention)
            _fold_layer(layer, target)
    return folded


def unfold(model: GPT, rank: int) -> GPT:
    """The folded model with queries and keys of width `rank` per head; the same logits where that rank suffices."""
    config = model.config
    _demand(config, "folded", "unfold")
    if not 1 <= rank <= config.n_embd:
        raise LociError(f"the rank of a head's scores is between 1 and n_embd {config.n_embd}, {rank} was asked for")
    width = None if rank == config.head_width else rank
    if width is not None and config.trunk != "plain":
        raise LociError(f"a perceiver's cross-attention keeps its width: unfold with rank {config.head_width}")
    unfolded = _copy(model, config.replace(attention="dot", qk_width=width), old=FOLDED)
    for name, layer in model.named_modules():
        if isinstance(layer, FoldedAttention):
            target = unfolded.get_submodule(name)
            assert isinstance(target, DotAttention)
            _unfold_layer(layer, target, rank)
    return unfolded


def _demand(config: GPTConfig, attention: str, verb: str) -> None:
    if config.attention != attention:
        raise LociError(f"only {attention} attention can be {verb}ed, this model has {config.attention}")


def _copy(model: GPT, config: GPTConfig, *, old: tuple[str, ...]) -> GPT:
    """A new model with every weight that does not belong to the `old` form of the scores."""
    like = model.tok_emb.weight
    new = GPT(config, generator=torch.Generator().manual_seed(0)).to(like.device, like.dtype)
    kept = {
        name: tensor
        for name, tensor in model.state_dict().items()
        if not (".attn." in name and name.rpartition(".attn.")[2].startswith(old) and _is_self_attention(model, name))
    }
    missing, unexpected = new.load_state_dict(kept, strict=False)
    assert not unexpected, unexpected
    assert all(".attn." in name for name in missing), missing
    return new.train(model.training)


def _is_self_attention(model: GPT, name: str) -> bool:
    layer = model.get_submodule(name.rpartition(".attn.")[0] + ".attn")
    return isinstance(layer, DotAttention | FoldedAttention)


def split_query_key(layer: DotAttention) -> tuple[HIC, HI, HIC, HI]:
    """W_Q, b_Q, W_K, b_K of each head."""
    w_q, w_k, _ = layer.qkv.weight.split_with_sizes(layer.widths)
    b_q, b_k, _ = layer.qkv.bias.split_with_sizes(layer.widths)
    heads, width = layer.n_head, layer.qkv.in_features
    return w_q.view(heads, -1, width), b_q.view(heads, -1), w_k.view(heads, -1, width), b_k.view(heads, -1)


@torch.no_grad()
def _fold_layer(layer: DotAttention, target: FoldedAttention) -> None:
    w_q, b_q, w_k, _ = (part.double() for part in split_query_key(layer))
    beta = layer.temperature.betas().double().to(w_q.device)[:, None, None]
    target.fold.copy_(beta * w_q.transpose(1, 2) @ w_k)
    target.pull.copy_((beta * b_q[:, None] @ w_k)[:, 0])
    rows = slice(2 * layer.widths[0], None)
    target.value.weight.copy_(layer.qkv.weight[rows])
    target.value.bias.copy_(layer.qkv.bias[rows])


@torch.no_grad()
def _unfold_layer(layer: FoldedAttention, target: DotAttention, rank: int) -> None:
    whole = torch.cat((layer.fold, layer.pull[:, None]), dim=1).double()  # (H, C + 1, C)
    left, sizes, right = torch.linalg.svd(whole, full_matrices=False)
    # Both halves get the root of the singular values, and of 1/β, so that queries and keys are alike in size.
    root = (sizes[:, :rank] / target.temperature.start).sqrt()
    queries = left[..., :rank] * root[:, None]  # (H, C + 1, I)
    keys = right[:, :rank] * root[..., None]  # (H, I, C)
    meet = target.widths[0]
    target.qkv.weight[:meet].copy_(queries[:, :-1].transpose(1, 2).reshape(meet, -1))
    target.qkv.bias[:meet].copy_(queries[:, -1].reshape(meet))
    target.qkv.weight[meet : 2 * meet].copy_(keys.reshape(meet, -1))
    target.qkv.bias[meet : 2 * meet].zero_()
    target.qkv.weight[2 * meet :].copy_(layer.value.weight)
    target.qkv.bias[2 * meet :].copy_(layer.value.bias)
