"""A checkpoint of nanoGPT as a model of ours: `ckpt.pt`, and `meta.pkl` next to it for its characters.

Both are pickles. The checkpoint is read by torch's reader for weights only, the characters by a reader that builds
plain dictionaries and nothing else: nothing in either file can run. Without a `meta.pkl` the tokens are GPT-2's, whose
`tokenizer.json` has to lie there.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from loci.errors import LociError
from loci.interop.exchange import Imported
from loci.interop.hf_import import built, read_tokenizer
from loci.interop.hf_weights import GPT2, from_stock
from loci.model import GPTConfig
from loci.text.vocab import Vocab
from loci.training.checkpoint import TOKENIZER, require_enough

CHECKPOINT, META = "ckpt.pt", "meta.pkl"
_REMEDY = "give the ckpt.pt that nanoGPT's train.py wrote"


def import_nanogpt(path: Path) -> Imported:
    """The model of a `ckpt.pt`, or of the folder that holds it."""
    file = path / CHECKPOINT if path.is_dir() else path
    try:
        stored = torch.load(file, map_location="cpu", weights_only=True)
        arguments, weights = stored["model_args"], stored["model"]
    except FileNotFoundError:
        raise LociError(f"holds no {CHECKPOINT}", path=path, remedy=_REMEDY) from None
    except Exception:  # torch's readers raise nearly anything over a damaged file
        raise LociError("is damaged, or no checkpoint of nanoGPT", path=file, remedy=_REMEDY) from None
    config = _config(arguments, file)
    if not isinstance(weights, dict):
        raise LociError("holds no weights by name", path=file, remedy=_REMEDY)
    plain = {
        str(name).removeprefix("_orig_mod."): value for name, value in weights.items() if isinstance(value, Tensor)
    }
    require_enough(config, len(plain), sum(tensor.numel() for tensor in plain.values()), file)
    state = from_stock(plain, config, GPT2, transposed=False)
    meta = file.parent / META
    if meta.is_file():
        return Imported(built(config, state, file), _characters(meta, config.vocab_size))
    if not (file.parent / TOKENIZER).is_file():
        remedy = f"copy the {META} of its data folder there, or GPT-2's {TOKENIZER}"
        raise LociError(f"no {META} lies next to it: its tokens are unknown", path=file, remedy=remedy)
    return Imported(built(config, state, file), read_tokenizer(file.parent / TOKENIZER, config.vocab_size))


def _config(arguments: Any, file: Path) -> GPTConfig:
    try:
        sizes = {name: int(arguments[name]) for name in ("n_layer", "n_head", "n_embd", "block_size", "vocab_size")}
        drop = float(arguments.get("dropout", 0.0))
        drops = {"embd_pdrop": drop, "attn_pdrop": drop, "resid_pdrop": drop}
        return GPTConfig.from_dict({**sizes, **drops, "tied_head": True})
    except (KeyError, TypeError, ValueError, AttributeError):
        raise LociError("its model_args name no sizes", path=file) from None
    except LociError as error:
        raise LociError(error.message, path=file, remedy=error.remedy) from None


class _PlainReader(pickle.Unpickler):
    """Reads dictionaries, numbers and texts; anything that would call a function is refused."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def _characters(file: Path, size: int) -> Vocab:
    try:
        meta = _PlainReader(io.BytesIO(file.read_bytes())).load()
        ids: dict[str, int] = meta["stoi"]
        symbols = tuple(sorted(ids, key=ids.__getitem__))
        whole = [ids[symbol] for symbol in symbols] == list(range(len(symbols)))
        if not whole or len(symbols) != size or any(len(symbol) != 1 for symbol in symbols):
            raise LociError(f"names {len(symbols)} characters, the model has {size}", path=file)
        return Vocab(symbols, "characters")
    except (pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise LociError(f"is no {META} of nanoGPT: {error}", path=file) from None
