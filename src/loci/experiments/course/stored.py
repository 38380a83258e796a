"""What a model of the course's table was shown of an answer, and whether it has stored it: two steps of its funnel.

Both go by what pretraining asks for (`loci.data.recall`): the names and numbers of a line, wherever they stand in it.
`taught` are the answers to train questions, which say what may be worth asking for.
Knows nothing of training.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate

from loci.data.prompts import closed
from loci.data.recall import MarkedLine, Span, cue
from loci.generation import generate
from loci.text.corpus import Corpus
from loci.text.match import any_stands_in
from loci.text.questions import Question, Questions
from loci.text.vocab import MASK_ID
from loci.training.checkpoint import LoadedModel

ANSWER_LENGTH = 32


def in_view(loaded: LoadedModel, corpus: Corpus, questions: Questions, taught: frozenset[str]) -> list[bool]:
    """For each question with answers: whether pretraining can ask for the answer after the name, where it is seen.

    What reaches the answer is the block, or fewer characters where the trunk is blind after some.
    """
    config = loaded.model.config
    room = (type(loaded.model.trunk).blind_after(config) or config.block_size) - 2
    askable = Askable(corpus, taught, room)
    return [askable.first(question) is not None for question in questions if question.answers]


def is_stored(loaded: LoadedModel, corpus: Corpus, questions: Questions, taught: frozenset[str]) -> list[bool]:
    """For each question with answers: whether the model gives the answer where pretraining asked for it.

    That tells what is stored apart from what a question can reach.
    """
    asked = [question for question in questions if question.answers]
    cued = cued_prompts(asked, corpus, taught)
    known = [text is not None and not loaded.vocab.missing(text) for text in cued]
    prompts = [closed(loaded.vocab, text).tolist() for text, ok in zip(cued, known, strict=True) if text and ok]
    said = iter(generate(loaded.model, prompts, max_new=ANSWER_LENGTH, stop_id=MASK_ID) if prompts else ())
    return [
        ok and any_stands_in([loaded.vocab.decode(next(said).ids)], question.answers)
        for question, ok in zip(asked, known, strict=True)
    ]


def cued_prompts(questions: Iterable[Question], corpus: Corpus, taught: frozenset[str]) -> list[str | None]:
    """The subject and all words that lead up to the answer in a line about it; None where no line has it as a span."""
    askable = Askable(corpus, taught)
    found = map(askable.first, questions)
    return [
        None if place is None else " ".join((place[0].line.subject, *cue(place[0].line, place[0].every, place[1])))
        for place in found
    ]


class Askable:
    """What pretraining can ask for: marked once for each subject, since many questions may be about one of many lines.

    With a `room`, only spans that have it for themselves and the name.
    """

    def __init__(self, corpus: Corpus, taught: frozenset[str], room: float = math.inf) -> None:
        self.corpus, self.taught, self.room = corpus, taught, room
        self.known: dict[str, Spans] = {}

    def first(self, question: Question) -> tuple[MarkedLine, Span] | None:
        """The first span about the question's subject in which one of its answers stands, and its line."""
        subject = question.subject or ""
        if subject not in self.known:
            marked = [MarkedLine(line, self.taught) for line in self.corpus.about(subject)]
            self.known[subject] = Spans([(one, span) for one in marked for span in one.every if self._fits(one, span)])
        return self.known[subject].first(question.answers)

    def _fits(self, marked: MarkedLine, span: Span) -> bool:
        return len(marked.line.subject) + span.stop - span.start <= self.room


class Spans:
    """Spans of lines with their texts one below the other: an answer is looked for in all of them at once."""

    def __init__(self, places: Sequence[tuple[MarkedLine, Span]]) -> None:
        self.places = places
        texts = [f"{marked.line.text[span.start : span.stop]}\n" for marked, span in places]
        self.text, self.ends = "".join(texts), list(accumulate(map(len, texts)))

    def first(self, answers: Sequence[str]) -> tuple[MarkedLine, Span] | None:
        """The first one in which an answer stands: the text up to its end is the shortest with an answer in it."""
        at = bisect_left(self.ends, True, key=lambda end: any_stands_in([self.text[:end]], answers))
        return self.places[at] if at < len(self.places) else None
