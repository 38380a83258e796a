"""The reciting way: asked about a subject, the model writes down the line it memorized, then reads it.

All that is given is the question. The subject's name calls the line up in a fresh context; then the model reads its
own line and the question, and its answer is a span of that line. Where it is not sure of the line it reads the
likeliest few, and an answer's probability is that of reading it in each of them times the line's share: a line made up
has rivals. An empty answer means that the line does not tell. Knows nothing of thresholds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from loci.answering.answer import NOT_TOLD, Scored, Silence
from loci.answering.base import Asked, ModelAnswerer, Thought, candidate_ids
from loci.answering.direct import ranked
from loci.answering.familiarity import score_names
from loci.answering.span_scoring import ROOM_FOR_ANSWER, score_spans
from loci.answering.subject import Understood
from loci.data.prompts import line_of, reading_prompt
from loci.generation import Generated, generate, score_candidates
from loci.generation.beam import beam_search
from loci.model import GPT
from loci.text.relations import Relation
from loci.text.spans import LONGEST_SPAN
from loci.text.vocab import MASK_ID

LONGEST_RECITATION = 336
BATCH = 256
RIVALS = 16
"""The reader's favourites in each line: always so many, so that the best answer does not depend on how many are asked
for."""
LINES = 4
"""The likeliest lines that are read where none is sure. Chosen on train people: 8 hold hardly more of them."""
SURE = math.log(0.5)
"""A line more likely than all others together is read alone, as if it were certain."""


@dataclass(frozen=True)
class _Recited:
    """A line that was written down for one of the questions."""

    owner: int
    text: str
    share: float
    """Its probability among the lines that were written for the question."""


class ReciteAnswerer(ModelAnswerer):
    """Recites the subject's line and reads it."""

    silences: ClassVar[Mapping[str, Silence]] = {"": NOT_TOLD}
    needs_subject: ClassVar[bool] = True
    one_form: ClassVar[bool] = True

    def rank(self, asked: Sequence[Asked], candidates: Sequence[str] | None) -> list[Thought]:
        """Spans of the recited lines, or the candidates, each weighed by how surely its lines were recited."""
        familiar = self.familiar(asked)
        lines = self._recite(asked, several=[one is None or not self._strange(one) for one in familiar])
        read: list[list[tuple[_Recited, dict[str, float]]]] = [[] for _ in asked]
        for line, answers in zip(lines, self._answers_in(lines, asked, candidates), strict=True):
            read[line.owner].append((line, dict(answers)))
        return [self._thought(own, one) for own, one in zip(read, familiar, strict=True)]

    def _thought(self, read: Sequence[tuple[_Recited, Mapping[str, float]]], familiar: float | None) -> Thought:
        """What the lines answer together, and the line that speaks for the best answer."""
        weights: dict[str, float] = defaultdict(float)
        for line, answers in read:
            for answer, p in answers.items():
                weights[answer] += line.share * p
        best_first = sorted(((answer, min(1.0, p)) for answer, p in weights.items()), key=lambda pair: -pair[1])
        said = next((answer for answer, _ in best_first if answer), "")
        speaks, _ = max(read, key=lambda pair: pair[0].share * pair[1].get(said, 0.0))
        return Thought(best_first, speaks.text, familiar=familiar, not_told=0.0)  # the empty answer has its own share

    def _strange(self, familiar: float) -> bool:
        return self.confidence.familiarity is not None and familiar < self.confidence.familiarity.gate

    def _recite(self, asked: Sequence[Asked], *, several: Sequence[bool]) -> list[_Recited]:
        """The lines for each question, those of one question together. About a stranger one is enough."""
        vocab = self.loaded.vocab
        names = [line_of(question.subject or "") for question in asked]
        starts = [vocab.encode(name).tolist() for name in names]
        before = [len(question.prompt) + len(name) for question, name in zip(asked, names, strict=True)]
        return [
            _Recited(owner, names[owner] + vocab.decode(line.ids), share)
            for owner, lines in enumerate(_recited(self.loaded.model, starts, before=before, several=several))
            for line, share in zip(lines, _shares(lines), strict=True)
        ]

    def _answers_in(
        self, lines: Sequence[_Recited], asked: Sequence[Asked], candidates: Sequence[str] | None
    ) -> list[list[Scored]]:
        """What each line answers to its question."""
        model, vocab, own = self.loaded.model, self.loaded.vocab, [asked[line.owner] for line in lines]
        whole = [reading_prompt(vocab, q.text, line.text).tolist() for q, line in zip(own, lines, strict=True)]
        if candidates is not None:
            scores = score_candidates(model, whole, candidate_ids(self.loaded, candidates), stop_id=MASK_ID)
            return [ranked(candidates, row.tolist()) for row in scores]
        said = [line.text[len(q.subject or "") :] for q, line in zip(own, lines, strict=True)]
        relations = [self._relation(question) for question in own]
        longest = [LONGEST_SPAN if relation is None else relation.longest for relation in relations]
        joiners = [frozenset() if relation is None else relation.joiners for relation in relations]
        return score_spans(model, vocab, whole, said, width=RIVALS, longest=longest, joiners=joiners, silence=True)

    def _relation(self, question: Asked) -> Relation | None:
        """The relation in one of whose forms a question is put; what its file calls it does not count.

        The run's own come last, after a form that was given when asking and knows nothing of answers.
        """
        own = (one for one in reversed(self.loaded.relations) if one.name == question.relation)
        return next((one for one in own if any(form.subject_of(question.text) for form in one.templates)), None)

    def name_scores(self, asked: Sequence[Asked]) -> Float[NDArray[np.float64], "N 2"]:
        """log p of the names that call lines up, and of their endings."""
        calls = [self.loaded.vocab.encode(line_of(question.subject or "")).tolist() for question in asked]
        stops = [len(question.subject or "") for question in asked]
        names, ends = [slice(stop) for stop in stops], [slice(stop, None) for stop in stops]
        return score_names(self.loaded.model, calls, names, ends)

    def around_name(self, question: str, subject: str) -> tuple[str, str]:
        """A name that calls a line up stands alone."""
        return "", line_of(subject).removeprefix(subject)


