"""What check says of data that can be read, but from which a part is not learned."""

import pytest

from loci.errors import LociError
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


def test_a_train_file_of_an_unknown_suffix_is_told(folder):
    (folder / "q_train.tsv").rename(folder / "q_train.csv")
    assert found(diagnose(folder)) == [("unread-file", "warning", "q_train.csv", None)]


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
