import csv
import io

import pytest

from loci.errors import LociError
from loci.text.diagnosis import diagnose
from loci.text.questions import Questions
from loci.text.repair import write_repaired
from loci.text.template import BIRTHPLACE


def test_questions_of_another_form_tell_their_subjects_too(tmp_path):
    file = tmp_path / "work_train.tsv"
    file.write_text("What did Ann Lee do?\tpainter\nWhat did Bo Berg do?\tsinger\n", encoding="utf-8")
    read = Questions.read(file)
    assert [relation.templates[0].text for relation in read.relations] == ["What did {subject} do?"]
    assert read.subjects == ("Ann Lee", "Bo Berg")


def test_one_question_that_fits_keeps_the_usual_form(tmp_path):
    file = tmp_path / "mixed_train.tsv"
    file.write_text("Where was Ann Lee born?\tRome\nWhat did Bo Berg do?\tsinger\n", encoding="utf-8")
    read = Questions.read(file)
    assert [relation.templates for relation in read.relations] == [(BIRTHPLACE,)]
    assert [row.subject for row in read] == ["Ann Lee", None]


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("header", [("question", "answer"), ()])
def test_a_spreadsheets_table_is_read_and_repaired_in_its_form(tmp_path, separator, header):
    rows = [("Where was Ada Moss born?", "Oslo"), ("Where was Bell, the; painter, born?", 'the "Cork"')]
    written = io.StringIO()
    csv.writer(written, delimiter=separator, lineterminator="\n").writerows([header, *rows] if header else rows)
    file = tmp_path / "birth_train.csv"
    file.write_text(written.getvalue())
    assert [(row.text, row.answer) for row in Questions.read(tmp_path, split="train")] == rows
    file.write_text(written.getvalue().replace("Oslo", "Os\u2047lo"))
    write_repaired(diagnose(tmp_path), tmp_path / "out")
    assert (tmp_path / "out" / file.name).read_text() == written.getvalue()


def test_a_spreadsheets_accepted_answers_and_its_extra_cells(tmp_path):
    file = tmp_path / "birth.csv"
    file.write_text('question,answers\nWhere was Ada born?,"[""Oslo"", ""Christiania""]"\n')
    assert Questions.read(file)[0].answers == ("Oslo", "Christiania")
    file.write_text("Where was Ada born?,Oslo\nWhere was Bo born?,Bonn, Germany\n")
    with pytest.raises(LociError, match=r"birth\.csv:2: 2 columns after the question"):
        Questions.read(file)


@pytest.mark.parametrize("name", ["q_train.tsv", "q_train.csv"])
@pytest.mark.parametrize(
    ("header", "said"),
    [
        (("question", "relation", "answr"), "the column answr is not known: answers need the name answer or answers"),
        (("question", "anwser"), "the column anwser is not known"),
        (("question", "id", "place", "year"), "the columns place, year are not known"),
    ],
)
def test_a_column_that_is_not_known_is_named_where_answers_are_missing(tmp_path, name, header, said):
    rows = [header, ("Where was Ada born?", *["Oslo"] * (len(header) - 1))]
    separator = "\t" if name.endswith("tsv") else ","
    (tmp_path / name).write_text("".join(f"{separator.join(row)}\n" for row in rows))
    (error,) = (found for found in diagnose(tmp_path / name).findings if found.severity == "error")
    assert (error.kind, error.line) == ("no-answer", 1)
    assert f"no line has an answer, and train questions need one: {said}" in error.message


def test_columns_next_to_the_answers_may_have_any_name(tmp_path):
    (tmp_path / "q_train.tsv").write_text("question\tplace\tanswer\nWhere was Ada born?\tx\tOslo\n")
    assert {found.kind for found in diagnose(tmp_path / "q_train.tsv").findings} == {"no-corpus"}
