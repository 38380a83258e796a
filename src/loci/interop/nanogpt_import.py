"""A checkpoint of nanoGPT as a model of ours: `ckpt.pt`, and `meta.pkl` next to it for its characters.

Both are pickles. The checkpoint is read as files of weights are (`params_file`), the characters by a reader that builds
dictionaries of texts and numbers and nothing else: nothing in either file can run. Without a `meta.pkl` the tokens are
GPT-2's, whose `tokenizer.json` has to lie there.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor

from loci.errors import LociError, naming
from loci.interop.exchange import Imported
from loci.interop.hf_import import built, read_tokenizer
from loci.interop.hf_weights import GPT2, from_stock
from loci.interop.params_file import load_weights, require_plain
from loci.model import GPTConfig
from loci.text.vocab import Vocab
from loci.training.checkpoint import TOKENIZER, require_enough

CHECKPOINT, META = "ckpt.pt", "meta.pkl"
_REMEDY = "give the ckpt.pt that nanoGPT's train.py wrote"


def import_nanogpt(path: Path) -> Imported:
    """The model of a `ckpt.pt`, or of the folder that holds it."""
    file = path / CHECKPOINT if path.is_dir() else path
    if not file.is_file():
        raise LociError(f"holds no {CHECKPOINT}", path=path, remedy=_REMEDY)
    try:
        stored: Any = load_weights(file)
        arguments, weights = stored["model_args"], stored["model"]
    except LociError as error:
        raise LociError(error.message, path=file, remedy=_REMEDY) from None
    except Exception:  # torch's readers raise nearly anything over a damaged file
        raise LociError("is damaged, or no checkpoint of nanoGPT", path=file, remedy=_REMEDY) from None
    config = _config(arguments, file)
    if not isinstance(weights, dict):
        raise LociError("holds no weights by name", path=file, remedy=_REMEDY)
    plain = {
        str(name).removeprefix("_orig_mod."): value for name, value in weights.items() if isinstance(value, Tensor)
    }
    with naming(file, remedy=_REMEDY):
        require_plain(plain)
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
        raise LociError("its model_args name no sizes", path=file, remedy=_REMEDY) from None
    except LociError as error:
        raise LociError(error.message, path=file, remedy=error.remedy or _REMEDY) from None


_OPERATIONS = (
    pickle.PROTO + pickle.FRAME + pickle.MARK + pickle.EMPTY_DICT + pickle.DICT + pickle.SETITEM + pickle.SETITEMS
    + pickle.PUT + pickle.BINPUT + pickle.LONG_BINPUT + pickle.MEMOIZE + pickle.GET + pickle.BINGET + pickle.LONG_BINGET
    + pickle.INT + pickle.BININT + pickle.BININT1 + pickle.BININT2
    + pickle.UNICODE + pickle.BINUNICODE + pickle.SHORT_BINUNICODE
    + pickle.GLOBAL + pickle.STACK_GLOBAL + pickle.STOP
)  # fmt: skip


class _PlainReader(pickle._Unpickler):
    """Reads dictionaries of numbers and texts; it has no other instruction, and whatever names a function is refused.

    It is the reader written in Python: the one in C makes room for as many objects as a file says it has.
    """

    dispatch: ClassVar[dict[int, Any]] = {
        code: read for code, read in pickle._Unpickler.dispatch.items() if code in _OPERATIONS
    }

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def _characters(file: Path, size: int) -> Vocab:
    try:
        meta = _PlainReader(io.BytesIO(file.read_bytes())).load()
        ids: dict[str, int] = meta["stoi"]
        symbols = tuple(sorted(ids, key=ids.__getitem__))
        whole = [ids[symbol] for symbol in symbols] == list(range(len(symbols)))
        if not whole or len(symbols) != size or any(len(symbol) != 1 for symbol in symbols):
            raise LociError(f"names {len(symbols)} characters, the model has {size}", path=file, remedy=_REMEDY)
        return Vocab(symbols, "characters")
    except (pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise LociError(f"is no {META} of nanoGPT: {error!r}", path=file, remedy=_REMEDY) from None
