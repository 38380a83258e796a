"""What teaches: a corpus and train questions, and the batches a stage makes of them. Knows nothing of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from loci.data.batches import BatchStream, Source
from loci.data.objectives import Objective, make_objective
from loci.data.running_text import pieces
from loci.data.warmup import Warmup
from loci.errors import LociError
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.vocab import Vocab
from loci.training.plan import Ingredient, Recipe, Stage


@dataclass(frozen=True)
class TrainingData:
    """What may teach: a corpus, and questions with answers where a stage asks for them."""

    corpus: Corpus
    questions: Questions | None = None

    @cached_property
    def vocab(self) -> Vocab:
        """The characters of the corpus and of what is asked: a corpus of statements may lack the question mark."""
        asked = (
            [] if self.questions is None else [question.text + "".join(question.answers) for question in self.questions]
        )
        return Vocab.from_text(self.corpus.raw + "".join(asked))

    def records(self, source: str, block_size: int) -> Sequence[Any]:
        """The records of a named source: the corpus line by line, its running text in pieces, or the questions."""
        if source == "corpus":
            return [line for line in self.corpus if line.text]
        if source == "text":
            return pieces(self.corpus.raw, block_size)
        if self.questions is None:
            raise LociError(
                "the recipe asks for train questions and there are none",
                remedy="give --questions FILE, or a --data folder with a *train*.tsv",
            )
        return self.questions.answered

    def describe(self) -> dict[str, Any]:
        """For run.json: where it lay and what exactly it was."""
        questions = self.questions
        return {
            "corpus": str(self.corpus.path.resolve()) if self.corpus.path else None,
            "corpus_hash": self.corpus.hash,
            "questions": str(questions.path.resolve()) if questions is not None and questions.path else None,
            "questions_hash": questions.hash if questions is not None else None,
        }


def make_stream(
    stage: Stage, index: int, recipe: Recipe, data: TrainingData, block_size: int, *, rank: int = 0, world: int = 1
) -> BatchStream:
    """The batches of a stage; those of one process of several, when told which."""
    vocab = data.vocab
    if data.questions is not None and any(part.source == "questions" for part in stage.mixture):
        data.questions.require(vocab, block_size)
    return BatchStream(
        [_source(part, data, vocab, block_size) for part in stage.mixture],
        batch_size=stage.batch_size,
        seed=(recipe.seed, index),
        shuffle=stage.shuffle,
        pool=stage.pool,
        rank=rank,
        world=world,
        block_size=block_size,
        batch_warmup=Warmup(stage.batch_warmup, stage.batch_start),
        length_warmup=Warmup(stage.length_warmup, stage.length_start),
    )


def _source(part: Ingredient, data: TrainingData, vocab: Vocab, block_size: int) -> Source:
    def at_length(length: int) -> Objective[Any]:
        return make_objective(part.objective, vocab, length, part.options)

    shortened = cache(at_length) if part.source != "questions" else None  # half a question has no answer
    return Source(data.records(part.source, block_size), at_length(block_size), part.share, at_length=shortened)
