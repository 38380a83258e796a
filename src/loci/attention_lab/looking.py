"""Everything that can be seen of one answer, gathered: attention, rollout, lens, causal trace.

Knows nothing of pages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray

from loci.answering.greedy import ANSWER_LENGTH
from loci.answering.recite import Recital
from loci.attention_lab.lens import Lens, layer_names, logit_lens
from loci.attention_lab.rollout import rollout
from loci.attention_lab.tracing import CausalTrace, causal_trace
from loci.data.objectives import question_prompt
from loci.data.reading import reading_prompt
from loci.errors import LociError
from loci.generation.context import reading
from loci.generation.decode import generate
from loci.model import GPT
from loci.text.template import Template
from loci.text.vocab import MASK, MASK_ID, Vocab


@dataclass(frozen=True)
class Look:
    """One question, one answer, and what happened between them."""

    question: str
    answer: str
    given: bool
    """The answer was given by the user rather than by the model."""
    symbols: tuple[str, ...]
    """What the model read: the question, the mask, what it remembered, and the answer but for its end."""
    n_prompt: int
    probability: float
    attention: Float[NDArray[np.float32], "L H T T"]
    rollout: Float[NDArray[np.float32], "L T T"]
    lens: Lens
    """Of the answer's characters and the mask that ends it."""
    subject: tuple[int, int]
    trace: CausalTrace
    vocabulary: tuple[str, ...]
    remembered: str | None = None
    """What a model that recites had written down before it answered."""

    @property
    def answer_symbols(self) -> tuple[str, ...]:
        """The answer's characters and the mask that ends it."""
        return (*self.answer, MASK)


def find_subject(question: str, template: str | None = None, subject: str | None = None) -> tuple[int, int]:
    """Where the name is in the question: as told, by the template, or the longest run of capitalised words."""
    if subject is not None:
        start = question.find(subject)
        if start < 0 or not subject:
            raise LociError(f"the question does not contain {subject!r}", remedy="give the name as it is written there")
        return start, start + len(subject)
    if template is not None and (found := Template(template).subject_of(question)):
        start = len(Template(template).prefix)
        return start, start + len(found)
    runs = _capitalised_runs(question)
    if not runs:
        raise LociError("no name was found in the question", remedy="give it with --subject")
    return max(runs, key=lambda run: run[1] - run[0])


def _capitalised_runs(question: str) -> list[tuple[int, int]]:
    """Runs of capitalised words; the first word of a question is capitalised anyway and is left out."""
    runs: list[tuple[int, int]] = []
    open_at = -1  # where a word must begin to belong to the run before it
    for word in list(re.finditer(r"\S+", question))[1:]:
        if not word[0][0].isupper():
            continue
        stop = word.start() + len(word[0].rstrip("?!.,;:"))
        if runs and word.start() == open_at:
            runs[-1] = (runs[-1][0], stop)
        else:
            runs.append((word.start(), stop))
        open_at = -1 if word[0][-1] in "?!,;:" else word.end() + 1
    return runs


def look(
    model: GPT,
    vocab: Vocab,
    question: str,
    *,
    generator: torch.Generator,
    answer: str | None = None,
    recital: Recital | None = None,
    template: str | None = None,
    subject: str | None = None,
    draws: int = 8,
) -> Look:
    """Ask (or take the answer given) and gather all views.

    A model that recites reads what it has just remembered, its `recital`, and quotes its answer from there.
    """
    layer_names(model)  # the views below need a plain trunk: said before anything is computed
    span = find_subject(question, template, subject)
    prompt = torch.from_numpy(question_prompt(vocab, question))
    if recital is not None:
        prompt = torch.tensor(reading_prompt(vocab, question, recital.text))
    given = answer is not None
    if answer is None and recital is not None:
        answer = recital.answers[0][0]
    if answer is None:
        (written,) = generate(model, [prompt], max_new=ANSWER_LENGTH, stop_id=MASK_ID)
        answer = vocab.decode(written.ids)
    target = torch.from_numpy(np.append(vocab.encode(answer), MASK_ID))
    ids = torch.cat([prompt, target[:-1]])
    if model.limit is not None and len(ids) > model.limit:
        parts = "question and answer" if recital is None else "question, recital and answer"
        raise LociError(f"{parts} take {len(ids)} characters, the model {model.limit}", remedy="ask a shorter question")
    with reading(model):
        trace = model(ids[None], trace=True).trace
    assert trace is not None
    lens = logit_lens(model, prompt, target)
    return Look(
        question=question,
        answer=answer,
        given=given,
        symbols=tuple(vocab.decode(ids.tolist())),
        n_prompt=len(prompt),
        probability=float(lens.probability[-1].log().sum().exp()),
        attention=torch.stack([layer[0] for layer in trace]).float().numpy(),
        rollout=rollout(trace)[:, 0].float().numpy(),
        lens=lens,
        subject=span,
        trace=causal_trace(model, prompt, int(target[0]), span, generator=generator, draws=draws),
        vocabulary=vocab.symbols,
        remembered=None if recital is None else recital.text,
    )
