"""What happens inside a model, by name: read it, patch it, ablate heads.

    logits, inside = run_with_activations(model, ids)
    inside["blocks.0.attn.pattern"]                                  # (B, H, T, T)

    clean = inside["blocks.2.resid_post"]                            # patch: continue with another value
    logits, _ = run_with_activations(model, other, [], patch={"blocks.2.resid_post": clean})
    logits, _ = run_with_activations(model, ids, [], ablate=[(0, 3)])   # head 3 of block 0 contributes nothing

Every point of the three axes has the same names. Shapes, with B batch, T characters, C channels, H heads, D = C / H:

    embed                     (B, T, C)     characters with their positions: what the first block reads
    blocks.i.resid_pre        (B, t, C)     the residual stream before block i
    blocks.i.attn.pattern     (B, H, t, s)  attention weights; each row sums to 1
    blocks.i.attn.head_out    (B, H, t, D)  each head's weighted sum of values, before the output projection
    blocks.i.attn.out         (B, t, C)     what attention adds to the residual stream
    blocks.i.resid_mid        (B, t, C)     the residual stream between attention and MLP
    blocks.i.mlp.out          (B, t, C)     what the MLP adds
    blocks.i.resid_post       (B, t, C)     the residual stream after block i
    final.resid               (B, T, C)     what the final norm reads
    final.norm                (B, T, C)     what the output head reads

In a plain trunk t = s = T. In a perceiver the first block reads the characters into n latents (t = n, s = T), the
blocks between work on latents (t = s = n), and the last one reads the latents back into the characters (t = T, s = n
latents, then T characters in the causal perceiver). Knows nothing of text or of what the activations mean.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

import torch
from jaxtyping import Float, Int
from torch import Tensor

from loci.errors import LociError
from loci.model.cache import Cache
from loci.model.gpt import GPT
from loci.model.tap import Patch, Tap, Trace
from loci.registry import did_you_mean

IN_A_BLOCK = ("resid_pre", "attn.pattern", "attn.head_out", "attn.out", "resid_mid", "mlp.out", "resid_post")


def activation_names(model: GPT) -> list[str]:
    """Every name, in the order of the forward pass (a perceiver's last block begins when its latents are done)."""
    blocks = [f"blocks.{i}.{name}" for i in range(model.config.n_layer) for name in IN_A_BLOCK]
    return ["embed", *blocks, "final.resid", "final.norm"]


def run_with_activations(
    model: GPT,
    ids: Int[Tensor, "B T"],
    names: Sequence[str] | None = None,
    *,
    patch: Mapping[str, Patch] | None = None,
    ablate: Iterable[tuple[int, int]] = (),
    gradients: bool = False,
) -> tuple[Float[Tensor, "B T V"], dict[str, Tensor]]:
    """Logits, and the activations by name, as in evaluation (no dropout).

    Args:
        model: Any GPT; it is left as it was.
        ids: The texts as ids.
        names: Which activations to return, as names or patterns such as `blocks.*.attn.pattern`; None is all.
        patch: By name, what to continue with in place of the model's own value: a tensor that broadcasts to its shape,
            or a function from the value to the new one. What is returned under the name is the new one.
        ablate: (block, head) pairs whose `head_out` is set to zero, after any patch.
        gradients: Keep the graph, so that activations can be differentiated.
    """
    known = activation_names(model)
    for name in names or ():
        if not any(fnmatchcase(own, name) for own in known):
            raise LociError(f"no activation {name!r}", remedy=did_you_mean(name, known))
    tap = Tap(["*"] if names is None else names, _patches(model, patch, ablate))
    was_training = model.training
    model.eval()
    try:
        with torch.set_grad_enabled(gradients):
            logits = model(ids, tap=tap).logits
    finally:
        model.train(was_training)
    return logits, tap.kept


def patched(model: GPT, *, patch: Mapping[str, Patch] | None = None, ablate: Iterable[tuple[int, int]] = ()) -> GPT:
    """A model on the same weights that applies the patches in every forward pass, also when it generates or answers.

    A patch has to fit every length and batch: a function, or a tensor that broadcasts.
    """
    patches = _patches(model, patch, ablate)

    def hidden(
        ids: Tensor, *, cache: Cache | None = None, trace: bool = False, tap: Tap | None = None
    ) -> tuple[Tensor, Trace | None]:
        asked = tap or Tap(["*.attn.pattern"] if trace else ())
        asked.patch = {**patches, **asked.patch}
        found, _ = model.hidden(ids, cache=cache, tap=asked)
        return found, tuple(asked.kept.values()) if trace else None

    changed = copy.copy(model)
    object.__setattr__(changed, "hidden", hidden)
    return changed


def _patches(model: GPT, patch: Mapping[str, Patch] | None, ablate: Iterable[tuple[int, int]]) -> dict[str, Patch]:
    """The patches by name, ablated heads among them; unknown names and heads are a `LociError`."""
    known = activation_names(model)
    patches = dict(patch or {})
    if wrong := [name for name in patches if name not in known]:
        raise LociError(f"no activation {wrong[0]!r}", remedy=did_you_mean(wrong[0], known))
    for block, head in ablate:
        if not (0 <= block < model.config.n_layer and 0 <= head < model.config.n_head):
            raise LociError(
                f"no head ({block}, {head}) to ablate",
                remedy=f"blocks are 0 to {model.config.n_layer - 1}, heads 0 to {model.config.n_head - 1}",
            )
        name = f"blocks.{block}.attn.head_out"
        patches[name] = _without(head, patches.get(name))
    return patches


def _without(head: int, before: Patch | None) -> Patch:
    """A patch that applies `before` and then sets one head to zero."""

    def change(value: Tensor) -> Tensor:
        new = before if isinstance(before, Tensor) else value if before is None else before(value)
        new = new.to(value).expand_as(value).clone()
        new[:, head] = 0
        return new

    return change
