"""`.params` files on disk: `torch.save` of a state dict, read without ever running what is in it.

A pickle can name any function of the machine to be called when it is read, and even torch's reader for weights calls
some that make tensors of any size. So its instructions are listed first: one that names more than ordinary tensors need
is refused before anything of it runs. The archive around the pickle has sizes and checksums of its own: they are
checked too, so that a file cut short or changed on its way is named as such. Knows nothing of what the tensors mean.
"""

from __future__ import annotations

import io
import pickletools
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import torch
from torch import Tensor

from loci.errors import LociError
from loci.files import atomic_file, said_by_system
from loci.training.checkpoint import require_finite

_REMEDY = "write it with torch.save(model.state_dict(), path)"
_AGAIN = "download or copy it again"
_REBUILT = "tensor|tensor_v2|parameter|parameter_with_state|sparse_tensor|qtensor|meta_tensor_no_storage"
_WEIGHTS_NEED = re.compile(
    rf"collections\.OrderedDict|torch\._utils\._rebuild_({_REBUILT})|torch\.(storage\.)?\w+Storage"
    r"|torch\.(b?float|q?u?int)\d+\w*|torch\.per_\w+|torch\.Size|torch\.serialization\._get_layout"
)
_PICKLES = 5
_MOST_SHARED = 24
"""Times that a tuple may be used again: tuples of tuples that share their parts grow twofold with each."""


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
        tensors = _plain_tensors(load_weights(path))
        require_finite(tensors, path)
    except OSError as error:
        raise said_by_system(error, path) from None
    except LociError as error:
        raise LociError(error.message, path=path, remedy=error.remedy or _REMEDY) from None
    except Exception:  # torch's readers raise nearly anything over a damaged file
        raise LociError("is damaged, or no .params file", path=path, remedy=_REMEDY) from None
    return tensors


def load_weights(path: Path) -> object:
    """What `torch.save` wrote, if it is made of tensors, texts and numbers. A bad file may raise nearly anything."""
    _check_archive(path)
    _check_pickle(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's guesses about such files; our one line says it
        return torch.load(path, map_location="cpu", weights_only=True)


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
    """The state dict, if it holds ordinary tensors and nothing else."""
    if not isinstance(state, Mapping) or not state:
        raise LociError("holds no state dict")
    for name, value in state.items():
        if not isinstance(name, str) or not isinstance(value, Tensor):
            raise LociError(f"entry {name!r} is {type(value).__name__}, not a tensor: no plain state dict")
    require_plain(state)
    return dict(state)


def require_plain(tensors: Mapping[str, Tensor]) -> None:
    """Refuse tensors that are not ordinary, or larger than what the file holds for them."""
    for name, value in tensors.items():
        kinds = {"sparse": value.layout != torch.strided, "quantised": value.is_quantized, "meta": value.is_meta}
        if kind := next((kind for kind, found in kinds.items() if found), None):
            raise LociError(f"{name} is a {kind} tensor", remedy="save ordinary ones: tensor.detach().cpu().float()")
        if value.numel() * value.element_size() > value.untyped_storage().nbytes():
            raise LociError(f"{name} says it is larger than its data")


def _check_pickle(path: Path) -> None:
    """List the instructions of the pickles without following them; refuse what weights do not need."""
    names: list[str] = []
    strings: list[str] = []
    tuples: set[object] = set()
    shared, before, put = 0, "", 0
    with _pickled(path) as handle:
        for operation, argument, _ in _operations(handle):
            if operation in ("GLOBAL", "INST"):
                names.append(str(argument).replace(" ", "."))
            elif operation == "STACK_GLOBAL":
                names.append(".".join(strings[-2:]))
            elif isinstance(argument, str):
                strings = [*strings[-1:], argument]
            if operation == "MEMOIZE" or operation.endswith("PUT"):
                tuples.add(put if operation == "MEMOIZE" else argument) if "TUPLE" in before else None
                put += 1
            else:
                shared += operation == "DUP" or (operation.endswith("GET") and argument in tuples)
                before = operation
    if (other := next((name for name in names if not _WEIGHTS_NEED.fullmatch(name)), None)) is not None:
        raise LociError(f"refused: it holds more than weights, reading it would run {other}")
    if shared > _MOST_SHARED:
        raise LociError("is damaged, or no .params file: it has tuples within tuples without end")


def _operations(handle: IO[bytes]) -> Iterator[tuple[str, object, object]]:
    """The instructions of every pickle in a file: old torch wrote five, and the numbers after them."""
    try:
        for _ in range(_PICKLES):
            for operation, argument, position in pickletools.genops(handle):
                yield operation.name, argument, position
    except Exception:  # not a pickle from here on; torch's reader says so, or it is the numbers
        return


def _pickled(path: Path) -> IO[bytes]:
    """The pickle itself: the file, or the one inside torch's zip container."""
    if not zipfile.is_zipfile(path):
        return path.open("rb")
    with zipfile.ZipFile(path) as archive:
        return io.BytesIO(next((archive.read(name) for name in archive.namelist() if name.endswith("data.pkl")), b""))
