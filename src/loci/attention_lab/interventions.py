"""What an answer becomes when heads are switched off, or when a name or a head is patched in from another question.

Knows nothing of pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from loci.answering.answer import Answer
from loci.attention_lab.looking import asked, question_start
from loci.errors import LociError
from loci.model import GPT
from loci.model.activations import run_with_activations
from loci.model.tap import Patch
from loci.text.vocab import MASK_ID, Vocab

LONGEST = 40
"""Characters an answer may have."""


@dataclass(frozen=True)
class Intervention:
    """An answer before and after."""

    before: tuple[str, float]
    """The untouched answer and its probability."""
    after: tuple[str, float]
    """What the changed model writes, greedily, and its probability."""
    before_now: float
    """What is left of the untouched answer's probability."""


def intervene(
    model: GPT,
    vocab: Vocab,
    answer: Answer,
    *,
    ablate: Iterable[tuple[int, int]] = (),
    patch_from: Answer | None = None,
    patch_heads: Sequence[tuple[int, int]] = (),
) -> Intervention:
    """The answer with heads ablated, or with something taken from another question.

    That is the residual stream at the end of the subject, or, with `patch_heads`, only what these heads make of the
    question where the answer begins. A model that recites is changed while it reads what it has recited.
    """
    prompt, end = _prompt(vocab, answer)
    patch = {} if patch_from is None else _patches(model, vocab, prompt, end, patch_from, patch_heads)
    off = list(ablate)

    def probability(text: str, patches: dict[str, Patch], heads: list[tuple[int, int]]) -> float:
        target = torch.from_numpy(np.append(vocab.encode(text), MASK_ID))
        ids = torch.cat([prompt, target])
        logits, _ = run_with_activations(model, ids[None, :-1], [], patch=patches, ablate=heads)
        logs = logits[0, len(prompt) - 1 :].log_softmax(-1).gather(1, target[:, None])
        return min(1.0, float(logs.sum().exp()))

    ids = prompt
    for _ in range(LONGEST):
        logits, _ = run_with_activations(model, ids[None], [], patch=patch, ablate=off)
        chosen = logits[0, -1].argmax()
        if int(chosen) == MASK_ID or (model.limit is not None and len(ids) + 1 > model.limit):
            break
        ids = torch.cat([ids, chosen[None]])
    written = vocab.decode(ids[len(prompt) :].tolist())
    return Intervention(
        (answer.text, probability(answer.text, {}, [])),
        (written, probability(written, patch, off)),
        probability(answer.text, patch, off),
    )


def _prompt(vocab: Vocab, answer: Answer) -> tuple[Tensor, int]:
    """What the model reads before it answers, and where the subject ends in it."""
    if answer.note is not None or answer.subject is None or answer.subject not in answer.question:
        raise LociError(answer.note or "no name was found in the question", remedy="write the name as it is known")
    start = question_start(vocab, answer.recited) + answer.question.index(answer.subject)
    end = start + len(answer.subject) - 1
    return torch.from_numpy(asked(vocab, answer.question, answer.recited)).long(), end


def _patches(
    model: GPT, vocab: Vocab, prompt: Tensor, end: int, other: Answer, heads: Sequence[tuple[int, int]]
) -> dict[str, Patch]:
    """At every layer, the other question's residual stream at the end of its subject.

    With `heads`, only what these add where the other question's answer begins.
    """
    if model.config.trunk != "plain":
        raise LociError("only a plain trunk has a state per character to patch", remedy="ablate heads instead")
    if any(block >= model.config.n_layer or head >= model.config.n_head for block, head in heads):
        raise LociError(f"there are {model.config.n_layer} layers of {model.config.n_head} heads")
    ids, there = _prompt(vocab, other)
    # Which activation, what is replaced in it, and by what of the other question's.
    taken: list[tuple[str, tuple[slice | int, ...], tuple[int, ...]]] = [
        (f"blocks.{block}.attn.head_out", (slice(None), head, len(prompt) - 1), (0, head, -1)) for block, head in heads
    ] or [(f"blocks.{block}.resid_post", (slice(None), end), (0, there)) for block in range(model.config.n_layer)]
    names = sorted({name for name, _, _ in taken})
    _, kept = run_with_activations(model, ids[None], names)

    def taking(name: str) -> Patch:
        def change(own: Tensor) -> Tensor:
            new = own.clone()
            for at, here, source in taken:
                if at == name:
                    new[here] = kept[name][source]
            return new

        return change

    return {name: taking(name) for name in names}
