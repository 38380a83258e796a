"""Where questions are lost, with a reader and a memory made up for each person."""

from types import SimpleNamespace

import pytest

from loci.evaluation.rows import Row
from loci.experiments.recall import funnel
from loci.experiments.recall.funnel import model_funnel
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.vocab import Vocab

PEOPLE = ("Untold", "Cut Off", "Misread", "Forgotten", "By Name", "Misquoted", "Right")
CORPUS = Corpus.from_lines(
    [
        "Untold. She was a singer .",
        "Cut Off. " + "He went on and on, " * 12 + "and was born in Rome .",
        *(f"{name}. Born in Rome ." for name in PEOPLE[2:]),
    ]
)
ASKED = Questions.from_pairs([(f"Where was {name} born?", "Rome") for name in PEOPLE])


def rows(*right):
    said = {name: "Rome" if name in right else "Oslo" for name in PEOPLE}
    return [
        Row(question=row.text, prediction=said[row.subject], answers=row.answers, subject=row.subject) for row in ASKED
    ]


def loaded(recites):
    stage = {"mixture": [{"objective": "memorize" if recites else "reading", "options": {"line_format": "line"}}]}
    return SimpleNamespace(
        answerer="recite" if recites else "direct",
        config={"recipe": {"steps": [stage]}},
        vocab=Vocab.from_text(CORPUS.raw + "Where was born?"),
        model=SimpleNamespace(config=SimpleNamespace(block_size=160)),
    )


def named(steps):
    return {step.name: step.kept.successes for step in steps}


@pytest.fixture
def reader(monkeypatch):
    """Everybody's place is read rightly but one's."""

    def read(model, vocab, prompts, bodies):
        shown = [vocab.decode(prompt) for prompt in prompts]
        return [[("Oslo" if "Misread" in text else "Rome", 1.0)] for text in shown]

    monkeypatch.setattr(funnel, "score_spans", read)


def test_each_step_loses_whom_it_should(reader, monkeypatch):
    def line(name):
        return f"{name}. A singer ." if name == "Forgotten" else f"{name}. Born in Rome ."

    def answer(asked):
        return [SimpleNamespace(recited=line(q.subject), subject=q.subject) for q in asked]

    monkeypatch.setattr(funnel, "make_answerer", lambda loaded: SimpleNamespace(answer=answer))
    assert named(model_funnel(loaded(recites=True), ASKED, rows("Right"), CORPUS)) == {
        "asked": 7,
        "in the corpus": 6,
        "in the text read": 5,
        "readable": 4,
        "recited": 3,
        "answered rightly": 1,
    }


def test_a_model_that_labels_is_held_to_what_it_wrote():
    wrote = [(row.text, "Oslo" if row.subject == "Misread" else "Rome") for row in ASKED]
    steps = model_funnel(
        loaded(recites=False), ASKED, rows("Right", "Misquoted", "Untold"), CORPUS, labels=Questions.from_pairs(wrote)
    )
    assert named(steps) == {
        "asked": 7,
        "in the corpus": 6,
        "in the text read": 5,
        "readable": 4,
        "answered rightly": 2,  # who is right without a line to read it in has passed no step
    }
