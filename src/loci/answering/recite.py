"""Answers by reciting: asked about a subject, the model writes down the line it remembers, then reads it.

All that is given is the question. A model that learned its lines behind questions writes the line behind the question;
one that learned them behind bare names writes it behind the name that stands in the question, on a clean sheet. Then it
reads the question and its own line, and quotes an answer from it. The answer's probability is that of reading it there
times that of having recited its very characters: a place made up while reciting is as doubtful as it was when it was
written. Knows nothing of scoring.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from loci.answering.prompts import prompts
from loci.answering.span_scoring import ROOM_FOR_ANSWER, Scored, candidate_ids, score_spans
from loci.generation import Generated, generate, score_candidates
from loci.generation.context import reading
from loci.model import GPT
from loci.text.match import position_of
from loci.text.questions import Question, Questions
from loci.text.vocab import MASK_ID
from loci.training.checkpoint import LoadedModel

LONGEST_RECITATION = 240
BATCH = 256
RIVALS = 16
"""The reader's favourites that are weighed by how surely they were recited: always so many, so that the best answer
does not hang on how many are asked for."""


@dataclass(frozen=True)
class Recital:
    """What the model remembered, and its answers with their probabilities, likeliest first."""

    text: str
    answers: tuple[Scored, ...]


def recitals(
    loaded: LoadedModel, questions: Questions, *, width: int = 1, candidates: Sequence[str] | None = None
) -> list[Recital]:
    """Recite and read for every question, in their order; at most `width` answers each, of `candidates` if given."""
    asked = prompts(loaded, questions)
    if not asked:
        return []
    model, vocab = loaded.model, loaded.vocab
    given = [_given(loaded, question) for question in questions]
    starts = [vocab.encode(name).tolist() if name else prompt for name, prompt in zip(given, asked, strict=True)]
    written = _remembered(
        model, starts, before=[len(prompt) + len(name) for prompt, name in zip(asked, given, strict=True)]
    )
    texts = [name + vocab.decode(line.ids) for name, line in zip(given, written, strict=True)]
    tails = [_behind_subject(text, question) for text, question in zip(texts, questions, strict=True)]
    whole = [[*prompt, *vocab.encode(text).tolist(), MASK_ID] for prompt, text in zip(asked, texts, strict=True)]
    if candidates is None:
        said = [text[tail:] for text, tail in zip(texts, tails, strict=True)]
        found = score_spans(model, vocab, whole, said, width=max(width, RIVALS))
    else:
        found = _chosen(loaded, whole, list(dict.fromkeys(candidates)))
    certain = _log_probabilities(model, [[*start, *line.ids] for start, line in zip(starts, written, strict=True)])
    results = []
    for name, start, text, tail, answers, logs in zip(given, starts, texts, tails, found, certain, strict=True):
        own = [0.0] * len(name) + logs[len(start) :]  # what was given was not remembered
        weighed = [(answer, p * _recited(text, answer, tail, own)) for answer, p in answers]
        results.append(Recital(text, tuple(sorted(weighed, key=lambda pair: -pair[1])[:width])))
    return results


def _chosen(loaded: LoadedModel, prompts: Sequence[Sequence[int]], candidates: Sequence[str]) -> list[list[Scored]]:
    """Every candidate as an answer to each prompt, with its probability."""
    scores = score_candidates(loaded.model, prompts, candidate_ids(loaded.vocab, candidates), stop_id=MASK_ID)
    return [
        [(text, min(1.0, math.exp(score))) for text, score in zip(candidates, row, strict=True)]
        for row in scores.tolist()
    ]


def _given(loaded: LoadedModel, question: Question) -> str:
    """The name that calls up a line where lines were learned behind bare names; nothing where the question does."""
    known = question.subject and not loaded.vocab.missing(question.subject)
    return f"{question.subject}. " if known else ""


def recited_by_name(loaded: LoadedModel, subjects: Sequence[str]) -> list[str]:
    """What the model writes behind each subject's bare name, with and without a mask before it, no question asked."""
    names = [loaded.vocab.encode(f"{subject}. ").tolist() for subject in subjects]
    if not names:
        return []
    behind_mask = [[MASK_ID, *name] for name in names]
    plain, masked = (_remembered(loaded.model, some, before=[*map(len, some)]) for some in (names, behind_mask))
    return [loaded.vocab.decode([*a.ids, MASK_ID, *b.ids]) for a, b in zip(plain, masked, strict=True)]


def _remembered(model: GPT, starts: Sequence[Sequence[int]], *, before: Sequence[int]) -> list[Generated]:
    """What follows each start up to a mask; with `before` characters before it, an answer still finds room behind."""
    by_room: dict[int, list[int]] = defaultdict(list)
    for index, width in enumerate(before):
        room = LONGEST_RECITATION if model.limit is None else model.limit - width - ROOM_FOR_ANSWER
        # A model with a limit has less room behind a longer question; in a few sizes, so that batches stay large.
        by_room[min(LONGEST_RECITATION, max(1, room - room % 16))].append(index)
    found: dict[int, Generated] = {}
    for room, rows in by_room.items():
        texts = generate(model, [starts[row] for row in rows], max_new=room, stop_id=MASK_ID, batch_size=BATCH)
        found |= zip(rows, texts, strict=True)
    return [found[row] for row in range(len(starts))]


def _behind_subject(text: str, question: Question) -> int:
    """Where the recited line begins to say something: behind the subject it is about."""
    subject = question.subject
    return len(subject) if subject is not None and text.startswith(subject) else 0


def _recited(text: str, answer: str, start: int, logs: Sequence[float]) -> float:
    """The probability the answer's characters had where they were recited first; 1 where they do not stand."""
    place = position_of(text, answer, start)
    return 1.0 if place < 0 else math.exp(min(0.0, math.fsum(logs[place : place + len(answer)])))


def _log_probabilities(model: GPT, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
    """log p of every id of every sequence after the ones before it; 0 for the first."""
    order = sorted(range(len(sequences)), key=lambda index: len(sequences[index]))
    found: dict[int, list[float]] = {}
    device = model.tok_emb.weight.device
    with reading(model):
        for begin in range(0, len(order), BATCH // 4):
            batch = order[begin : begin + BATCH // 4]
            longest = max(len(sequences[index]) for index in batch)
            ids = torch.zeros(len(batch), longest, dtype=torch.long)
            for row, index in enumerate(batch):
                ids[row, : len(sequences[index])] = torch.tensor(sequences[index])
            ids = ids.to(device)
            logs = model(ids[:, :-1]).logits.float().log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0].cpu()
            for row, index in enumerate(batch):
                found[index] = [0.0, *logs[row, : len(sequences[index]) - 1].tolist()]
    return [found[index] for index in range(len(sequences))]
