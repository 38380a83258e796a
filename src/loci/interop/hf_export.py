"""A run as a folder that the transformers library loads offline.

A vanilla model becomes plain GPT-2 and a plain rotary one GPT-NeoX: both are exact. Any other model comes with its own
`modeling_loci.py`, cut out of our sources (`model_source`), for `trust_remote_code=True`. Everything is written as
plain files; the library is not needed. Knows nothing of the way back.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from loci.files import write_json, write_text
from loci.interop.answer_script import answer_script
from loci.interop.char_tokenizer import to_tokenizer, tokenizer_settings
from loci.interop.hf_weights import GPT2, stock_architecture, to_stock
from loci.interop.model_card import model_card
from loci.interop.model_source import Name, model_source
from loci.model import GPTConfig
from loci.model.attention import ATTENTIONS
from loci.model.positions import POSITIONS, ROPE_BASE
from loci.model.trunk import TRUNKS
from loci.text.vocab import MASK_ID, PAD_ID
from loci.training.checkpoint import LoadedModel, save_tensors

MODELLING = "modeling_loci.py"
ANSWER_LENGTH = 32
WRAPPER = "loci.interop.hf_modelling"


def export_hf(loaded: LoadedModel, folder: Path) -> list[str]:
    """Config, weights, tokenizer, card; the modelling file and the answering script where they are needed."""
    config, state = loaded.model.config, loaded.model.state_dict()
    architecture = stock_architecture(config)
    write_json(folder / "config.json", {**_model_fields(config, architecture), **_common(loaded)})
    if architecture is None:
        write_text(folder / MODELLING, modelling_file(config))
        whole = {**state, **dict(loaded.model.named_buffers())}  # also tables that follow from the config
        weights = {f"model.{name}": tensor.detach().cpu().contiguous().clone() for name, tensor in whole.items()}
    else:
        weights = to_stock(state, config, architecture)
    save_tensors(weights, folder / "model.safetensors", {"format": "pt"})
    write_json(folder / "tokenizer.json", to_tokenizer(loaded.vocab))
    write_json(folder / "tokenizer_config.json", tokenizer_settings(config.block_size))
    generation = {"eos_token_id": MASK_ID, "pad_token_id": PAD_ID, "max_new_tokens": ANSWER_LENGTH, "do_sample": False}
    write_json(folder / "generation_config.json", {**generation, "use_cache": architecture is not None})
    notes = [f"architecture: {architecture}" if architecture else f"architecture: its own, in {MODELLING}"]
    if loaded.answerer == "recite":
        write_text(folder / "answer.py", answer_script(loaded))
        notes.append("it recites before it answers: python answer.py QUESTION does both")
    write_text(folder / "README.md", model_card(loaded, architecture))
    trust = "" if architecture else ", trust_remote_code=True"
    return [*notes, f"load it: AutoModelForCausalLM.from_pretrained(DIR{trust})"]


def modelling_file(config: GPTConfig) -> str:
    """The source of the model at its point of the three axes, with the classes that transformers needs."""
    chosen: dict[str, tuple[str, type]] = {
        "ATTENTIONS": (config.attention, ATTENTIONS[config.attention]),
        "POSITIONS": (config.positions, POSITIONS[config.positions]),
        "TRUNKS": (config.trunk, TRUNKS[config.trunk]),
    }
    tables = {table: {name: f"{kind.__module__}:{kind.__name__}"} for table, (name, kind) in chosen.items()}
    point = f"{config.attention} attention, {config.positions} positions, {config.trunk} trunk"
    header = f"""A character-level GPT: {point}.

Written by `loci export --to hf` from Loci's own classes. B batch, T time, C channels, H heads, D channels of a head."""
    roots = [Name(WRAPPER, "LociConfig"), Name(WRAPPER, "LociForCausalLM")]
    own = {"BY_ONEDNN": False}  # wherever the file is used: PyTorch's own choice
    return model_source(roots, tables, inspect.cleandoc(header), values=own)


def _model_fields(config: GPTConfig, architecture: str | None) -> dict[str, Any]:
    if architecture is None:
        auto = {"AutoConfig": "LociConfig", "AutoModelForCausalLM": "LociForCausalLM"}
        return {
            "model_type": "loci",
            "architectures": ["LociForCausalLM"],
            "auto_map": {name: f"{MODELLING.removesuffix('.py')}.{cls}" for name, cls in auto.items()},
            "loci": config.to_dict(),
        }
    activation = {"gelu": "gelu", "gelu-tanh": "gelu_new"}[config.activation]
    if architecture == GPT2:
        return {
            "model_type": "gpt2",
            "architectures": ["GPT2LMHeadModel"],
            "vocab_size": config.vocab_size,
            "n_positions": config.block_size,
            "n_embd": config.n_embd,
            "n_layer": config.n_layer,
            "n_head": config.n_head,
            "activation_function": activation,
            "embd_pdrop": config.embd_pdrop,
            "attn_pdrop": config.attn_pdrop,
            "resid_pdrop": config.resid_pdrop,
            "layer_norm_epsilon": 1e-5,
        }
    return {
        "model_type": "gpt_neox",
        "architectures": ["GPTNeoXForCausalLM"],
        "vocab_size": config.vocab_size,
        "max_position_embeddings": config.block_size,
        "hidden_size": config.n_embd,
        "intermediate_size": 4 * config.n_embd,
        "num_hidden_layers": config.n_layer,
        "num_attention_heads": config.n_head,
        "hidden_act": activation,
        "hidden_dropout": config.resid_pdrop,
        "attention_dropout": config.attn_pdrop,
        "attention_bias": True,
        "layer_norm_eps": 1e-5,
        "use_parallel_residual": False,
        "rotary_pct": 1.0,
        "rotary_emb_base": ROPE_BASE,
        "rope_parameters": {"rope_type": "default", "rope_theta": ROPE_BASE, "partial_rotary_factor": 1.0},
    }


def _common(loaded: LoadedModel) -> dict[str, Any]:
    return {
        "tie_word_embeddings": loaded.model.config.tied_head,
        "bos_token_id": None,
        "eos_token_id": MASK_ID,
        "pad_token_id": PAD_ID,
        "dtype": "float32",
    }
