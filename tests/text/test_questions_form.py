from loci.text.questions import Questions
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
