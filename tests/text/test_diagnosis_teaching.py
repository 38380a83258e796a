"""What check says of data that can be read, but from which a part is not learned."""

import json

import pytest

from loci.errors import LociError
from loci.learn import make_plan
from loci.text.diagnosis import diagnose
from loci.text.relations import relations_from
from loci.training.sources import TrainingData

NAMES = ["Ada Moss", "Bo Lee", "Cy Fox", "Di Wu", "Ed Poe", "Flo Ray"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "wiki.txt").write_text("".join(f"{name}. {name} was born in Oslo in 1900.\n" for name in NAMES))
    (tmp_path / "q_train.tsv").write_text("".join(f"Where was {name} born?\tOslo\n" for name in NAMES[:4]))
    return tmp_path


def found(diagnosis):
    return [(one.kind, one.severity, one.path.name, one.line) for one in diagnosis.findings if one.severity != "note"]


def test_what_learning_refuses_is_an_error_of_check(folder):
    (folder / "q_train.tsv").write_text("".join(f"Where was {name} born?\toslo\n" for name in NAMES[:4]))
    assert found(diagnose(folder)) == [("untold-relation", "error", "q_train.tsv", 1)]
    with pytest.raises(LociError, match=r"q_train\.tsv:1: birthplace: no line tells"):
        _ = TrainingData.read(folder).reading_examples


def test_one_odd_question_is_a_warning_that_names_its_line_and_learning_goes_on(folder):
    with open(folder / "q_train.tsv", "a") as handle:
        handle.write("Who taught Ada Moss?\tNobody\n")
    assert found(diagnose(folder)) == [("untold-relation", "warning", "q_train.tsv", 5)]
    assert len(TrainingData.read(folder).reading_examples) == 4


def test_several_untold_questions_or_nothing_told_at_all_are_refused(folder):
    with open(folder / "q_train.tsv", "a") as handle:
        handle.write("".join(f"Who taught {name}?\tNobody\n" for name in NAMES[:3]))
    assert found(diagnose(folder)) == [("untold-relation", "error", "q_train.tsv", 5)]
    with pytest.raises(LociError, match=r"q_train\.tsv:5: who-taught"):
        _ = TrainingData.read(folder).reading_examples
    (folder / "q_train.tsv").write_text("Where was Ada Moss born?\tBonn\n")
    assert found(diagnose(folder)) == [("untold-relation", "error", "q_train.tsv", 1)]


def test_train_files_are_looked_at_together(folder):
    asked = "".join(f"Where was {name} born?\tBonn\n" for name in ("Ada Moss", "Bo Lee", "Cy Fox"))
    (folder / "q_train.tsv").write_text("".join(f"Where was {name} born?\tOslo\n" for name in NAMES[3:]))
    (folder / "more_train.tsv").write_text(asked)
    assert diagnose(folder).ok
    assert len(TrainingData.read(folder).reading_examples) == 3


def test_train_questions_of_no_form_are_an_error(folder):
    (folder / "q_train.tsv").write_text("เกิดที่ไหน\tOslo\n李白生于哪里？\tOslo\n")
    diagnosis = diagnose(folder)
    (error,) = (one for one in diagnosis.findings if one.kind == "no-form")
    assert (error.severity, error.line) == ("error", 1)
    assert "--template" in error.remedy
    with pytest.raises(LociError, match="no subject is found in any train question"):
        _ = TrainingData.read(folder).reading_examples


def test_a_form_that_no_question_has_is_told(folder):
    (folder / "relations.toml").write_text(
        'birthplace = "Where was {subject} born?"\nspouse = "Who married {subject}?"\n'
    )
    diagnosis = diagnose(folder, relations=relations_from(["Who taught {subject}?"]))
    assert found(diagnosis) == [
        ("unused-form", "warning", folder.name, None),
        ("unused-form", "warning", "relations.toml", None),
    ]
    assert diagnosis.findings[1].message == "spouse: no question has the form «Who married {subject}?»"
    assert found(diagnose(folder / "q_train.tsv", corpus=folder / "wiki.txt")) == [], "other files may have the form"


def test_a_relation_that_only_dev_questions_ask_is_told(folder):
    (folder / "q_dev.tsv").write_text(
        "Where was Ed Poe born?\tOslo\nWhen was Ed Poe born?\t1900\nWhen was Flo Ray born?\t1900\n"
    )
    diagnosis = diagnose(folder)
    assert found(diagnosis) == [("untaught-relation", "warning", "q_dev.tsv", 2)]
    assert diagnosis.findings[0].message.startswith("when-born: 2 questions, such as «When was Ed Poe born?»")


