"""The course's model and training loop in the plainest words, written from its formulas and from what its code does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import torch
import torch.nn.functional as F

from loci.data.example import IGNORED, Batch


def reference_logits(state: dict[str, torch.Tensor], ids: torch.Tensor, n_head: int) -> torch.Tensor:
    """The course's forward pass, written from its formulas: separate queries, keys and values, an explicit softmax."""

    def linear(x: torch.Tensor, name: str) -> torch.Tensor:
        return x @ state[f"{name}.weight"].T + state[f"{name}.bias"]

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        centred = x - x.mean(-1, keepdim=True)
        spread = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        return centred / spread * state[f"{name}.weight"] + state[f"{name}.bias"]

    def heads(x: torch.Tensor) -> torch.Tensor:
        return torch.stack(x.chunk(n_head, dim=-1), dim=1)

    def turn(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * torch.view_as_complex(table[: x.shape[2]].contiguous())).flatten(-2)

    def scores(x: torch.Tensor, name: str) -> torch.Tensor:
        width = x.shape[1]
        if f"{name}.w2" in state:
            hidden = heads(torch.relu(linear(x, f"{name}.w1")))
            return (hidden @ state[f"{name}.w2"] + state[f"{name}.b2"])[..., :width]
        q, k = heads(linear(x, f"{name}.query")), heads(linear(x, f"{name}.key"))
        if f"{name}.rope_cache" in state:
            q, k = turn(q, state[f"{name}.rope_cache"]), turn(k, state[f"{name}.rope_cache"])
        return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])

    def attend(x: torch.Tensor, name: str) -> torch.Tensor:
        width = x.shape[1]
        allowed = state[f"{name}.mask"][:, :, :width, :width] == 1
        weights = scores(x, name).masked_fill(~allowed, -1e10).exp()
        weights = weights / weights.sum(-1, keepdim=True)
        mixed = weights @ heads(linear(x, f"{name}.value"))
        return linear(torch.cat(mixed.unbind(dim=1), dim=-1), f"{name}.proj")

    x = state["tok_emb.weight"][ids]
    if "pos_emb" in state:
        x = x + state["pos_emb"][:, : ids.shape[1]]
    layer = 0
    while (block := f"blocks.{layer}") and f"{block}.ln1.weight" in state:
        x = x + attend(norm(x, f"{block}.ln1"), f"{block}.attn")
        inner = linear(norm(x, f"{block}.ln2"), f"{block}.mlp.0")
        x = x + linear(0.5 * inner * (1 + torch.erf(inner / math.sqrt(2))), f"{block}.mlp.2")
        layer += 1
    return norm(x, "ln_f") @ state["head.weight"].T


def reference_training(
    state: Mapping[str, torch.Tensor], batches: Iterable[Batch], *, n_head: int, lr: float, final_tokens: int
) -> tuple[list[float], dict[str, torch.Tensor]]:
    """The course's loop on the course's tensors: losses, and the tensors afterwards.

    Everything whose name has no "bias" in it decays. The rate is worked out after the step, from every position of the
    batch, and used by the next one.
    """
    weights = {name: tensor.clone() for name, tensor in state.items() if "mask" not in name and "rope" not in name}
    for tensor in weights.values():
        tensor.requires_grad_()
    groups = [
        {"params": [tensor for name, tensor in weights.items() if "bias" not in name], "weight_decay": 0.1},
        {"params": [tensor for name, tensor in weights.items() if "bias" in name], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95), fused=False, foreach=False)
    tokens, losses = 0, []
    for batch in batches:
        x, y = torch.from_numpy(batch.x), torch.from_numpy(batch.y)
        logits = reference_logits({**state, **weights}, x, n_head)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten(), ignore_index=IGNORED)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimiser.step()
        losses.append(loss.item())
        tokens += len(x) * 127
        if tokens < 512 * 20:
            rate = tokens / (512 * 20)
        else:
            rate = max(0.1, 0.5 * (1 + math.cos(math.pi * (tokens - 512 * 20) / (final_tokens - 512 * 20))))
        for group in optimiser.param_groups:
            group["lr"] = lr * rate
    return losses, {name: tensor.detach() for name, tensor in weights.items()}
