"""The reciting way: asked about a subject, the model writes down the line it memorized, then reads it.

All that is given is the question. The subject's name calls the line up in a fresh context; then the model reads its
own line and the question, and its answer is a span of that line. The answer's probability is that of reading it there
times that of having recited its very characters: a place made up while reciting is as doubtful as it was when it was
written. An empty answer means that the line does not tell. Knows nothing of thresholds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from loci.answering.answer import NOT_TOLD, Silence
from loci.answering.base import Asked, ModelAnswerer, Thought, candidate_ids
from loci.answering.direct import ranked
from loci.answering.familiarity import score_names
from loci.answering.span_scoring import ROOM_FOR_ANSWER, score_spans
from loci.answering.subject import Understood
from loci.data.prompts import line_of, reading_prompt
from loci.generation import Generated, generate, score_candidates
from loci.generation.likelihood import log_probabilities
from loci.model import GPT
from loci.text.match import position_of
from loci.text.vocab import MASK_ID

LONGEST_RECITATION = 336
BATCH = 256
RIVALS = 16
"""The reader's favourites that are weighed by how surely they were recited: always so many, so that the best answer
does not depend on how many are asked for."""


class ReciteAnswerer(ModelAnswerer):
    """Recites the subject's line and reads it."""

    silences: ClassVar[Mapping[str, Silence]] = {"": NOT_TOLD}
    needs_subject: ClassVar[bool] = True
    one_form: ClassVar[bool] = True

    def rank(self, asked: Sequence[Asked], candidates: Sequence[str] | None) -> list[Thought]:
        """Spans of the recited line, or the candidates, each weighed by how surely it was recited."""
        model, vocab = self.loaded.model, self.loaded.vocab
        names = [line_of(question.subject or "") for question in asked]
        starts = [vocab.encode(name).tolist() for name in names]
        before = [len(question.prompt) + len(name) for question, name in zip(asked, names, strict=True)]
        written = [
            [*start, *line.ids] for start, line in zip(starts, _recited(model, starts, before=before), strict=True)
        ]
        texts = [vocab.decode(line) for line in written]
        told = [len(question.subject or "") for question in asked]
        whole = [reading_prompt(vocab, q.text, text).tolist() for q, text in zip(asked, texts, strict=True)]
        if candidates is None:
            said = [text[start:] for text, start in zip(texts, told, strict=True)]
            found = score_spans(model, vocab, whole, said, width=RIVALS, silence=True)
        else:
            scores = score_candidates(model, whole, candidate_ids(self.loaded, candidates), stop_id=MASK_ID)
            found = [ranked(candidates, row.tolist()) for row in scores]
        certain = log_probabilities(model, written)
        familiar = self.familiar(asked)
        thoughts = []
        for name, text, start, answers, logs, read in zip(names, texts, told, found, certain, familiar, strict=True):
            own = [0.0] * len(name) + logs[len(name) :]  # what was given was not recited
            weighed = [(answer, p * _probability(text, answer, start, own)) for answer, p in answers]
            best = sorted(weighed, key=lambda pair: -pair[1])
            thoughts.append(Thought(best, text, right=dict(best), familiar=read))
        return thoughts

    def name_scores(self, asked: Sequence[Asked]) -> NDArray[np.float64]:
        """log p of the names that call lines up."""
        calls = [self.loaded.vocab.encode(line_of(question.subject or "")).tolist() for question in asked]
        return score_names(self.loaded.model, calls, [slice(len(call)) for call in calls])

    def around_name(self, question: str, subject: str) -> tuple[str, str]:
        """A name that calls a line up stands alone."""
        return "", line_of(subject).removeprefix(subject)


class ZeroShotAnswerer(ReciteAnswerer):
    """Recites and reads whatever is asked about a subject, also what no train question asked.

    A way of its own, not the default: how often a question that nobody taught is read rightly is not measured.
    """

    one_form: ClassVar[bool] = False

    def understood(self, question: str, given: str | None) -> Understood:
        """Only a question of a taught form is one: nothing else is put into other words."""
        meant = super().understood(question, given)
        taught = any(t.subject_of(question) for relation in self.loaded.relations for t in relation.templates)
        return meant if taught else Understood(question, meant.subject, None)


def _recited(model: GPT, starts: Sequence[Sequence[int]], *, before: Sequence[int]) -> list[Generated]:
    """What follows each start up to a mask; with `before` further characters behind it, an answer still finds room."""
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


def _probability(text: str, answer: str, start: int, logs: Sequence[float]) -> float:
    """The probability the answer's characters had where they were recited first; 1 where they do not stand."""
    place = position_of(text, answer, start)
    return 1.0 if place < 0 else math.exp(min(0.0, math.fsum(logs[place : place + len(answer)])))
