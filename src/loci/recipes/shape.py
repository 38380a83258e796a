"""What a recipe may know of the data before it is made: how much there is, and how the answers are spelled."""

from __future__ import annotations

from dataclasses import dataclass

from loci.text.corpus import Corpus
from loci.text.questions import Questions

NEARLY_ALL = 0.9


@dataclass(frozen=True)
class DataShape:
    """Sizes and spelling of the data a recipe is made for."""

    n_lines: int
    n_questions: int = 0
    named_answers: bool = False
    """Nearly all train answers are names, written with a capital: then the entity sketch of a line holds them."""

    @classmethod
    def of(cls, corpus: Corpus, questions: Questions | None = None) -> DataShape:
        """The shape of a corpus and its train questions."""
        answers = (
            [question.answer for question in questions.answered if question.answer] if questions is not None else []
        )
        capital = sum(all(word[:1].isupper() for word in answer.split()) for answer in answers)
        n_lines = sum(1 for line in corpus if line.text.strip())
        return cls(n_lines, len(answers), bool(answers) and capital >= NEARLY_ALL * len(answers))
