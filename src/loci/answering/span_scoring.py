"""Reading: which words of a text answer a question, as a model sees it.

A reader's answer is a quotation: only word spans of the text are considered, each scored exactly. Knows nothing of
where the text comes from, the corpus or the model's own memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from loci.answering.answer import Scored
from loci.generation import generate, score_candidates
from loci.generation.context import Prompt
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
    longest: int = LONGEST_SPAN,
    silence: bool = False,
) -> list[list[Scored]]:
    """For each prompt at most `width` word spans of its text with their probabilities, likeliest first.

    A text without a word has nothing to quote: there the model says what it likes. With `silence` the empty answer is
    always among them: how likely the reader finds that the text does not tell.
    """
    found = []
    for prompt, text in zip(prompts, texts, strict=True):
        spans = [span for span in word_spans(text, longest) if not vocab.missing(span)]
        if silence:
            spans.append("")
        if not any(spans):
            found.append([_free(model, vocab, prompt)])
            continue
        ids = [vocab.encode(span).tolist() for span in spans]
        scores = score_candidates(model, [prompt], ids, stop_id=MASK_ID)[0]
        ranked = sorted(zip(spans, scores.tolist(), strict=True), key=lambda pair: -pair[1])
        kept = [pair for place, pair in enumerate(ranked) if place < width or not pair[0]]
        found.append([(span, min(1.0, math.exp(score))) for span, score in kept])
    return found


def _free(model: GPT, vocab: Vocab, prompt: Prompt) -> Scored:
    answer = generate(model, [prompt], max_new=FREE_LENGTH, stop_id=MASK_ID)[0]
    return vocab.decode(answer.ids), min(1.0, math.exp(answer.log_probability))
