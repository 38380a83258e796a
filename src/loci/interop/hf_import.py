"""A folder of the transformers library as a model of ours: GPT-2, GPT-NeoX without parallel residuals, and our own.

Weights and configs are read as plain files: no code of the folder is run and the library is not needed. A tokenizer of
single characters becomes a vocabulary; one with longer tokens (BPE) is kept as it is, for reading and scoring only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from loci.errors import LociError
from loci.files import read_struct
from loci.interop.char_tokenizer import symbols_of
from loci.interop.exchange import Imported
from loci.interop.hf_weights import GPT2, NEOX, from_stock
from loci.model import GPT, GPTConfig
from loci.model.positions import ROPE_BASE
from loci.text.vocab import MASK, PAD, Vocab
from loci.training.checkpoint import TOKENIZER, require_enough

_REMEDY = "give what save_pretrained or loci export --to hf wrote"
_ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh"}


def import_hf(folder: Path) -> Imported:
    """The model and vocabulary of a folder with config.json, model.safetensors and tokenizer.json."""
    if not folder.is_dir():
        raise LociError("is no folder", path=folder, remedy=_REMEDY)
    fields = read_struct(folder / "config.json", dict[str, Any], remedy=_REMEDY)
    kind = str(fields.get("model_type"))
    if kind not in (GPT2, NEOX, "loci"):
        remedy = f"{GPT2}, {NEOX} and loci can be"
        raise LociError(f"a model of type {kind!r} cannot be imported", path=folder / "config.json", remedy=remedy)
    try:
        config = _config(fields, kind)
        if config.vocab_size > (most := 10**6):
            raise LociError(f"a vocabulary of more than {most:,} tokens")
        weights = _weights(folder)
        numbers = sum(tensor.numel() for tensor in weights.values())
        require_enough(config, len(weights), numbers, folder / "model.safetensors")
        state = _own_state(weights, config) if kind == "loci" else from_stock(_named(weights, kind), config, kind)
    except LociError as error:
        raise LociError(error.message, path=error.path or folder, remedy=error.remedy or _REMEDY) from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RuntimeError) as error:
        message = f"config.json does not describe a {kind} model: {error}"
        raise LociError(message, path=folder, remedy=_REMEDY) from None
    return Imported(built(config, state, folder), read_tokenizer(folder / TOKENIZER, config.vocab_size))


def built(config: GPTConfig, state: dict[str, Tensor], path: Path) -> GPT:
    """The model with these weights. Biases that the file leaves out are zero; anything else that differs is named."""
    model = GPT(config)
    ours = model.state_dict()
    for name in set(ours) - set(state):
        if name.endswith(".bias"):
            state[name] = ours[name].new_zeros(ours[name].shape)
    if differing := sorted({*ours} ^ {*state}):
        raise LociError(f"lacks or has too many tensors: {', '.join(differing[:3])}", path=path, remedy=_REMEDY)
    for name, tensor in state.items():
        if tensor.shape != ours[name].shape:
            raise LociError(
                f"{name} has the shape {tuple(tensor.shape)}, not {tuple(ours[name].shape)}", path=path, remedy=_REMEDY
            )
        if not bool(tensor.isfinite().all()):
            raise LociError(f"{name} holds values that are no numbers", path=path, remedy=_REMEDY)
    model.load_state_dict(state)
    return model.eval()


def read_tokenizer(file: Path, size: int) -> Vocab:
    """The vocabulary of a tokenizer.json: ours, that of other characters, or tokens."""
    raw = read_struct(file, dict[str, Any], remedy=_REMEDY)
    try:
        symbols = symbols_of(raw, size)
        single = all(len(symbol) == 1 for symbol in symbols)
        if not single or raw["model"].get("type") != "WordLevel":
            return Vocab(symbols, "tokens", file.read_bytes())
        return Vocab(symbols, "loci" if symbols[:2] == (PAD, MASK) else "characters")
    except LociError as error:
        raise LociError(error.message, path=file, remedy=error.remedy or _REMEDY) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise LociError(f"is no tokenizer: {error!r}", path=file, remedy=_REMEDY) from None


def _weights(folder: Path) -> dict[str, Tensor]:
    file = folder / "model.safetensors"
    if not file.is_file():
        remedy = "model.save_pretrained(DIR, safe_serialization=True) writes one file of it"
        raise LociError("has no model.safetensors", path=folder, remedy=remedy)
    try:
        return load_file(file)
    except (SafetensorError, OSError) as error:
        raise LociError(f"cannot be read: {error}", path=file, remedy=_REMEDY) from None


def _own_state(weights: dict[str, Tensor], config: GPTConfig) -> dict[str, Tensor]:
    """The weights of our own modelling file; tables in it follow from the config and are made anew."""
    tables = {name for name, _ in GPT(config).named_buffers()}
    own = {name.removeprefix("model."): tensor.float() for name, tensor in weights.items()}
    return {name: tensor for name, tensor in own.items() if name not in tables}


def _named(weights: dict[str, Tensor], kind: str) -> dict[str, Tensor]:
    """Names as of the whole language model, also where the bare trunk was saved."""
    prefix = {GPT2: "transformer.", NEOX: "gpt_neox."}[kind]
    if any(name.startswith(prefix) for name in weights):
        return weights
    return {name if name.startswith(("lm_head", "embed_out")) else prefix + name: t for name, t in weights.items()}


def _config(fields: dict[str, Any], kind: str) -> GPTConfig:
    if kind == "loci":
        return GPTConfig.from_dict(fields["loci"])
    activation = fields.get("activation_function", "gelu_new") if kind == GPT2 else fields.get("hidden_act", "gelu")
    if activation not in _ACTIVATIONS:
        raise LociError(f"the activation {activation!r} is not ours", remedy=f"one of: {', '.join(_ACTIVATIONS)}")
    common = {
        "activation": _ACTIVATIONS[activation],
        "tied_head": bool(fields.get("tie_word_embeddings", kind == GPT2)),
        "vocab_size": fields["vocab_size"],
    }
    epsilon = fields.get("layer_norm_epsilon" if kind == GPT2 else "layer_norm_eps", 1e-5)
    if abs(epsilon - 1e-5) > 1e-9:
        raise LociError(f"a layer norm with ε = {epsilon} is not ours", remedy="ours has 1e-5")
    if kind == GPT2:
        width, inner = fields["n_embd"], fields.get("n_inner")
        unusual = [name for name in ("scale_attn_by_inverse_layer_idx", "add_cross_attention") if fields.get(name)]
        if unusual or not fields.get("scale_attn_weights", True) or inner not in (None, 4 * width):
            raise LociError("is no plain GPT-2", remedy="perceptrons 4 times as wide, scores scaled by 1/√D")
        sizes = {"n_layer": fields["n_layer"], "n_head": fields["n_head"], "block_size": fields["n_positions"]}
        drops = {name: fields.get(name, 0.1) for name in ("embd_pdrop", "attn_pdrop", "resid_pdrop")}
        return GPTConfig.from_dict({**common, **sizes, **drops, "n_embd": width})
    rope = {**fields, **(fields.get("rope_parameters") or {})}
    share = rope.get("partial_rotary_factor", rope.get("rotary_pct", 0.25))
    base = rope.get("rope_theta", rope.get("rotary_emb_base", ROPE_BASE))
    width = fields["hidden_size"]
    if fields.get("use_parallel_residual", True) or share != 1 or base != ROPE_BASE:
        raise LociError(
            "is no GPT-NeoX that we can compute", remedy="sequential residuals, all channels rotated, base 10,000"
        )
    if fields["intermediate_size"] != 4 * width:
        raise LociError("its perceptrons are not 4 times as wide")
    sizes = {
        "n_layer": fields["num_hidden_layers"],
        "n_head": fields["num_attention_heads"],
        "block_size": fields["max_position_embeddings"],
        "n_embd": width,
        "positions": "rope",
        "resid_pdrop": float(fields.get("hidden_dropout", 0.0)),
        "embd_pdrop": float(fields.get("hidden_dropout", 0.0)),
        "attn_pdrop": float(fields.get("attention_dropout", 0.0)),
    }
    return GPTConfig.from_dict({**common, **sizes})
