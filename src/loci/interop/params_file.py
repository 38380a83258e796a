"""`.params` files on disk: `torch.save` of a state dict, read without ever running what is in it.

A pickle can name any function of the machine to be called when it is read. Only tensors are let in; a file that asks
for more is refused before anything of it runs. Knows nothing of what the tensors mean.
"""

from __future__ import annotations

import pickle
import pickletools
import re
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from loci.errors import LociError
from loci.files import atomic_file

_REMEDY = "write it with torch.save(model.state_dict(), path)"
_WEIGHTS_NEED = ("collections.OrderedDict", "torch.")
_GLOBAL = re.compile(r"(?:GLOBAL|global|class) ([A-Za-z_][\w.]*\.\w+)")


def write_params(path: str | Path, state: Mapping[str, Tensor]) -> None:
    """Save plain tensors under the course's file format; the file appears whole or not at all."""
    try:
        with atomic_file(path) as temporary:
            torch.save(dict(state), temporary)
    except OSError as error:
        raise LociError(f"cannot be written: {error.strerror or error}", path=path) from None


def read_params(path: str | Path) -> dict[str, Tensor]:
    """The tensors of a `.params` file. Anything but a state dict is a `LociError`, and none of it has run."""
    path = Path(path)
    if path.is_dir():
        remedy = "a .params file is wanted; loci course export RUN makes one of a run"
        raise LociError("is a folder", path=path, remedy=remedy)
    if not path.is_file():
        raise LociError("no such file", path=path, remedy="give the file that --writing_params_path wrote")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's guesses about foreign files; our one line says it
            state = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise _refusal(path, str(error)) from None
    except OSError as error:
        raise LociError(f"cannot be read: {error.strerror or error}", path=path) from None
    except Exception:  # torch's readers raise nearly anything over a damaged file
        raise LociError("is damaged, or no .params file", path=path, remedy=_REMEDY) from None
    if not isinstance(state, Mapping) or not state:
        raise LociError("holds no state dict", path=path, remedy=_REMEDY)
    for name, value in state.items():
        if not isinstance(name, str) or not isinstance(value, Tensor):
            kind = type(value).__name__
            raise LociError(f"entry {name!r} is {kind}, not a tensor: no plain state dict", path=path, remedy=_REMEDY)
    return dict(state)


def _refusal(path: Path, reason: str) -> LociError:
    """The error for what torch's own restricted reader would not read."""
    told = _GLOBAL.search(reason)
    found = [told[1]] if told else [name for name in _globals_of(path) if not name.startswith(_WEIGHTS_NEED)]
    if found:
        return LociError(
            f"refused: it holds more than weights, reading it would run {found[0]}", path=path, remedy=_REMEDY
        )
    return LociError("is damaged, or no .params file", path=path, remedy=_REMEDY)


def _globals_of(path: Path) -> list[str]:
    """The functions and classes that a pickle names, found by listing its instructions without following them.

    Torch's reader knows the instructions of old pickles only and does not say what a plain pickle of today asks for.
    """
    names: list[str] = []
    strings: list[str] = []
    try:
        for operation, argument, _ in pickletools.genops(_pickled(path)):
            if operation.name in ("GLOBAL", "INST"):
                names.append(str(argument).replace(" ", "."))
            elif operation.name == "STACK_GLOBAL":
                names.append(".".join(strings[-2:]))
            elif isinstance(argument, str):
                strings.append(argument)
    except Exception:  # not a pickle from here on; what was found counts
        pass
    return names


def _pickled(path: Path) -> bytes:
    """The pickle itself: the file, or the one inside torch's zip container."""
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        return next((archive.read(name) for name in archive.namelist() if name.endswith("data.pkl")), b"")
