import json

import pytest

from loci.errors import LociError
from loci.evaluation.external_predictions import read_external
from loci.evaluation.metrics import exact_match
from loci.text.questions import Questions

QUESTIONS = Questions.from_pairs(
    [("Where was A born?", "Oslo"), ("Where was B born?", "Rome"), ("Where was C born?", "Bern")]
)


def read(tmp_path, text, questions=QUESTIONS):
    path = tmp_path / "answers"
    path.write_text(text, encoding="utf-8")
    return read_external(path, questions)


def test_a_table_in_another_order_with_probabilities(tmp_path):
    text = "Where was C born?\tBern\t0.5\nWhere was A born?\tOslo\t1\n\nWhere was B born?\t\t0\n"
    rows = read(tmp_path, text)
    assert [(row.subject, row.prediction, row.probability) for row in rows] == [
        ("A", "Oslo", 1.0),
        ("B", "", 0.0),
        ("C", "Bern", 0.5),
    ]
    assert exact_match(rows).successes == 2


def test_a_header_is_passed_over(tmp_path):
    text = "question\tprediction\n" + "".join(f"{q.text}\tOslo\n" for q in QUESTIONS)
    assert exact_match(read(tmp_path, text)).successes == 1


def test_one_prediction_a_line_as_the_course_writes_them(tmp_path):
    rows = read(tmp_path, "Oslo\n\nBern\n")
    assert [row.prediction for row in rows] == ["Oslo", "", "Bern"]
    assert rows[1].answers == ("Rome",)


def test_json_lines_with_and_without_questions(tmp_path):
    text = "".join(json.dumps({"prediction": p, "probability": 0.25}) + "\n" for p in ("Oslo", "x", "y"))
    assert [row.question for row in read(tmp_path, text)] == [q.text for q in QUESTIONS]
    named = "".join(
        json.dumps({"question": q.text, "prediction": q.answer, "group": "g"}) + "\n" for q in list(QUESTIONS)[::-1]
    )
    rows = read(tmp_path, named)
    assert exact_match(rows).successes == 3
    assert rows[0].group == "g"


def test_a_question_asked_twice_is_answered_twice(tmp_path):
    twice = Questions.from_pairs([("Where was A born?", "Oslo"), ("Where was A born?", "Rome")])
    rows = read(tmp_path, "Where was A born?\tOslo\nWhere was A born?\tRome\n", twice)
    assert exact_match(rows).successes == 2


A, B, C = (q.text for q in QUESTIONS)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"{A}\tOslo\t0.5\n{B}\tRome\t1.5\n{C}\tBern\t0\n", 2, "1.5 is not between 0 and 1"),
        (f"{A}\tOslo\t0.5\n{B}\tRome\thigh\n", 2, "«high» is not a number"),
        (f"{A}\tOslo\t0.5\n{B}\tRome\n", 2, "has 2 columns, the rows before it 3"),
        (f"{A}\tOslo\t0.5\tx\n", 1, "has 4 columns"),
        (f"{A}\tOslo\n\tRome\n{C}\tBern\n", 2, "question is empty"),
        (f"{A}\tOslo\n{B}\tRome\nWhere was D born?\tBern\n", 3, "is not asked"),
        (f"{A}\tOslo\n{B}\tRome\n{C}\tBern\n{A}\tRome\n", 4, "answered again"),
        (f"{A}\tOslo\n{B}\tRome\n", None, "2 predictions for 3 questions: none for «Where was C born"),
        ("Oslo\nRome\n", 2, "2 predictions for 3 questions"),
        ("Oslo\nRome\nBern\nBonn\n", 4, "4 predictions for 3 questions"),
        ('{"prediction": "a"}\n{"answer": "b"}\n', 2, "'prediction' is missing"),
        ('{"prediction": "a"}\n{"prediction": "b", "probability": 7}\n', 2, "7 is not between"),
        ('{"prediction": "a"}\n{"prediction": \n', 2, "not valid JSON"),
        ('{"prediction": "a"}\n[1]\n', 2, "JSON object"),
        (f'{{"prediction": "a", "question": "{A}"}}\n{{"prediction": "b"}}\n', 2, "has no question"),
        ("\n\n", None, "holds no predictions"),
        ("question\tprediction\n", None, "holds no predictions"),
    ],
)
def test_bad_rows_are_named_by_line(tmp_path, text, line, message):
    with pytest.raises(LociError, match=message) as caught:
        read(tmp_path, text)
    assert caught.value.line == line
    assert caught.value.path == tmp_path / "answers"
