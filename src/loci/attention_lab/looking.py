"""Everything that can be seen of one answer: attention and its rollout, the logit lens, causal tracing.

*Rollout*: which characters reach a position through all layers, if attention were all there is.

*Logit lens*: what each layer would answer if it were the last: its state goes through the final norm and the head.

*Causal tracing*: corrupt the name, restore some states, and see how much of the answer returns. The embeddings of the
name's characters get noise, several times over. Then the clean state of one layer is put into the corrupted run, at one
character or at several. Where that brings the answer back, those states carried what the answer needs. What is measured
is the log-probability of the answer's first character: a character-level model spreads a name over many positions, so a
single state seldom brings back the probability of a whole answer, while the log-probability shows each share.

Knows nothing of pages.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from loci.answering.answer import Answer
from loci.data.prompts import question_prompt, reading_prompt
from loci.errors import LociError
from loci.generation.context import reading
from loci.model import GPT
from loci.model.activations import run_with_activations
from loci.model.trunk import Trace
from loci.text.vocab import MASK_ID, Vocab


def rollout(trace: Trace, residual: float = 0.5) -> Float[Tensor, "L B T T"]:
    """Each character's share in each position, layer by layer: R_l = ((1−r)·mean over heads of α_l + r·I) R_{l−1}.

    A block adds what attention fetched to what was there; r is the share that stays. Each factor has rows that sum to
    1, so their product has too: a position's row is a distribution over the characters it is made of. Values,
    projections and perceptrons are left out, so this is a bound on where information *can* have come from in
    proportion to weights, not a measure of what was used.
    """
    if not 0 <= residual <= 1:
        raise LociError(f"the share that stays is between 0 and 1, it is {residual}")
    if not trace or any(weights.shape[-1] != weights.shape[-2] for weights in trace):
        raise LociError("rollout needs attention from characters to characters in every layer")
    same = torch.eye(trace[0].shape[-1], dtype=trace[0].dtype, device=trace[0].device)
    mixed = ((1 - residual) * weights.mean(dim=1) + residual * same for weights in trace)
    return torch.stack(list(itertools.accumulate(mixed, lambda flow, layer: layer @ flow)))


def layer_names(model: GPT) -> list[str]:
    """The activations that are the residual stream at every character: the embedding, then after each block."""
    if model.config.trunk != "plain":
        message = f"the {model.config.trunk} trunk has no state for each layer and character to look at"
        raise LociError(message, remedy="look at a model with a plain trunk")
    return ["embed", *(f"blocks.{block}.resid_post" for block in range(model.config.n_layer))]


@dataclass(frozen=True)
class Lens:
    """For each layer (0 is the embedding) and each character of the answer."""

    probability: Float[Tensor, "L A"]
    """Of the character that was given."""
    rank: Int[Tensor, "L A"]
    """How many characters are likelier: 0 means the layer already says it."""
    best: Int[Tensor, "L A"]
    """What the layer would say."""
    best_probability: Float[Tensor, "L A"]

    @property
    def appears(self) -> list[int | None]:
        """For each character the first layer from which it stays on top to the end; None if it never is."""
        top = (self.rank == 0).long().flip(0).cumprod(0).sum(0).tolist()  # layers at the end in which it is on top
        return [len(self.rank) - layers if layers else None for layers in top]


def logit_lens(model: GPT, prompt: Int[Tensor, "P"], answer: Int[Tensor, "A"]) -> Lens:
    """Each layer's view of each answer character, given the prompt and the answer before it."""
    if not len(prompt) or not len(answer):
        raise LociError("the lens needs a prompt and an answer of at least one character each")
    names = layer_names(model)
    _, inside = run_with_activations(model, torch.cat([prompt, answer[:-1]])[None], names)
    with torch.no_grad():
        states = torch.stack([inside[name][0, len(prompt) - 1 :] for name in names])
        probabilities = model.logits(model.ln_f(states)).double().softmax(-1)
    given = probabilities.gather(-1, answer.expand(len(states), -1)[..., None])
    top = probabilities.max(dim=-1)
    return Lens(given[..., 0], (probabilities > given).sum(-1), top.indices, top.values)


