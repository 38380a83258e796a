"""Optimiser moments and random state as flat named tensors, and back: what a resume needs next to the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from loci.errors import LociError
from loci.training.checkpoint import DAMAGED
from loci.training.parallel import sharded_like

RANDOM, CUDA_RANDOM = "random.cpu", "random.cuda"
CPU = torch.device("cpu")
MOMENTS = {"AdamW": {"step", "exp_avg", "exp_avg_sq"}, "Muon": {"momentum"}}
"""What each optimiser keeps of a parameter."""


def pack(optimisers: Sequence[torch.optim.Optimizer], device: torch.device = CPU) -> dict[str, torch.Tensor]:
    """`optimiser.parameter.name` → tensor, and the state of the generators that dropout draws from."""
    tensors = {RANDOM: torch.get_rng_state()}
    if device.type == "cuda":
        tensors[CUDA_RANDOM] = torch.cuda.get_rng_state(device)
    for which, optimiser in enumerate(optimisers):
        for index, entries in optimiser.state_dict()["state"].items():
            for name, value in entries.items():
                tensors[f"{which}.{index}.{name}"] = torch.as_tensor(value).contiguous()
    return tensors


def empty_state(
    sizes: Mapping[str, torch.Tensor], optimisers: Sequence[torch.optim.Optimizer]
) -> dict[str, torch.Tensor]:
    """Tensors to read a packed state of these sizes into; moments are sharded as their parameters are."""
    parameters = {
        f"{which}.{index}": parameter
        for which, optimiser in enumerate(optimisers)
        for index, parameter in enumerate(one for group in optimiser.param_groups for one in group["params"])
    }
    empty = {}
    for name, size in sizes.items():
        parameter = parameters.get(name.rpartition(".")[0])
        if parameter is not None and parameter.shape == size.shape:
            empty[name] = torch.zeros_like(parameter)
        else:
            empty[name] = torch.empty(size.shape, dtype=size.dtype)
    return empty


def unpack(
    tensors: Mapping[str, torch.Tensor], optimisers: Sequence[torch.optim.Optimizer], device: torch.device = CPU
) -> None:
    """Put the moments back into freshly made optimisers and the generators back where they were."""
    states: list[dict[int, dict[str, torch.Tensor]]] = [{} for _ in optimisers]
    every = [[one for group in optimiser.param_groups for one in group["params"]] for optimiser in optimisers]
    try:
        for key, tensor in tensors.items():
            if key not in (RANDOM, CUDA_RANDOM):
                which, index, name = key.split(".")
                if tensor.shape not in ((), every[int(which)][int(index)].shape) or not tensor.is_floating_point():
                    raise ValueError(f"{key} has another shape or type")
                states[int(which)].setdefault(int(index), {})[name] = tensor
        for optimiser, state in zip(optimisers, states, strict=True):
            wanted = MOMENTS.get(type(optimiser).__name__)
            if wanted is not None and any(entries.keys() != wanted for entries in state.values()):
                raise ValueError(f"the moments of {type(optimiser).__name__} are others")
        torch.set_rng_state(tensors[RANDOM])
    except (KeyError, ValueError, IndexError, TypeError, RuntimeError) as error:
        raise LociError(f"the optimiser's state does not fit this training: {error}", remedy=DAMAGED) from None
    for optimiser, state, parameters in zip(optimisers, states, every, strict=True):
        whole = optimiser.state_dict()
        whole["state"] = {
            index: {
                name: sharded_like(parameters[index], tensor) if tensor.shape == parameters[index].shape else tensor
                for name, tensor in entries.items()
            }
            for index, entries in state.items()
        }
        optimiser.load_state_dict(whole)
    if device.type == "cuda" and CUDA_RANDOM in tensors:
        torch.cuda.set_rng_state(tensors[CUDA_RANDOM], device)
