"""Several processes that work together, started by torchrun: gloo between CPUs, nccl between GPUs.

What they tell each other in small messages: sums of figures, texts, and when all have come this far. The first process
writes; its clock is everybody's. Alone, all of this does nothing. Knows nothing of models or of the loop; gradients are
summed in `loci.training.parallel`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, TypeVar

import torch
import torch.distributed as dist

from loci.errors import LociError

T = TypeVar("T")


class Group:
    """The processes that work together; this one is `rank` of `world`."""

    def __init__(self, rank: int = 0, world: int = 1, *, device: torch.device = torch.device("cpu")):
        self.rank, self.world, self.device = rank, world, device

    @classmethod
    def join(cls, device: torch.device = torch.device("cpu")) -> Group:
        """The group that torchrun's environment names; a group of one when there is none."""
        if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
            return cls()
        if not dist.is_available():
            raise LociError("this PyTorch cannot train in several processes", remedy="start without torchrun")
        if device.type == "cuda":
            torch.cuda.set_device(device)
        with peers_wanted():
            dist.init_process_group("nccl" if device.type == "cuda" else "gloo", **_fresh_store())
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
            with peers_wanted():
                dist.barrier()

    def total(self, figures: Sequence[float]) -> list[float]:
        """The sums of every process's figures, the same to the last bit in each."""
        if self.world == 1:
            return list(figures)
        told = torch.tensor(figures, dtype=torch.float64, device=self.device)
        with peers_wanted():
            dist.all_reduce(told)
        return told.tolist()

    def anyone(self, wish: bool) -> bool:
        """Whether any process wants it."""
        return self.total([wish])[0] > 0

    def from_first(self, value: T) -> T:
        """What the first process gives: plain data."""
        if self.world == 1:
            return value
        told: list[Any] = [value]
        with peers_wanted():
            dist.broadcast_object_list(told, src=0)
        found: T = told[0]
        return found

    def gathered(self, value: T) -> list[T]:
        """What every process gives, in the order of their ranks: plain data."""
        if self.world == 1:
            return [value]
        told: list[Any] = [None] * self.world
        with peers_wanted():
            dist.all_gather_object(told, value)
        return told


@contextlib.contextmanager
def peers_wanted() -> Iterator[None]:
    """A message that cannot be sent, because another process has died, is an error of one line."""
    try:
        yield
    except RuntimeError as error:
        text = str(error)
        if not any(word in text for word in ("onnect", "closed by peer", "imed out", "NCCL")):
            raise
        raise LociError(
            f"another process of the group is gone ({text.splitlines()[0][:80]})",
            remedy="torchrun --max-restarts N starts all of them again, from the last checkpoint",
        ) from None


def local_rank() -> int:
    """This process's number on its machine."""
    return int(os.environ.get("LOCAL_RANK", 0))


def processes_here() -> int:
    """How many processes of the group share this machine."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", 1))


def by_torchrun() -> bool:
    """Whether torchrun has started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def restarts() -> int:
    """How often torchrun has started this process again after one of the group died."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0))


def _fresh_store() -> dict[str, Any]:
    """Where the processes of a machine meet: keys of this attempt alone.

    torchrun keeps one store for all its attempts (PyTorch 2.13), where a group would find the addresses of processes
    that died. On several machines the attempts are counted apart, so there torchrun itself has to be told
    (TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1, docs/scaling.md).
    """
    shared = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    if not shared or os.environ.get("GROUP_WORLD_SIZE") != "1":
        return {}
    from torch.distributed.rendezvous import rendezvous

    store, rank, world = next(rendezvous("env://"))
    return {"store": dist.PrefixStore(f"attempt-{restarts()}", store), "rank": rank, "world_size": world}