#: Noise in units of the embeddings' own standard deviation.
NOISE = 3.0
ROWS_AT_ONCE = 64


@dataclass(frozen=True)
class CausalTrace:
    """Log-probability of the answer's first character. Layer 0 is the embedding, layer l the state after block l."""

    clean: float
    corrupted: Float[Tensor, "D"]
    """For each draw of noise."""
    restored: Float[Tensor, "L P D"]
    """With the state of layer l put back at prompt character p alone."""
    groups: tuple[str, ...]
    """Names of sets of characters: the whole name, what follows it, the last position."""
    restored_groups: Float[Tensor, "L G D"]
    """With the states of layer l put back at all characters of a group at once."""

    @property
    def lost(self) -> float:
        """What the noise takes away on average, in nats."""
        return self.clean - float(self.corrupted.mean())

    def effect(self, restored: Float[Tensor, "L N D"]) -> Float[Tensor, "L N"]:
        """What was regained, as a share of what was lost: 1 when the answer is back, 0 when nothing is."""
        gained = (restored - self.corrupted).mean(-1)
        return gained / self.lost if abs(self.lost) > 1e-12 else torch.zeros_like(gained)

    def error(self, restored: Float[Tensor, "L N D"]) -> Float[Tensor, "L N"]:
        """Standard error of the effect over the draws of noise: it is a ratio of two means over the same draws."""
        rest = restored - self.corrupted - self.effect(restored)[..., None] * (self.clean - self.corrupted)
        spread: Tensor = rest.std(-1)
        return spread / (math.sqrt(len(self.corrupted)) * max(abs(self.lost), 1e-12))