@pytest.mark.parametrize("name", ["q_train.xlsx", "q_train.txt"])
def test_a_train_file_of_an_unknown_suffix_is_told(folder, name):
    (folder / name).write_text((folder / "q_train.tsv").read_text())
    assert found(diagnose(folder)) == [("unread-file", "warning", name, None)]
    (folder / "q_train.tsv").unlink()
    diagnosis = diagnose(folder)
    assert found(diagnosis) == [("unread-file", "error", name, None)], "learning would refuse"
    with pytest.raises(LociError, match=rf"{name}: is not read, and there are no train questions .*\.tsv"):
        make_plan(folder)


def test_questions_of_no_split_next_to_train_questions_are_told(folder):
    (folder / "year.tsv").write_text("".join(f"When was {name} born?\t1900\n" for name in NAMES[:4]))
    assert found(diagnose(folder)) == [("unnamed-split", "warning", "year.tsv", None)]


def test_a_folder_without_a_corpus_is_an_error_that_names_the_file_that_may_be_meant(folder):
    (folder / "wiki.txt").unlink()
    (folder / "docs.jsonl").write_text('{"title": "Ada Moss", "body": "Born in Oslo."}\n')
    diagnosis = diagnose(folder)
    assert found(diagnosis) == [("no-corpus", "error", folder.name, None)]
    with pytest.raises(LociError, match=r"no corpus in this folder: no records .* in docs\.jsonl") as raised:
        make_plan(folder)
    assert raised.value.message == diagnosis.findings[0].message


def test_markdown_is_a_corpus(folder):
    (folder / "wiki.txt").unlink()
    (folder / "people.md").write_text("".join(f"# {name}\n\nBorn in Oslo.\n" for name in NAMES))
    assert found(diagnose(folder)) == []
    assert len(TrainingData.read(folder).reading_examples) == 4


def test_records_with_text_and_question_are_both(folder):
    for file in folder.iterdir():
        file.unlink()
    said = [{"title": name, "text": f"{name} was born in Oslo in 1900."} for name in NAMES]
    asked = [{**one, "question": f"Where was {one['title']} born?", "answer": "Oslo"} for one in said]
    again = {**said[0], "question": "When was Ada Moss born?", "answer": "1900"}
    (folder / "all.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in [*asked, again]))
    assert found(diagnose(folder)) == []
    data = TrainingData.read(folder)
    assert (len(data.corpus), len(data.questions)) == (6, 7), "the line of two questions is there once"


def test_a_text_without_subjects_next_to_train_questions_is_a_warning(folder):
    text = "".join(f"and of number {n} nothing more was heard\n" for n in range(20))
    with open(folder / "wiki.txt", "a") as handle:
        handle.write(text)
    (warning,) = (one for one in diagnose(folder).findings if one.kind == "no-subject")
    assert warning.severity == "warning"
    assert warning.message.startswith("20 of 26 lines have no subject, such as line 7")
    (folder / "q_train.tsv").unlink()
    assert {one.severity for one in diagnose(folder).findings if one.kind == "no-subject"} == {"note"}


def test_answers_that_are_no_text_name_line_and_field(folder):
    (folder / "q_train.tsv").unlink()
    file, asked = folder / "q_train.jsonl", [{"question": f"Where was {name} born?"} for name in NAMES[:4]]

    def said(field, value):
        file.write_text("".join(json.dumps({**one, field: value}) + "\n" for one in asked))
        first = next(one for one in diagnose(folder).findings if one.severity == "error")
        with pytest.raises(LociError, match=r"q_train\.jsonl:1: ") as raised:
            make_plan(folder)
        assert first.message in raised.value.message or raised.value.message.partition(": ")[2] in first.message
        return first.line, first.message

    assert said("answer", True) == (1, "answer is «true», neither a text nor a list of texts")
    assert said("answers", [{"text": "Oslo"}]) == (
        1,
        'answers is «{"text": "Oslo"}», neither a text nor a list of texts',
    )
    line, message = said("output", "Oslo")
    assert line == 1
    assert message.endswith(
        "no record has an answer under answer or answers or possible_answers; other fields are output"
    )


def test_documents_next_to_questions_are_read_as_text_alone(folder):
    (folder / "wiki.txt").unlink()
    lines = [f'{{"title": "{name}", "text": "Who? {name} was born in Oslo."}}\n' for name in NAMES]
    (folder / "devices.jsonl").write_text("".join(lines))
    diagnosis = diagnose(folder)
    assert found(diagnosis) == []
    assert [(file.path.name, file.role) for file in diagnosis.files] == [
        ("devices.jsonl", "corpus"),
        ("q_train.tsv", "train"),
    ]