class ZeroShotAnswerer(ReciteAnswerer):
    """Recites and reads whatever is asked about a subject, also what no train question asked.

    A way of its own, not the default: a question that nobody taught is seldom read rightly.
    """

    one_form: ClassVar[bool] = False

    def understood(self, question: str, given: str | None) -> Understood:
        """Only a question of a taught form is one: nothing else is put into other words."""
        meant = super().understood(question, given)
        taught = any(t.subject_of(question) for relation in self.loaded.relations for t in relation.templates)
        return meant if taught else Understood(question, meant.subject, None)


def _recited(
    model: GPT, starts: Sequence[Sequence[int]], *, before: Sequence[int], several: Sequence[bool]
) -> list[list[Generated]]:
    """What follows each start up to a mask: the likeliest text, or, where it is not sure and `several` are wanted, the
    likeliest few. With `before` further characters behind it, an answer still finds room."""
    by_room: dict[int, list[int]] = defaultdict(list)
    for index, width in enumerate(before):
        room = LONGEST_RECITATION if model.limit is None else model.limit - width - ROOM_FOR_ANSWER
        # A model with a limit has less room behind a longer question; in a few sizes, so that batches stay large.
        by_room[min(LONGEST_RECITATION, max(1, room - room % 16))].append(index)
    found: dict[int, list[Generated]] = {}
    for room, rows in by_room.items():
        texts = generate(model, [starts[row] for row in rows], max_new=room, stop_id=MASK_ID, batch_size=BATCH)
        found |= {row: [text] for row, text in zip(rows, texts, strict=True)}
        unsure = [row for row in rows if several[row] and found[row][0].log_probability < SURE]
        again = [starts[row] for row in unsure]
        beams = beam_search(model, again, width=LINES, max_new=room, stop_id=MASK_ID, batch_size=BATCH)
        found |= zip(unsure, beams, strict=True)
    return [found[row] for row in range(len(starts))]


def _shares(lines: Sequence[Generated]) -> list[float]:
    """The probability of each line among all of them."""
    most = max(line.log_probability for line in lines)
    weights = [math.exp(line.log_probability - most) for line in lines]
    return [weight / sum(weights) for weight in weights]
