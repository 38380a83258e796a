"""`.params` files on disk: `torch.save` of a state dict, read without ever running what is in it.

A pickle can name any function of the machine to be called when it is read. Only tensors are let in; a file that asks
for more is refused before anything of it runs. The archive around the pickle has sizes and checksums of its own: they
are checked first, so that a file cut short or changed on its way is named as such. Knows nothing of what the tensors
mean.
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
from loci.files import atomic_file, said_by_system
from loci.training.checkpoint import require_finite

_REMEDY = "write it with torch.save(model.state_dict(), path)"
_AGAIN = "download or copy it again"
_WEIGHTS_NEED = ("collections.OrderedDict", "torch.")
_GLOBAL = re.compile(r"(?:GLOBAL|global|class) ([A-Za-z_][\w.]*\.\w+)")


def write_params(path: str | Path, state: Mapping[str, Tensor]) -> None:
    """Save plain tensors under the course's file format; the file appears whole or not at all."""
    with atomic_file(path) as temporary, open(temporary, "wb") as handle:
        torch.save(dict(state), handle)


def read_params(path: str | Path) -> dict[str, Tensor]:
    """The tensors of a `.params` file. Anything but a state dict is a `LociError`, and none of it has run."""
    path = Path(path)
    if path.is_dir():
        remedy = "a .params file is wanted; loci course export RUN makes one of a run"
        raise LociError("is a folder", path=path, remedy=remedy)
    if not path.is_file():
        raise LociError("no such file", path=path, remedy="give the file that --writing_params_path wrote")
    try:
        _check_archive(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's guesses about such files; our one line says it
            state = torch.load(path, map_location="cpu", weights_only=True)
        tensors = _plain_tensors(state)
        require_finite(tensors, path)
    except pickle.UnpicklingError as error:
        raise _refusal(path, str(error)) from None
    except OSError as error:
        raise said_by_system(error, path) from None
    except LociError as error:
        raise LociError(error.message, path=path, remedy=error.remedy or _REMEDY) from None
    except Exception:  # torch's readers raise nearly anything over a damaged file
        raise LociError("is damaged, or no .params file", path=path, remedy=_REMEDY) from None
    return tensors


def _check_archive(path: Path) -> None:
    """Refuse an archive that does not fit its own sizes and checksums; old torch wrote none."""
    with path.open("rb") as handle:
        if handle.read(4) != b"PK\x03\x04":
            return
    size = path.stat().st_size
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            # Torch stores its records as they are. A small file that inflates to gigabytes is none of its own.
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                raise LociError("holds compressed records, which torch.save never writes")
            if sum(entry.file_size for entry in entries) > size:
                raise LociError("holds records that are larger than the file")
            if (broken := archive.testzip()) is not None:
                raise LociError(f"is damaged: the record {broken} does not match its checksum", remedy=_AGAIN)
    except zipfile.BadZipFile:
        raise LociError(
            f"is cut short or damaged: its {size:,} bytes begin an archive and do not end it", remedy=_AGAIN
        ) from None


def _plain_tensors(state: object) -> dict[str, Tensor]:
    """The state dict, if it is one of ordinary tensors that are no larger than what the file holds for them."""
    if not isinstance(state, Mapping) or not state:
        raise LociError("holds no state dict")
    for name, value in state.items():
        if not isinstance(name, str) or not isinstance(value, Tensor):
            raise LociError(f"entry {name!r} is {type(value).__name__}, not a tensor: no plain state dict")
        kinds = {"sparse": value.layout != torch.strided, "quantised": value.is_quantized, "meta": value.is_meta}
        if kind := next((kind for kind, found in kinds.items() if found), None):
            raise LociError(f"{name} is a {kind} tensor", remedy="save ordinary ones: tensor.detach().cpu().float()")
        if value.numel() * value.element_size() > value.untyped_storage().nbytes():
            raise LociError(f"{name} says it is larger than its data")
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
