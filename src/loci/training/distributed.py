"""Several processes that train one model, started by torchrun: gloo between CPUs, nccl between GPUs.

Every process holds the whole model, draws each batch and keeps its own rows of it. A part's loss is weighted by its
share of the targets, so that the sum of all gradients is the gradient of one process with the whole batch. The
first process writes; its clock and the first wish to stop are everybody's. Alone, all of this does nothing. Knows
nothing of the loop.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import TracebackType

import torch
import torch.distributed as dist
from torch import Tensor, nn

from loci.errors import LociError


class Group:
    """The processes that train together; this one is `rank` of `world`."""

    def __init__(self, rank: int = 0, world: int = 1, *, device: torch.device = torch.device("cpu")):
        self.rank, self.world, self.device = rank, world, device

    @classmethod
    def join(cls, device: torch.device = torch.device("cpu")) -> Group:
        """The group that torchrun's environment names; a group of one when there is none."""
        if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
            return cls()
        if not dist.is_available():
            raise LociError("this PyTorch cannot train in several processes", remedy="start without torchrun")
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        return cls(dist.get_rank(), dist.get_world_size(), device=device)

    def __enter__(self) -> Group:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if dist.is_available() and dist.is_initialized():
            dist.destroy_process_group()

    @property
    def first(self) -> bool:
        """Whether this process is the one that writes."""
        return self.rank == 0

    def wait(self) -> None:
        """Until every process has come this far."""
        if self.world > 1:
            dist.barrier()

    def same_start(self, model: nn.Module) -> None:
        """Give every process the first one's weights."""
        if self.world > 1:
            for tensor in model.state_dict().values():
                dist.broadcast(tensor, src=0)

    def sum_gradients(self, parameters: Sequence[nn.Parameter], figures: Tensor) -> Tensor:
        """Add up all processes' gradients, in one message; returns the sum of their `figures`, which travel along."""
        if self.world == 1:
            return figures
        for parameter in parameters:
            if parameter.grad is None:  # a process without a row of a short last batch
                parameter.grad = torch.zeros_like(parameter)
        grads = [parameter.grad for parameter in parameters if parameter.grad is not None]
        flat = torch.cat([*(grad.flatten() for grad in grads), figures.to(grads[0].dtype)])
        _sum(flat)
        pieces = torch.split(flat, [*(grad.numel() for grad in grads), figures.numel()])
        for grad, summed in zip(grads, pieces[:-1], strict=True):
            grad.copy_(summed.view_as(grad))
        return pieces[-1]

    def first_clock(self, seconds: float) -> float:
        """The first process's `seconds`: budgets in minutes must end for all at the same step."""
        return self._told(seconds if self.first else 0.0)

    def anyone(self, wish: bool) -> bool:
        """Whether any process wants it."""
        return self._told(float(wish)) > 0

    def _told(self, figure: float) -> float:
        """The sum over all processes, the same to the last bit in each."""
        if self.world == 1:
            return figure
        # MPS and CUDA differ in what they know of doubles; single precision is enough for the length of one step.
        told = torch.tensor(figure, dtype=torch.float32, device=self.device)
        _sum(told)
        return float(told)


def _sum(tensor: Tensor) -> None:
    try:
        dist.all_reduce(tensor)
    except RuntimeError as error:
        raise LociError(
            f"another process of the group is gone ({str(error).splitlines()[0][:80]})",
            remedy="torchrun --max-restarts N starts all of them again, from the last checkpoint",
        ) from None


def local_rank() -> int:
    """This process's number on its machine."""
    return int(os.environ.get("LOCAL_RANK", 0))


def restarted() -> bool:
    """Whether torchrun has started this process again after one of the group died."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0)) > 0
