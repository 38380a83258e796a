from dataclasses import replace

from loci.evaluation.error_kinds import error_funnel
from loci.evaluation.rows import Row
from loci.text.corpus import Corpus
from loci.text.questions import Questions


def row(subject, prediction, answer, **more):
    return Row(f"Where was {subject} born?", prediction, answers=(answer,), subject=subject, **more)


CORPUS = Corpus.from_lines(
    ["A A. A A is from Oslo .", "B B. B B is from Rome .", "C C. C C sings .", "D D. D D is from Bern ."]
)
ROWS = [
    row("A A", "Oslo", "Oslo", probability=0.9),
    row("B B", "Oslo", "Rome", probability=0.5, alternatives=(("Rome", 0.4),)),
    row("C C", "Oslo", "Oslo", probability=0.3),
    row("D D", "Oslo", "Bern", probability=0.3),
    row("E E", "Oslo", "Bern", probability=0.3),
]


def test_each_step_keeps_what_passed_all_before_it():
    found = error_funnel(ROWS, CORPUS)
    assert [(step.name, step.kept.successes) for step in found.steps] == [
        ("asked", 5),
        ("person in the text", 4),
        ("answer written there", 3),
        ("model thinks of it", 2),
        ("answered rightly", 1),
    ]
    assert found.right_unwritten.successes == 1


def test_what_is_right_and_withheld_is_lost_at_the_last_step():
    found = error_funnel([ROWS[0], replace(ROWS[0], abstained=True), ROWS[1]], CORPUS)
    assert [(step.name, step.kept.successes) for step in found.steps[-3:]] == [
        ("model thinks of it", 3),
        ("its best answer", 2),
        ("answered rightly", 1),
    ]


def test_without_alternatives_and_with_a_window():
    found = error_funnel([ROWS[0], ROWS[3]], CORPUS, window=6)
    assert [(step.name, step.kept.successes) for step in found.steps[-2:]] == [
        ("within 6 characters", 0),
        ("answered rightly", 0),
    ]
    assert found.right_unwritten.successes == 0
    assert error_funnel([], CORPUS).steps[0].kept.n == 0


def test_the_course_error_funnel(course_data):
    corpus = Corpus.read(course_data / "wiki.txt")
    questions = Questions.read(course_data / "birth_dev.tsv")
    rows = [Row(q.text, "London", answers=q.answers, subject=q.subject) for q in questions]
    steps = {step.name: step.kept for step in error_funnel(rows, corpus, window=112).steps}
    assert steps["answer written there"].successes == 479
    assert steps["within 112 characters"].successes == 462
    assert steps["asked"].n == 500
