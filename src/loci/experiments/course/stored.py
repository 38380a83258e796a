"""What a model of the course's table was shown of an answer, and whether it has stored it: two steps of its funnel.

Both go by what pretraining asks for (`loci.data.recall`): the names and numbers of a line, wherever they stand in it.
Knows nothing of training.
"""

from __future__ import annotations

import torch

from loci.data.prompts import closed
from loci.data.recall import Span, beside, salient_spans
from loci.generation import Sampler, generate
from loci.text.corpus import Corpus
from loci.text.match import any_stands_in, is_accepted, spans_of
from loci.text.questions import Question, Questions
from loci.text.vocab import MASK, MASK_ID
from loci.training.checkpoint import LoadedModel

ANSWER_LENGTH = 32
N_LISTS = 4
"""Lists of words drawn for each name: one of them seldom has room for all."""


def view(loaded: LoadedModel) -> int:
    """How many characters of an example reach the answer: the block, or fewer where the trunk is blind after some."""
    config = loaded.model.config
    return type(loaded.model.trunk).blind_after(config) or config.block_size


def in_view(loaded: LoadedModel, corpus: Corpus, questions: Questions) -> list[bool]:
    """For each question with answers: whether pretraining can ask for the answer after the name, where it is seen."""
    room = view(loaded) - 2
    return [
        any(
            len(line.subject) + len(text) <= room and any_stands_in([text], question.answers)
            for line in corpus.about(question.subject or "")
            for span in salient_spans(line)
            for text in [line.text[span.start : span.stop]]
        )
        for question in questions
        if question.answers
    ]


def is_stored(loaded: LoadedModel, corpus: Corpus, questions: Questions, *, masked: bool = True) -> list[bool]:
    """For each question with answers: whether the model gives the answer where pretraining asked for it.

    That tells what is stored apart from what a question can reach. Asked is where the subject's own line has the answer
    masked or, unless lines were `masked` in pretraining, after the name alone: the words that the model lists there.
    """
    asked = [question for question in questions if question.answers]
    return _filled_in(loaded, corpus, asked) if masked else _listed(loaded, asked)


def _filled_in(loaded: LoadedModel, corpus: Corpus, asked: list[Question]) -> list[bool]:
    room = loaded.model.config.block_size - ANSWER_LENGTH - 2
    masked = [masked_line(question, corpus, room) for question in asked]
    known = [parts is not None and not loaded.vocab.missing("".join(parts)) for parts in masked]
    prompts = [closed(loaded.vocab, *parts).tolist() for parts, ok in zip(masked, known, strict=True) if parts and ok]
    said = iter(generate(loaded.model, prompts, max_new=ANSWER_LENGTH, stop_id=MASK_ID) if prompts else ())
    return [
        ok and is_accepted(loaded.vocab.decode(next(said).ids), question.answers)
        for question, ok in zip(asked, known, strict=True)
    ]


def masked_line(question: Question, corpus: Corpus, room: int) -> tuple[str, str] | None:
    """What stands before and after the answer in a line about the subject, in `room` characters, as in pretraining."""
    for line in corpus.about(question.subject or ""):
        body = len(line.text) - len(line.body)
        for start, stop in spans_of(line.text[body:], question.answers[0]):
            return beside(line, Span(body + start, body + stop), room)
    return None


def _listed(loaded: LoadedModel, asked: list[Question]) -> list[bool]:
    """Whether all words of an answer are in one of several lists that are drawn after the name."""
    subjects = [question.subject or "" for question in asked]
    known = [bool(subject) and not loaded.vocab.missing(subject) for subject in subjects]
    prompts = [closed(loaded.vocab, subject).tolist() for subject, ok in zip(subjects, known, strict=True) if ok]
    if not prompts:
        return known
    # Behind what it sees, it goes on without knowing what it has listed.
    room = [max(0, view(loaded) - len(prompt)) for prompt in prompts]
    said = generate(
        loaded.model,
        [prompt for prompt in prompts for _ in range(N_LISTS)],
        max_new=max(1, *room),
        sampler=Sampler(),
        generator=torch.Generator().manual_seed(0),
    )
    lists = iter(
        [
            [set(loaded.vocab.decode(one.ids[:length]).split(MASK)) for one in said[first:][:N_LISTS]]
            for length, first in zip(room, range(0, len(said), N_LISTS), strict=True)
        ]
    )
    return [
        ok and any(set(answer.split()) <= words for words in next(lists) for answer in question.answers)
        for question, ok in zip(asked, known, strict=True)
    ]
