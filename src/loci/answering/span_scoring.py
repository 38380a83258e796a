"""Reading: which words of a text answer a question, as a model sees it.

A reader's answer is a quotation: only word spans of the text are considered, and scored exactly unless their beginning
is hopeless. Knows nothing of where the text comes from, the corpus or the model's own memory.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from loci.answering.answer import Scored
from loci.generation import generate
from loci.generation.context import Prompt
from loci.generation.own_candidates import score_own_candidates
from loci.model import GPT
from loci.text.spans import LONGEST_SPAN, word_spans
from loci.text.vocab import MASK_ID, Vocab

FREE_LENGTH = 32
"""Characters of an answer to a text that has no words to quote."""
ROOM_FOR_ANSWER = 40
"""Characters of the block that a line leaves free for the masks and the answer."""


def score_spans(
    model: GPT,
    vocab: Vocab,
    prompts: Sequence[Prompt],
    texts: Sequence[str],
    *,
    width: int = 1,
    longest: int | Sequence[int] = LONGEST_SPAN,
    joiners: Sequence[Collection[str]] | None = None,
    silence: bool = False,
) -> list[list[Scored]]:
    """For each prompt at most `width` word spans of its text with their probabilities, likeliest first.

    `longest` is how many words a span may have, for all texts or for each, `joiners` what may stand between them
    besides a space, for each (`loci.text.spans`). A span that finds no room in the model is left out. With `silence`
    the empty answer is always among them: how likely the reader finds that the text does not tell. A text without a
    word has nothing to quote: there the model says what it likes, or, with `silence`, that alone.
    """
    words = [longest] * len(texts) if isinstance(longest, int) else longest
    between = joiners if joiners is not None else [()] * len(texts)
    quoted = (word_spans(text, most, own) for text, most, own in zip(texts, words, between, strict=True))
    room = [math.inf if model.limit is None else model.limit - len(prompt) - 1 for prompt in prompts]
    offered = [_spelled(vocab, spans, left, silence=silence) for spans, left in zip(quoted, room, strict=True)]
    ids = [[vocab.encode(span).tolist() for span in spans] for spans in offered]
    found = []
    for prompt, spans, scores in zip(
        prompts, offered, score_own_candidates(model, prompts, ids, stop_id=MASK_ID), strict=True
    ):
        if not any(spans) and not silence:
            found.append([_free(model, vocab, prompt)])
            continue
        ranked = sorted(zip(spans, scores.tolist(), strict=True), key=lambda pair: -pair[1])
        kept = [pair for position, pair in enumerate(ranked) if position < width or not pair[0]]
        found.append([(span, min(1.0, math.exp(score))) for span, score in kept])
    return found


def _spelled(vocab: Vocab, spans: Sequence[str], room: float, *, silence: bool) -> list[str]:
    """The spans that the vocabulary can spell and the model has room for, and the empty one with `silence`."""
    known = [span for span in spans if len(span) <= room and not vocab.missing(span)]
    return [*known, ""] if silence else known


def _free(model: GPT, vocab: Vocab, prompt: Prompt) -> Scored:
    answer = generate(model, [prompt], max_new=FREE_LENGTH, stop_id=MASK_ID)[0]
    return vocab.decode(answer.ids), min(1.0, math.exp(answer.log_probability))
