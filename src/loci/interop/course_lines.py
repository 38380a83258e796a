"""The lines that the course's scripts print, to the letter, since handouts and scripts quote and parse them.

Pure functions. Knows nothing of training or of files.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from loci.data.example import Example
from loci.data.objectives import QuestionAnswer, make_objective
from loci.evaluation.metrics import exact_match
from loci.evaluation.rows import Row
from loci.model import GPT
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.vocab import PAD_ID, Vocab

LONDON = "London"
"""The constant answer of the course's baseline."""


def data_line(corpus: Corpus) -> str:
    """Characters of the file, and symbols with pad and mask."""
    return f"data has {len(corpus.raw)} characters, {len(corpus.vocab)} unique."


def parameters_line(model: GPT) -> str:
    """How many trained numbers the model has."""
    return f"number of parameters: {model.n_parameters()}"


def score_line(rows: Iterable[Row]) -> str | None:
    """The score, or None where no row has an answer to score by."""
    rate = exact_match(rows)
    if not rate.n:
        return None
    # The quotient's digits are printed as they fall (9 of 500: 1.7999999999999998%), as in published outputs.
    share = rate.successes / rate.n * 100
    return f"Correct: {float(rate.successes)} out of {float(rate.n)}: {share}%"


def constant_rows(questions: Questions, place: str = LONDON) -> list[Row]:
    """Rows of a system that says the same place to every question."""
    return [Row(question.text, place, question.answers, question.subject) for question in questions]


def name_lines(corpus: Corpus, questions: Questions, block_size: int, n: int) -> list[str]:
    """x and y of the first finetuning examples; targets that do not count are shown as pads."""
    questions.require(corpus.vocab, block_size)
    objective, rng = QuestionAnswer(corpus.vocab, block_size), np.random.default_rng(0)
    return _lines([objective(question, rng) for question in questions.answered[:n]], corpus.vocab, block_size)


def corruption_lines(corpus: Corpus, block_size: int, n: int, *, year: int, rng: np.random.Generator) -> list[str]:
    """x and y of pretraining examples of the first lines."""
    objective = make_objective("corruption-2021" if year < 2024 else "corruption-2024", corpus.vocab, block_size, {})
    lines = [line for line in corpus if line.text]
    return _lines([objective(line, rng) for line in lines[:n]], corpus.vocab, block_size)


def _lines(examples: list[Example], vocab: Vocab, block_size: int) -> list[str]:
    """Padded to the block first, then shifted: so x shows the last mask too, though nothing is predicted from it."""
    lines = []
    for example in examples:
        ids, targets = np.full((2, block_size), PAD_ID)
        ids[: len(example)] = example.ids
        targets[: len(example)] = np.where(example.counted, example.ids, PAD_ID)
        lines += [f"x: {vocab.decode(ids[:-1])}", f"y: {vocab.decode(targets[1:])}"]
    return lines
