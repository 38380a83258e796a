"""Everything that can be seen of one answer, gathered: attention, rollout, lens, causal trace.

Knows nothing of pages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray

from loci.answering.answer import Answer
from loci.attention_lab.lens import Lens, layer_names, logit_lens
from loci.attention_lab.rollout import rollout
from loci.attention_lab.tracing import CausalTrace, causal_trace
from loci.data.prompts import question_prompt, reading_prompt
from loci.errors import LociError
from loci.generation.context import reading
from loci.model import GPT
from loci.text.vocab import MASK_ID, Vocab


@dataclass(frozen=True)
class Look:
    """One question, one answer, and what happened between them."""

    question: str
    answer: str
    given: bool
    """The answer was given by the user rather than by the model."""
    symbols: tuple[str, ...]
    """What the model read: the question, the mask, what it recited, and the answer but for its end."""
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
    (span,) = vocab.positions(question, [(start, start + len(subject))])
    text = answer.text if given is None else given
    if vocab.layout == "loci":
        asked = question_prompt(vocab, question) if recited is None else reading_prompt(vocab, question, recited)
        wanted = np.append(vocab.encode(text), MASK_ID)
    else:  # a model from elsewhere has no mask: the text goes straight on
        asked, wanted = vocab.encode(question), vocab.encode(text)
        if not len(wanted):
            raise LociError("there is no answer to look at", remedy="give one with --answer")
    prompt, target = torch.from_numpy(asked), torch.from_numpy(wanted)
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
