"""Where a model is trained and in which precision: CUDA, MPS or CPU; bf16 only where the hardware has it.

Knows nothing of models or of other processes.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from loci.data.example import Batch
from loci.errors import LociError

DeviceName = Literal["auto", "cpu", "cuda", "mps"]
PrecisionName = Literal["auto", "fp32", "bf16"]
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Placement:
    """A device, and whether matrix products there run in bf16."""

    device: torch.device = CPU
    bf16: bool = False

    def tensors(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor | None]:
        """Inputs, targets and where the targets were copied from, on the device."""
        copied = None if batch.copied_from is None else self._tensor(batch.copied_from)
        return self._tensor(batch.x), self._tensor(batch.y), copied

    def _tensor(self, array: NDArray[np.int64]) -> Tensor:
        tensor = torch.from_numpy(array)
        if self.device.type == "cpu":
            return tensor
        if self.device.type == "cuda":
            tensor = tensor.pin_memory()  # only so is the copy made while the device still computes
        return tensor.to(self.device, non_blocking=True)

    def autocast(self) -> contextlib.AbstractContextManager[object]:
        """The context of a forward pass."""
        if not self.bf16:
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, dtype=torch.bfloat16)

    def __str__(self) -> str:
        return f"{self.device}, {'bf16' if self.bf16 else 'fp32'}"


def choose(device: DeviceName = "auto", precision: PrecisionName = "auto", *, local_rank: int = 0) -> Placement:
    """The best there is, or what was asked for; what the hardware lacks is said.

    `auto` takes bf16 on CUDA where it is built in. A CPU stays in fp32 unless asked, so that one seed means one result.
    """
    kind = _best() if device == "auto" else device
    if kind == "cuda" and not torch.cuda.is_available():
        raise LociError("there is no CUDA device", remedy="--device cpu, or a PyTorch built for CUDA; see loci doctor")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise LociError("there is no MPS device", remedy="--device cpu")
    where = torch.device(kind, local_rank % torch.cuda.device_count()) if kind == "cuda" else torch.device(kind)
    if precision == "bf16" and not has_bf16(kind):
        raise LociError(
            f"{kind} has no bf16 in hardware, where emulating it is many times slower", remedy="--precision fp32"
        )
    return Placement(where, precision == "bf16" or (precision == "auto" and kind == "cuda" and has_bf16(kind)))


def plan(placement: Placement) -> str:
    """What training will use on this machine, in words: for `loci doctor`."""
    several = "nccl between processes" if placement.device.type == "cuda" else "gloo between processes"
    if placement.device.type == "mps":
        several = "one process only"
    n = torch.cuda.device_count() if placement.device.type == "cuda" else 1
    launch = f"; torchrun --nproc_per_node {n} uses all {n} GPUs" if n > 1 else ""
    pinned = ", pinned memory" if placement.device.type == "cuda" else ""
    return f"{placement}{pinned}; {several}{launch}"


def _best() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def has_bf16(kind: str) -> bool:
    """Whether bf16 products are built into the hardware."""
    if kind == "cuda":
        return torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)
    if kind == "cpu":
        checks = (getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"))
        return any(check is not None and bool(check()) for check in checks)
    return False
