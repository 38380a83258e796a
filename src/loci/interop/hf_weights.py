"""Names and layouts of weights in GPT-2 and GPT-NeoX, both ways: state dict in, state dict out.

A vanilla model is GPT-2 exactly. A rotary one is GPT-NeoX with sequential residuals exactly: we rotate neighbouring
channels, NeoX the two halves of a head, so the channels of queries and keys change places. nanoGPT has GPT-2's names
without its transposed matrices. Knows nothing of files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import torch
from torch import Tensor

from loci.errors import LociError
from loci.model import GPTConfig

State = Mapping[str, Tensor]
GPT2, NEOX = "gpt2", "gpt_neox"
#: Ours → theirs; a star is the block's number, what follows the last part (weight, bias) stays.
_NAMES = {
    GPT2: {
        "tok_emb": "transformer.wte",
        "ln_f": "transformer.ln_f",
        "head": "lm_head",
        "trunk.blocks.*.ln1": "transformer.h.*.ln_1",
        "trunk.blocks.*.attn.qkv": "transformer.h.*.attn.c_attn",
        "trunk.blocks.*.attn.proj": "transformer.h.*.attn.c_proj",
        "trunk.blocks.*.ln2": "transformer.h.*.ln_2",
        "trunk.blocks.*.mlp.up": "transformer.h.*.mlp.c_fc",
        "trunk.blocks.*.mlp.down": "transformer.h.*.mlp.c_proj",
    },
    NEOX: {
        "tok_emb": "gpt_neox.embed_in",
        "ln_f": "gpt_neox.final_layer_norm",
        "head": "lm_head",
        "trunk.blocks.*.ln1": "gpt_neox.layers.*.input_layernorm",
        "trunk.blocks.*.attn.qkv": "gpt_neox.layers.*.attention.query_key_value",
        "trunk.blocks.*.attn.proj": "gpt_neox.layers.*.attention.dense",
        "trunk.blocks.*.ln2": "gpt_neox.layers.*.post_attention_layernorm",
        "trunk.blocks.*.mlp.up": "gpt_neox.layers.*.mlp.dense_h_to_4h",
        "trunk.blocks.*.mlp.down": "gpt_neox.layers.*.mlp.dense_4h_to_h",
    },
}
_POSITIONS = ("positions.pos_emb", "transformer.wpe.weight")
_MATRIX = re.compile(r"\.(c_attn|c_proj|c_fc)\.weight$")


def stock_architecture(config: GPTConfig) -> str | None:
    """The architecture of the transformers library that computes exactly this model; None when there is none."""
    free = (
        *("vocab_size", "block_size", "n_layer", "n_head", "n_embd", "positions", "tied_head", "zero_init"),
        *("embd_pdrop", "attn_pdrop", "resid_pdrop", "activation", "bottleneck_dim", "up_scale", "local_window"),
    )
    given, plain = config.to_dict(), GPTConfig(1).to_dict()
    if any(given[name] != plain[name] for name in given if name not in free) or config.activation == "relu2":
        return None
    return {"learned": GPT2, "rope": NEOX}.get(config.positions)


def to_stock(state: State, config: GPTConfig, architecture: str) -> dict[str, Tensor]:
    """Our state dict under the architecture's names and in its layouts."""
    theirs: dict[str, Tensor] = {}
    for ours, tensor in state.items():
        if ours == _POSITIONS[0]:
            theirs[_POSITIONS[1]] = tensor[0]
            continue
        name = _renamed(ours, _NAMES[architecture])
        if architecture == GPT2 and _MATRIX.search(name):
            tensor = tensor.t()
        if architecture == NEOX and ".query_key_value." in name:
            tensor = _by_head(tensor, config.n_head)
        theirs[name] = tensor
    if config.tied_head:
        theirs.pop(_NAMES[architecture]["head"] + ".weight", None)
    return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in theirs.items()}


def from_stock(state: State, config: GPTConfig, architecture: str, *, transposed: bool = True) -> dict[str, Tensor]:
    """The architecture's state dict under our names. Biases that are left out are zero; buffers are dropped."""
    names = {theirs: ours for ours, theirs in _NAMES[architecture].items()} | {"embed_out": "head"}
    ours: dict[str, Tensor] = {}
    for theirs, tensor in state.items():
        if re.search(r"\.(attn\.bias|attn\.masked_bias|rotary_emb\.inv_freq|attention\.bias|masked_bias)$", theirs):
            continue
        if theirs == _POSITIONS[1]:
            ours[_POSITIONS[0]] = tensor[None]
            continue
        if architecture == GPT2 and transposed and _MATRIX.search(theirs):
            tensor = tensor.t()
        if architecture == NEOX and ".query_key_value." in theirs:
            tensor = _by_part(tensor, config.n_head)
        ours[_renamed(theirs, names)] = tensor
    if config.tied_head:
        ours["head.weight"] = ours["tok_emb.weight"]
    return {name: tensor.float().contiguous() for name, tensor in ours.items()}


def _renamed(name: str, names: Mapping[str, str]) -> str:
    path, _, kind = name.rpartition(".")
    number = re.search(r"\.(\d+)\.", path)
    key = path if number is None else path.replace(number[0], ".*.", 1)
    if key not in names or kind not in ("weight", "bias"):
        raise LociError(f"holds the unknown tensor {name}", remedy="plain GPT-2 and GPT-NeoX can be read")
    return f"{names[key] if number is None else names[key].replace('*', number[1], 1)}.{kind}"


def _by_head(qkv: Tensor, heads: int) -> Tensor:
    """Queries, keys and values below each other → each head's three together, rotated pairs as halves."""
    parts = [part.reshape(heads, -1, *part.shape[1:]) for part in qkv.chunk(3)]
    halves = [torch.cat((part[:, 0::2], part[:, 1::2]), 1) for part in parts[:2]]
    return torch.stack((*halves, parts[2]), 1).flatten(0, 2)


def _by_part(qkv: Tensor, heads: int) -> Tensor:
    """The inverse of `_by_head`."""
    query, key, value = qkv.reshape(heads, 3, -1, *qkv.shape[1:]).unbind(1)
    pairs = [torch.stack(part.chunk(2, 1), 2).flatten(1, 2) for part in (query, key)]
    return torch.cat([part.flatten(0, 1) for part in (*pairs, value)])
