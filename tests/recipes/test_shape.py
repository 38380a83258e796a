from pathlib import Path

from loci.recipes import DataShape
from loci.text.corpus import Corpus
from loci.text.questions import Question, Questions

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
