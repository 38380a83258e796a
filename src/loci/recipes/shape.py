"""What a recipe may know of the data before it is made: how much there is, and how the answers are spelled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from loci.text.corpus import Corpus, line_lengths
from loci.text.match import any_stands_in, spans_of
from loci.text.questions import Question, Questions

NEARLY_ALL = 0.9
NEARLY_EVERY_LINE = 0.98
OFTEN = 0.2
SOMETIMES = 0.02
LEADING = 0.05
SAMPLE = 10_000
"""Questions that tell how facts are spread over lines; of more than this, some are looked at."""


@dataclass(frozen=True)
class DataShape:
    """Sizes and spelling of the data a recipe is made for."""

    n_lines: int
    n_questions: int = 0
    named_answers: bool = False
    """Nearly all train answers are names, written with a capital: then the entity sketch of a line contains them."""
    n_subjects: int = 0
    n_relations: int = 0
    question_length: float = 0.0
    """Characters of a question with its answer, on average."""
    line_length: float = 0.0
    """Characters of all lines about a subject, on average."""
    longest: int = 0
    """Characters of nearly every line together with the longest question."""
    spread: bool = False
    """Facts are spread over several lines about a subject: a line alone often does not tell."""
    distant_answers: bool = False
    """Some train answers stand in no line about their subject, as under distant supervision: they go by more than the
    lines say, also where a line names several places."""
    leading_answers: bool = False
    """Some train answers begin their sentence, before what is said of them: "Ada Lind designed the desk"."""

    @classmethod
    def of(cls, corpus: Corpus, questions: Questions | None = None) -> DataShape:
        """The shape of a corpus and its train questions."""
        asked = questions.answered if questions is not None else ()
        apart = 1 + len(asked) // SAMPLE
        n = capital = characters = longest = spread = elsewhere = leading = 0
        relations = set()
        for index, question in enumerate(asked):  # there may be a million: once through
            if question.answer:
                n += 1
                capital += all(word[:1].isupper() for word in question.answer.split())
            if question.relation:  # a few that fit no form are no relation of their own
                relations.add(question.relation)
            characters += question.example_length()
            longest = max(longest, len(question.text))
            if index % apart == 0:
                told = _telling(corpus, question)
                spread += 0 < sum(told) < len(told)
                elsewhere += bool(told) and not any(told)
                leading += _leads(corpus, question)
        lengths = np.sort(line_lengths(corpus.filled))
        subjects = len(corpus.by_subject)
        return cls(
            len(lengths),
            n,
            n > 0 and capital >= NEARLY_ALL * n,
            subjects,
            len(relations),
            characters / max(1, len(asked)),
            float(lengths.sum()) / max(1, subjects),
            (int(lengths[int(NEARLY_EVERY_LINE * (len(lengths) - 1))]) if len(lengths) else 0) + longest,
            spread > OFTEN * -(-len(asked) // apart),
            elsewhere > SOMETIMES * -(-len(asked) // apart),
            leading > LEADING * -(-len(asked) // apart),
        )


def _telling(corpus: Corpus, question: Question) -> list[bool]:
    """Whether each line about the question's subject tells the answer."""
    lines = corpus.about(question.subject) if question.subject is not None else ()
    return [any_stands_in([line.body], question.answers) for line in lines]


def _leads(corpus: Corpus, question: Question) -> bool:
    """Whether a line about the question's subject has the answer at the beginning of a sentence."""
    lines = corpus.about(question.subject) if question.subject is not None else ()
    return any(
        start == 0 or line.body[:start].rstrip().endswith((".", "!", "?"))
        for line in lines
        for answer in question.answers
        for start, _ in spans_of(line.body, answer)
    )