def causal_trace(
    model: GPT,
    prompt: Int[Tensor, "P"],
    answer: int,
    span: tuple[int, int],
    *,
    generator: torch.Generator,
    noise: float = NOISE,
    draws: int = 8,
) -> CausalTrace:
    """Corrupt the prompt characters of `span`; restore every single state, and groups of states, in turn.

    `answer` is the id of the answer's first character.
    """
    start, stop = span
    if not 0 <= start < stop <= len(prompt):
        message = f"the name must lie in the prompt of {len(prompt)} characters"
        raise LociError(f"{message}, it is given as {start} to {stop}")
    if draws < 1:
        raise LociError(f"draws must be at least 1, they are {draws}")
    if noise <= 0:
        raise LociError(f"noise must be positive, it is {noise}")
    last = len(prompt) - 1
    groups = {"the whole name": span, "after the name": (stop, last), "the last position": (last, last + 1)}
    groups = {name: (first, end) for name, (first, end) in groups.items() if end > first}
    spans = [*((position, position + 1) for position in range(len(prompt))), *groups.values()]

    def run(rows: int, patch: dict[str, Tensor], names: list[str]) -> tuple[Tensor, dict[str, Tensor]]:
        logits, inside = run_with_activations(model, prompt.expand(rows, -1), names, patch=patch)
        return logits[:, -1].double().log_softmax(-1)[:, answer].cpu(), inside

    layers = layer_names(model)
    (clean,), states = run(1, {}, layers)
    noisy = states["embed"].repeat(draws, 1, 1)
    added = torch.randn(draws, stop - start, noisy.shape[-1], generator=generator)
    noisy[:, start:stop] += (noise * float(model.tok_emb.weight.detach().std()) * added).to(noisy)
    corrupted, corrupted_states = run(draws, {"embed": noisy}, layers)
    restored = torch.zeros(len(layers), len(spans), draws, dtype=torch.float64)
    step = max(1, ROWS_AT_ONCE // draws)
    for layer, name in enumerate(layers):
        for first in range(0, len(spans), step):
            chosen = spans[first : first + step]
            rows = corrupted_states[name].repeat(len(chosen), 1, 1, 1)  # (spans, draws, T, C)
            for row, (begin, end) in zip(rows, chosen, strict=True):
                row[:, begin:end] = states[name][0, begin:end]
            values, _ = run(len(chosen) * draws, {name: rows.flatten(0, 1)}, [])
            restored[layer, first : first + len(chosen)] = values.view(-1, draws)
    n = len(prompt)
    return CausalTrace(float(clean), corrupted, restored[:, :n], tuple(groups), restored[:, n:])


@dataclass(frozen=True)
class Look:
    """One question, one answer, and what happened between them."""

    question: str
    answer: str
    given: bool
    """The answer was given by the user rather than by the model."""
    symbols: tuple[str, ...]
    """What the model read: what it recited and the mask, the question, the mask, and the answer but for its end."""
    n_prompt: int
    probability: float
    attention: Float[NDArray[np.float32], "L H T T"]
    rollout: Float[NDArray[np.float32], "L T T"]
    lens: Lens
    """Of the answer's characters and the mask that ends it."""
    subject: tuple[int, int]
    trace: CausalTrace
    vocabulary: tuple[str, ...]
    answer_symbols: tuple[str, ...]
    """The answer's characters and the mask that ends it; a model without a mask has none there."""
    recited: str | None = None
    """What a model that recites had written down before it answered."""


def asked(vocab: Vocab, question: str, recited: str | None) -> NDArray[np.int64]:
    """What a model reads before it answers."""
    return question_prompt(vocab, question) if recited is None else reading_prompt(vocab, question, recited)


def question_start(vocab: Vocab, recited: str | None) -> int:
    """Where the question begins in what a model reads: behind what it recited."""
    return 0 if recited is None else len(vocab.encode(recited)) + 1


def look(
    model: GPT,
    vocab: Vocab,
    answer: Answer,
    *,
    generator: torch.Generator,
    given: str | None = None,
    subject: str | None = None,
    draws: int = 8,
) -> Look:
    """All views of a model's answer to a question, or of a `given` answer instead.

    A model that recites is looked at while it reads what it has recited, and takes its answer from there.
    """
    layer_names(model)  # the views below need a plain trunk: said before anything is computed
    question, recited = answer.question, answer.recited
    if answer.note is not None:
        raise LociError(answer.note)
    subject = subject or answer.subject
    if subject is None or subject not in question:
        wrong = "no name was found in the question" if subject is None else f"no {subject!r} in the question"
        raise LociError(wrong, remedy="give the name as it is written there, with --subject")
    start = question.index(subject)
    before = question_start(vocab, recited)
    ((first, last),) = vocab.positions(question, [(start, start + len(subject))])
    span = before + first, before + last
    text = answer.text if given is None else given
    if vocab.layout == "loci":
        read, wanted = asked(vocab, question, recited), np.append(vocab.encode(text), MASK_ID)
    else:  # a model from elsewhere has no mask: the text goes straight on
        read, wanted = vocab.encode(question), vocab.encode(text)
        if not len(wanted):
            raise LociError("there is no answer to look at", remedy="give one with --answer")
    prompt, target = torch.from_numpy(read), torch.from_numpy(wanted)
    ids = torch.cat([prompt, target[:-1]])
    if model.limit is not None and len(ids) > model.limit:
        parts = "question and answer" if recited is None else "question, recited line and answer"
        raise LociError(f"{parts} take {len(ids)} characters, the model {model.limit}", remedy="ask a shorter question")
    with reading(model):
        trace = model(ids[None], trace=True).trace
    assert trace is not None
    lens = logit_lens(model, prompt, target)
    return Look(
        question=question,
        answer=text,
        given=given is not None,
        symbols=tuple(vocab.pieces(ids.tolist())),
        n_prompt=len(prompt),
        probability=float(lens.probability[-1].log().sum().exp()) if given is not None else answer.raw_probability,
        attention=torch.stack([layer[0] for layer in trace]).float().numpy(),
        rollout=rollout(trace)[:, 0].float().numpy(),
        lens=lens,
        subject=span,
        trace=causal_trace(model, prompt, int(target[0]), span, generator=generator, draws=draws),
        vocabulary=vocab.symbols,
        answer_symbols=tuple(vocab.pieces(target.tolist())),
        recited=recited,
    )
