from pathlib import Path

import pytest

from loci.recipes import DataShape, make_recipe
from loci.text.corpus import Corpus
from loci.text.questions import Question, Questions
from loci.training.plan import LabelStep

BOOKS = ("Red Roses", "Old Rivers", "Wild Stones")
CORPUS = Corpus.from_lines(f"{book}. {book} was written by Ana Lima in 190{n}." for n, book in enumerate(BOOKS))


def asked(*rows: tuple[str, str, str | None, str]) -> Questions:
    made = [
        Question(text, (answer,), subject, n, relation) for n, (text, answer, subject, relation) in enumerate(rows, 1)
    ]
    return Questions(Path("q.tsv"), tuple(made))


def test_questions_that_fit_no_form_are_no_relation():
    who = [(f"Who wrote {book}?", "Ana Lima", book, "who-wrote") for book in BOOKS]
    when = [(f"When was {book} written?", f"190{n}", book, "when-written") for n, book in enumerate(BOOKS)]
    odd = ("Why is the sky blue?", "foo", None, "")
    assert DataShape.of(CORPUS, asked(*who, *when, odd)).n_relations == 2
    assert DataShape.of(CORPUS, asked(odd)).n_relations == 0
    assert DataShape.of(CORPUS, asked(*who, odd)).n_questions == 4


def test_answers_that_no_line_holds_are_distant():
    """Then reciting also reads train people's own lines as they stand; else it reads more that does not tell."""
    quoted = [(f"Who wrote {book}?", "Ana Lima", book, "who-wrote") for book in BOOKS]
    shapes = {
        answer: DataShape.of(CORPUS, asked(*quoted[:2], (quoted[2][0], answer, BOOKS[2], "who-wrote")))
        for answer in ("Ana Lima", "Bo Ek")
    }
    assert [shape.distant_answers for shape in shapes.values()] == [False, True]
    stages = {answer: make_recipe("recite", shape).stages[1] for answer, shape in shapes.items()}
    for stage in stages.values():
        assert sum(part.share for part in stage.mixture) == pytest.approx(1)
    as_they_stand = {
        answer: [part for part in stage.mixture if part.options.get("subject") == 0] for answer, stage in stages.items()
    }
    assert not as_they_stand["Ana Lima"]
    assert as_they_stand["Bo Ek"]


def test_answers_before_what_is_said_of_them_are_read_in_lines_shown_twice():
    lines = [f"{book}. Ana Lima wrote {book}. It is {n}0 pages long." for n, book in enumerate(BOOKS)]
    who = [(f"Who wrote {book}?", "Ana Lima", book, "who-wrote") for book in BOOKS]
    leading = DataShape.of(Corpus.from_lines(lines), asked(*who))
    behind = DataShape.of(CORPUS, asked(*who))
    assert (leading.leading_answers, behind.leading_answers) == (True, False)
    for shape in (leading, behind):
        recipe = make_recipe("self-training", shape)
        reading = next(part for part in recipe.stages[0].mixture if part.objective == "reading")
        labels = next(step for step in recipe.steps if isinstance(step, LabelStep))
        assert reading.options.get("twice", False) is labels.options.get("twice", False) is shape.leading_answers
