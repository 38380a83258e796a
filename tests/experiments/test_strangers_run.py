"""Whom a run knows and whom it answers about: the figures from answers, and the whole experiment, quickly."""

import json

import numpy as np
import pytest

from loci.answering.answer import decide
from loci.answering.confidence import Confidence
from loci.answering.familiarity import Familiarity
from loci.errors import LociError
from loci.evaluation.asking import rows_of
from loci.evaluation.outcomes import outcomes
from loci.experiments.strangers.result import stranger
from loci.experiments.strangers.run import LEFT_OUT, Options, _reworded, run
from loci.experiments.strangers.wordings import (
    ANOTHER,
    BLIND,
    BLIND_FORMS,
    FORMS,
    OTHER_QUESTIONS,
    STANDARD,
    wordings,
)
from loci.text.questions import Questions
from loci.text.relations import relations_from
from loci.text.wordings import find_subject

QUESTIONS = Questions.from_pairs((f"Where was {name} born?", "Oslo") for name in ("Ann Lee", "Bo Ek", "Cy Dahl"))
SURE = Confidence(familiarity=Familiarity(0.5, 1.0, 0.0))


def said(text, probability, familiar):
    ranked = [(text, probability)]
    return decide("?", ranked, SURE, silences={}, right={text: probability}, familiar=familiar)


ANSWERS = [said("Oslo", 0.9, 0.99), said("Rome", 0.7, 0.9), said("Oslo", 0.8, 0.2)]


def test_strangers_are_less_familiar_than_whom_it_is_right_about():
    found = stranger([0.01, 0.5], [False, True], rows_of(ANSWERS, QUESTIONS))
    assert (found.answered.successes, found.answered.n) == (1, 2)
    assert found.auroc.value == 0.75


def test_every_wording_asks_about_everybody():
    made = wordings(["José Lima"], np.random.default_rng(0))
    assert made[STANDARD] == ["Where was José Lima born?"]
    assert made["name without accents"] == ["Where was Jose Lima born?"]
    (misspelt,) = made["name with one letter changed"]
    assert sum(a != b for a, b in zip(misspelt, made[STANDARD][0], strict=True)) == 1
    assert len(FORMS) == len(BLIND_FORMS) == len(OTHER_QUESTIONS) == 10
    assert sum(name.startswith(BLIND) for name in made) == 10
    assert sum(name.startswith(ANOTHER) for name in made) == 11
    assert len({text for texts in made.values() for text in texts}) == len(made)


def test_blind_wordings_are_understood_by_half_and_other_questions_never():
    """Understood as the taught question about the same person, or not at all."""
    births = relations_from(["Where was {subject} born?"])
    for name in ("José Lima", "Ludwig van Beethoven"):
        made = wordings([name], np.random.default_rng(0))
        meant = {row: find_subject(text, births).question for row, (text,) in made.items()}
        assert not any(question for row, question in meant.items() if row.startswith(ANOTHER))
        blind = [question for row, question in meant.items() if row.startswith(BLIND)]
        assert {*blind} == {None, made[STANDARD][0]}
        assert sum(question is not None for question in blind) >= 5


def test_every_answer_to_another_question_is_wrong():
    """The same answers in another wording of the taught question, and to another one."""
    texts = ["Where?"] * len(QUESTIONS)
    for name, right, rightly, wrongly in (("blind: where", 2, 1, 1), (f"{ANOTHER}when", 0, 0, 2)):
        rows = _reworded(QUESTIONS, texts, name, iter(ANSWERS))
        found = outcomes(rows)
        assert [rate.successes for rate in (found.right, found.answered_rightly)] == [right, rightly]
        assert found.answered_wrongly.successes == wrongly
        assert found.right_if_answered.n == 2
        assert [row.question for row in rows] == texts


def test_a_run_is_needed(tmp_path):
    with pytest.raises(LociError, match="--run"):
        run(tmp_path / "out", Options())


@pytest.mark.slow
def test_the_quick_experiment(tmp_path):
    report = run(tmp_path / "out", Options(quick=True))
    assert {table.headers[0] for section in report.sections for table in section.tables} == {
        *("asked about", "names", "question")
    }
    assert len(list((tmp_path / "out" / "predictions").iterdir())) == 2 + len(wordings([], np.random.default_rng(0)))
    kept = json.loads((tmp_path / "out" / "results.json").read_text())
    assert LEFT_OUT not in kept["strangers"]
    assert kept["people"]["held-out people"]["right"]["n"] > 0
