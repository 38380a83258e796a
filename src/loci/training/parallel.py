"""How the gradients of several processes become one: PyTorch's own wrappers, around the loss.

`ddp` (DistributedDataParallel) keeps the whole model in every process and sends gradients in buckets while the backward
pass still runs; `fsdp` (fully_shard) keeps a part of weights, gradients and moments in each, for models that do not
fit. A part's loss is weighted by its share of the step's targets (`loci.training.step`), so the sum of all
gradients is the gradient of the whole batch. Alone, nothing is wrapped. Knows nothing of batches or checkpoints.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Literal

import torch
import torch.distributed as dist
from torch import Tensor, nn

from loci.errors import LociError
from loci.machine import memory_gb
from loci.model import GPT
from loci.model.block import Block
from loci.training.distributed import Group, peers_wanted, processes_here
from loci.training.loss import Loss, next_character_loss
from loci.training.plan import Stage

ParallelName = Literal["auto", "ddp", "fsdp"]
BYTES_A_PARAMETER = 16
"""Weight, gradient and the optimiser's two moments, in fp32."""
ROOM = 0.5
"""The share of the memory that these may take before `auto` shards them; the rest is for the backward pass."""


class _LossModule(nn.Module):
    """The loss as a module, which is what the wrappers wrap."""

    def __init__(self, model: GPT):
        super().__init__()
        self.model = model
        self.stage: Stage | None = None

    def forward(self, x: Tensor, y: Tensor, copied_from: Tensor | None = None) -> Loss:
        return next_character_loss(self.model, x, y, self.stage, copied_from)


class Engine:
    """Computes losses whose gradients add up over the group."""

    def __init__(self, group: Group = Group()):
        self.group = group
        self.module: _LossModule | None = None
        self.ddp: nn.parallel.DistributedDataParallel | None = None

    @property
    def sharded(self) -> bool:
        """Whether every process holds only a part of the model."""
        return self.module is not None and self.ddp is None

    def wrap(self, model: GPT, device: torch.device, how: ParallelName = "auto") -> GPT:
        """Put the model on its device and make it ready for training in this group; the model is changed in place."""
        if self.group.world == 1:
            return model.to(device)
        self.module = _LossModule(model)
        if resolved(how, model.n_parameters(), device) == "fsdp":
            _shard(self.module, device)
            return model
        model.to(device)
        self.ddp = nn.parallel.DistributedDataParallel(
            self.module,
            device_ids=None if device.type == "cpu" else [device],
            gradient_as_bucket_view=True,
        )
        return model

    @property
    def divisor(self) -> int:
        """What gradients are divided by on their way: the wrappers give the mean over the processes."""
        return 1 if self.module is None else self.group.world

    def loss(self, model: GPT, x: Tensor, y: Tensor, stage: Stage | None, copied_from: Tensor | None = None) -> Loss:
        """The loss of one part of a step."""
        if self.module is None:
            return next_character_loss(model, x, y, stage, copied_from)
        self.module.stage = stage
        with peers_wanted():
            found: Loss = (self.ddp or self.module)(x, y, copied_from)
        return found

    @contextlib.contextmanager
    def part(self, *, last: bool) -> Iterator[None]:
        """Around a forward and a backward pass: gradients are only sent with the last part of a step."""
        if self.module is None:
            yield
        elif self.ddp is not None:
            with peers_wanted(), contextlib.nullcontext() if last else self.ddp.no_sync():
                yield
        else:
            module: Any = self.module
            module.set_requires_gradient_sync(last)
            with peers_wanted():
                yield

    def whole(self, model: GPT, *, everywhere: bool = False) -> GPT:
        """The model with all its weights, in the first process (others may get an unfinished one) or `everywhere`.

        Every process has to call this: weights are gathered one after the other.
        """
        if not self.sharded:
            return model
        copy = GPT(model.config)
        kept = dict(copy.state_dict())
        with torch.no_grad():
            for name, tensor in model.state_dict().items():
                full = gathered(tensor)
                if everywhere or self.group.first:
                    kept[name].copy_(full)
        return copy.eval()


def resolved(how: ParallelName, parameters: int, device: torch.device) -> Literal["ddp", "fsdp"]:
    """What `auto` means for a model of that size: ddp where it fits into the memory of a process."""
    if how != "auto":
        return how
    return "ddp" if BYTES_A_PARAMETER * parameters <= ROOM * memory_of(device) else "fsdp"


def memory_of(device: torch.device) -> float:
    """Bytes that one process may use."""
    if device.type == "cuda":
        return float(torch.cuda.get_device_properties(device).total_memory)
    return memory_gb()[0] * 1e9 / processes_here()


def require_memory(parameters: int, how: ParallelName, group: Group, device: torch.device, kept: int = 0) -> None:
    """Refuse a training whose weights, gradients and moments, and what a step keeps beside them, cannot fit."""
    wanted, there = BYTES_A_PARAMETER * parameters / 1e9, memory_of(device) / 1e9
    if group.world > 1 and resolved(how, parameters, device) == "fsdp":
        wanted /= group.world
    if wanted + kept / 1e9 > there > wanted:
        raise LociError(
            f"a step of this training takes at least {wanted + kept / 1e9:,.0f} GB, and the machine has {there:.0f}",
            remedy="choose a smaller batch: --set STAGE.batch_size=…, or work through it in parts: STAGE.accumulate=…",
        )
    if wanted > there > 0:
        each = " a process" if group.world > 1 else ""
        more = "" if group.world > 1 and how != "ddp" else ", or shard it: torchrun … -m loci train --parallel fsdp"
        raise LociError(
            f"training this model takes at least {wanted:,.0f} GB{each}, and the machine has {there:.0f}{each}",
            remedy=f"choose a smaller one: --set model.n_embd=…{more}",
        )


def _shard(module: _LossModule, device: torch.device) -> None:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(device.type, (dist.get_world_size(),))
    for part in (*(one for one in module.modules() if isinstance(one, Block)), module):
        fully_shard(part, mesh=mesh)


# Tensors of which every process holds a part (DTensor); recognised by what they can do, since importing the class
# takes half a second.


def local(tensor: Tensor) -> Tensor:
    """This process's part of a sharded tensor; any other tensor itself."""
    found: Tensor = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    return found


def gathered(tensor: Tensor) -> Tensor:
    """All of a sharded tensor, on every process; any other tensor itself."""
    found: Tensor = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
    return found


def sharded_like(like: Tensor, whole: Tensor) -> Tensor:
    """A whole tensor, which every process has, sharded as another one is; one that is sharded already stays."""
    if not hasattr(like, "to_local") or hasattr(whole, "to_local"):
        return whole
    from torch.distributed.tensor import DTensor, Replicate

    there: Any = like
    whole = whole.to(there.to_local().device)
    spread: Tensor = DTensor.from_local(whole, there.device_mesh, [Replicate()], run_check=False).redistribute(
        placements=there.placements
    )
    return spread
