"""A vocabulary of characters as a `tokenizer.json` of the tokenizers library, both ways.

One token a character, no normalisation, nothing between tokens when they are put together again; a character that the
vocabulary lacks is an error, as it is here. Written and read as plain JSON: the library itself is not needed.
"""

from __future__ import annotations

from typing import Any

from loci.errors import LociError
from loci.text.vocab import MASK, PAD, Vocab


def to_tokenizer(vocab: Vocab) -> dict[str, Any]:
    """What tokenizer.json holds."""
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": index, "content": symbol, **special} for index, symbol in enumerate((PAD, MASK))],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": r"[\s\S]"},
            "behavior": "Isolated",
            "invert": False,
        },
        "post_processor": None,
        "decoder": {"type": "Fuse"},
        # A token for unknown characters must be named; that it is none of the vocabulary makes them an error.
        "model": {"type": "WordLevel", "vocab": vocab.ids, "unk_token": "unknown"},
    }


def tokenizer_settings(limit: int) -> dict[str, Any]:
    """What tokenizer_config.json holds: the mask ends an answer, padding goes before a prompt."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": PAD,
        "eos_token": MASK,
        "model_max_length": limit,
        "padding_side": "left",
        "clean_up_tokenization_spaces": False,
    }


def symbols_of(tokenizer: Any, size: int) -> tuple[str, ...]:
    """The symbols of a tokenizer.json in the order of their ids; ids that a model has beyond them get made-up names."""
    try:
        ids: dict[str, int] = dict(tokenizer["model"]["vocab"])
        ids |= {token["content"]: token["id"] for token in tokenizer.get("added_tokens") or ()}
        symbols = {index: symbol for symbol, index in ids.items()}
        if max(symbols) >= size or min(symbols) < 0:
            raise LociError(f"gives a symbol the id {max(symbols)}, the model has {size}")
    except (KeyError, TypeError, ValueError, AttributeError):
        raise LociError("is no tokenizer of the tokenizers library") from None
    return tuple(symbols.get(index, f"<unused {index}>") for index in range(size))
