"""Every textual form, for training and for asking: parts of text, each closed by the mask ⁇.

    question-answer   question ⁇ answer ⁇            asked with: question ⁇
    reading           line ⁇ question ⁇ answer ⁇     asked with: line ⁇ question ⁇; the line once, or twice
    memorize          subject. text ⁇                asked with: subject.␣
    word-recall       subject ⁇ span ⁇ span ⁇ … ⁇
    cued-recall       words subject words ⁇ span ⁇ words ⁇ span ⁇ …
    salient-span      prefix ⁇ suffix ⁇ masked ⁇

Objectives make training examples of these forms and answerers ask with their beginnings, so the two never differ. An
answer may be one that means silence. Knows nothing of losses, models or files.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from loci.text.vocab import MASK_ID, Vocab

_MASK = np.array([MASK_ID])
UNKNOWN = "unknown"
"""The answer a model is taught to give about somebody it never read about."""
NOT_TOLD = "not told"
"""The answer a model is taught to give where the text does not tell."""
I_DONT_KNOW = "I don't know"
"""What silence is called, whatever its reason; a model may be taught to say this too."""


def closed(vocab: Vocab, *parts: str) -> NDArray[np.int64]:
    """The ids of the parts, each followed by the mask."""
    return np.concatenate([ids for part in parts for ids in (vocab.encode(part), _MASK)])


def question_prompt(vocab: Vocab, question: str) -> NDArray[np.int64]:
    """What a model is asked with: the question and the mask that calls for the answer."""
    return closed(vocab, question)


def reading_prompt(vocab: Vocab, question: str, line: str, *, twice: bool = False) -> NDArray[np.int64]:
    """What a reader is asked with: the line, the question, and the mask that calls for the answer.

    The line stands first, so that what was read of it serves every question about it.
    """
    return closed(vocab, said_twice(line) if twice else line, question)


def said_twice(line: str) -> str:
    """A line as a reader sees it that meets names before what is said of them: the second time it knows both."""
    return f"{line} {line}"


def line_of(subject: str, text: str = "") -> str:
    """A line as it is memorized. Without a text it is what calls the line up: the subject, full stop and space.

    A line about nobody is its text alone.
    """
    return f"{subject}. {text}" if subject else text
