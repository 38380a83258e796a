"""Sharded checkpoints: every process writes its own part of weights and moments, with torch.distributed.checkpoint.

    step-00000300/  shard-….safetensors    one file a process: weights (`model.…`), moments and random state (`state.…`)
                    config.json, state.json, manifest.json    as in any checkpoint

Nothing is gathered and nothing pickled. Any number of processes reads them back, each its own part; `consolidate`
makes the ordinary checkpoint of them. Knows nothing of the loop that writes them.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from loci.errors import LociError
from loci.files import atomic_folder
from loci.manifest import hashes_of, read_manifest, write_manifest
from loci.model import GPT
from loci.text.vocab import Vocab
from loci.training import checkpoint as ckpt
from loci.training.checkpoint import Tensors, TrainingState
from loci.training.distributed import Group
from loci.training.parallel import sharded_like
from loci.training.state import empty_state

MODEL, STATE = "model.", "state."


def save_shards(
    folder: Path,
    model: GPT,
    vocab: Vocab,
    *,
    about: Mapping[str, Any],
    state: TrainingState,
    tensors: Tensors,
    group: Group,
) -> None:
    """Write a checkpoint of a sharded model, whole or not at all. Every process has to call this."""
    import torch.distributed.checkpoint as dcp

    named = {MODEL + name: tensor for name, tensor in ckpt.weights_of(model).items()}
    named |= {STATE + name: tensor for name, tensor in tensors.items()}
    if not group.first:  # what is not sharded is the first process's
        named = {name: tensor for name, tensor in named.items() if hasattr(tensor, "to_local")}
    with atomic_folder(folder) if group.first else contextlib.nullcontext(folder) as temporary:
        place = group.from_first(str(temporary))
        dcp.save(named, storage_writer=dcp.HuggingFaceStorageWriter(place, save_distributed=True))
        if group.first:
            ckpt.write_about(temporary, model, vocab, about=about, state=state)
    group.wait()


def restore(model: GPT, folder: Path) -> None:
    """Give a model, sharded or not, the weights of a checkpoint, sharded or not."""
    own = ckpt.weights_of(model, plain=False)
    if ckpt.is_sharded(folder):
        _read(folder, {MODEL + name: tensor for name, tensor in own.items()})
        return
    whole = ckpt.weights_of(ckpt.load_checkpoint(folder).model)
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(sharded_like(tensor, whole[name]))


def read_state(folder: Path, optimisers: Sequence[torch.optim.Optimizer]) -> Tensors:
    """The moments and the random state of a checkpoint; of a sharded model every process reads its own part."""
    if not ckpt.is_sharded(folder):
        try:
            return load_file(folder / ckpt.STATE_TENSORS)
        except (SafetensorError, OSError) as error:
            file = folder / ckpt.STATE_TENSORS
            raise LociError(f"cannot be read: {error}", path=file, remedy=ckpt.DAMAGED) from None
    sizes = {name.removeprefix(STATE): size for name, size in _sizes(folder).items() if name.startswith(STATE)}
    found = empty_state(sizes, optimisers)
    _read(folder, {STATE + name: tensor for name, tensor in found.items()})
    return found


def consolidate(folder: Path) -> None:
    """Make an ordinary checkpoint of a sharded one, in its place. One process does it, with all weights in memory."""
    if not ckpt.is_sharded(folder):
        return
    ckpt.read_config(folder)  # that all files are as they were written
    own = read_manifest(folder, "checkpoint", ckpt.FORMAT, remedy=ckpt.DAMAGED).sha256
    whole = {name: torch.empty(size.shape, dtype=size.dtype) for name, size in _sizes(folder).items()}
    _read(folder, whole)
    parts = {
        prefix: {name.removeprefix(prefix): tensor for name, tensor in whole.items() if name.startswith(prefix)}
        for prefix in (MODEL, STATE)
    }
    with atomic_folder(folder, own=own) as temporary:
        ckpt.save_tensors(parts[MODEL], temporary / ckpt.WEIGHTS)
        ckpt.save_tensors(parts[STATE], temporary / ckpt.STATE_TENSORS)
        for name in (ckpt.CONFIG, ckpt.STATE):
            (temporary / name).write_bytes((folder / name).read_bytes())
        write_manifest(temporary, "checkpoint", ckpt.FORMAT, hashes_of(temporary))


def _sizes(folder: Path) -> dict[str, Tensor]:
    """Name → a tensor of that size without memory."""
    import torch.distributed.checkpoint as dcp

    try:
        found = dcp.HuggingFaceStorageReader(str(folder)).read_metadata().state_dict_metadata
        there = sum(file.stat().st_size for file in folder.glob(f"{ckpt.SHARD}*"))
        sizes = [(one.size, one.properties.dtype) for one in found.values()]  # type: ignore[union-attr]
        said = sum(math.prod(size) * kind.itemsize for size, kind in sizes)
        if said > there:
            raise ValueError(f"they say they hold {said:,} bytes and are {there:,} long")
    except (SafetensorError, RuntimeError, LookupError, ValueError, TypeError, AttributeError) as error:
        raise _unreadable(folder, error) from None
    return {
        name: torch.empty(entry.size, dtype=entry.properties.dtype, device="meta")  # type: ignore[union-attr]
        for name, entry in found.items()
    }


def _read(folder: Path, targets: dict[str, Tensor]) -> None:
    """Fill tensors, sharded or not, from the shards of a checkpoint."""
    import torch.distributed.checkpoint as dcp

    try:
        with warnings.catch_warnings(action="ignore"):  # that one process alone reads
            alone = not any(hasattr(tensor, "to_local") for tensor in targets.values())
            dcp.load(targets, storage_reader=dcp.HuggingFaceStorageReader(str(folder)), no_dist=alone)
    except (dcp.CheckpointException, SafetensorError, RuntimeError, KeyError, ValueError) as error:
        raise _unreadable(folder, error) from None


def _unreadable(folder: Path, error: BaseException) -> LociError:
    what = (str(error).strip().splitlines() or [type(error).__name__])[-1][:120]
    return LociError(f"the shards cannot be read: {what}", path=folder, remedy=ckpt.DAMAGED)
