"""What a model of the course's table was shown of an answer, and whether it has stored it: two steps of its funnel.

Both go by what pretraining asks for (`loci.data.recall`): the names and numbers of a line, wherever they stand in it.
`taught` are the answers to train questions, which say what may be worth asking for.
Knows nothing of training.
"""

from __future__ import annotations

from loci.data.prompts import closed
from loci.data.recall import MarkedLine, cue
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
    return [
        any(
            len(line.subject) + len(text) <= room and any_stands_in([text], question.answers)
            for line in corpus.about(question.subject or "")
            for span in MarkedLine(line, taught).every
            for text in [line.text[span.start : span.stop]]
        )
        for question in questions
        if question.answers
    ]


def is_stored(loaded: LoadedModel, corpus: Corpus, questions: Questions, taught: frozenset[str]) -> list[bool]:
    """For each question with answers: whether the model gives the answer where pretraining asked for it.

    That tells what is stored apart from what a question can reach.
    """
    asked = [question for question in questions if question.answers]
    cued = [cued_prompt(question, corpus, taught) for question in asked]
    known = [text is not None and not loaded.vocab.missing(text) for text in cued]
    prompts = [closed(loaded.vocab, text).tolist() for text, ok in zip(cued, known, strict=True) if text and ok]
    said = iter(generate(loaded.model, prompts, max_new=ANSWER_LENGTH, stop_id=MASK_ID) if prompts else ())
    return [
        ok and any_stands_in([loaded.vocab.decode(next(said).ids)], question.answers)
        for question, ok in zip(asked, known, strict=True)
    ]


def cued_prompt(question: Question, corpus: Corpus, taught: frozenset[str]) -> str | None:
    """The subject and all words that lead up to the answer in a line about it; None where no line has it as a span."""
    for line in corpus.about(question.subject or ""):
        spans = MarkedLine(line, taught).every
        for span in spans:
            if any_stands_in([line.text[span.start : span.stop]], question.answers):
                return " ".join((line.subject, *cue(line, spans, span)))
    return None
