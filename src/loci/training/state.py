"""Optimiser moments and random state as flat named tensors, and back: what a resume needs next to the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

RANDOM, CUDA_RANDOM = "random.cpu", "random.cuda"
CPU = torch.device("cpu")


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


def unpack(
    tensors: Mapping[str, torch.Tensor], optimisers: Sequence[torch.optim.Optimizer], device: torch.device = CPU
) -> None:
    """Put the moments back into freshly made optimisers and the generators back where they were."""
    states: list[dict[int, dict[str, torch.Tensor]]] = [{} for _ in optimisers]
    for key, tensor in tensors.items():
        if key not in (RANDOM, CUDA_RANDOM):
            which, index, name = key.split(".")
            states[int(which)].setdefault(int(index), {})[name] = tensor
    for optimiser, state in zip(optimisers, states, strict=True):
        whole = optimiser.state_dict()
        whole["state"] = state
        optimiser.load_state_dict(whole)
    torch.set_rng_state(tensors[RANDOM])
    if device.type == "cuda" and CUDA_RANDOM in tensors:
        torch.cuda.set_rng_state(tensors[CUDA_RANDOM], device)
