import pytest

from loci.errors import LociError
from loci.learn import make_plan
from loci.text.corpus import Corpus
from loci.text.diagnosis import diagnose
from loci.text.questions import Questions
from loci.text.repair import write_repaired
from loci.text.unread import unread

SAID = "Blue Ponies. Blue Ponies was written by Bo Lee.\n"


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "data"
    made.mkdir()
    (made / "wiki.txt").write_text(
        "Red Roses. Red Roses was written by Ana Lima.\nOld Roses. Old Roses was written by Cy Dow.\n"
    )
    (made / "q_train.tsv").write_text("Who wrote Red Roses?\tAna Lima\nWho wrote Old Roses?\tCy Dow\n")
    assert not diagnose(made).findings
    return made


def told(folder):
    return [(one.kind, one.severity, one.path.name) for one in diagnose(folder).findings if one.severity != "note"]


@pytest.mark.parametrize("name", ["more.text", "more.rst", "more.HTML", "more.txt.gz", "more.tsv.zip"])
def test_a_text_of_another_form_is_named(folder, name):
    (folder / name).write_text(SAID)
    assert told(folder) == [("unread-form", "warning", name)]


@pytest.mark.parametrize("name", ["README.rst", "plot.png", "model.gz", "notes.toml"])
def test_what_is_about_the_data_or_no_data_is_not(folder, name):
    (folder / name).write_text(SAID)
    assert told(folder) == []


@pytest.mark.parametrize("name", ["more.txt", "more.md", "q.jsonl", "q.tsv", "docs.csv", "relations.toml", "q_dev.tsv"])
def test_a_link_that_leads_nowhere_is_named(folder, name):
    (folder / name).symlink_to("/nonexistent/x")
    assert told(folder) == [("broken-link", "warning", name)]
    (folder / name).unlink()
    (folder / name).symlink_to(folder / name)
    assert told(folder) == [("broken-link", "warning", name)]


def test_a_folder_with_the_name_of_a_file_is_named(folder):
    (folder / "q_dev.tsv").mkdir()
    (folder / "relations.toml").mkdir()
    assert told(folder) == [("folder-for-file", "warning", name) for name in ("q_dev.tsv", "relations.toml")]


def test_texts_in_a_folder_of_the_folder_are_named_and_what_loci_writes_is_not(folder):
    for name in ("texts", "clean", "wiki.txt.compiled", "lists"):
        (folder / name).mkdir()
        (folder / name / "more.txt").write_text(SAID if name != "lists" else "Oslo\nRome\n")
    (folder / "clean" / "repairs.tsv").write_text("file\tline\tkind\tbefore\tafter\n")
    (folder / "self").symlink_to(folder)
    assert told(folder) == [("unread-folder", "warning", "texts")]
    (found,) = unread(folder, [folder / "wiki.txt", folder / "q_train.tsv"])
    assert found.message == "is not read: a folder with texts, such as texts/more.txt"


def test_what_is_no_text_is_not_said_to_lack_sentences(folder):
    (folder / "more.txt").write_bytes(b"\0\1\2\3" * 20)
    (found,) = unread(folder, [folder / "wiki.txt", folder / "q_train.tsv"])
    assert found.message == "is not read: contains NUL bytes: not text, or UTF-16 without a byte-order mark"


@pytest.mark.parametrize("how", ["folder", "link"])
def test_check_says_what_learning_refuses(folder, how):
    (folder / "q_train.tsv").unlink()
    assert told(folder) == [], "a corpus alone may be checked"
    if how == "folder":
        (folder / "q_train.tsv").mkdir()
    else:
        (folder / "q_train.tsv").symlink_to("/nonexistent/x")
    kind = {"folder": "folder-for-file", "link": "broken-link"}[how]
    assert told(folder) == [(kind, "error", "q_train.tsv")]
    with pytest.raises(LociError, match=r"q_train\.tsv: is not read, and there are no train questions"):
        make_plan(folder)


def test_relations_toml_may_be_written_in_capitals(folder, tmp_path):
    (folder / "Relations.TOML").write_text('author = "Who wrote {subject}?"\nyear = "When was {subject} written?"\n')
    assert {row.relation for row in Questions.read(folder, split="train")} == {"author"}
    assert told(folder) == [("unused-form", "warning", "Relations.TOML")]
    assert write_repaired(diagnose(folder), tmp_path / "out").copied == ("Relations.TOML",)
    (folder / "relations.toml").write_text('writer = "Who wrote {subject}?"\n')
    assert {row.relation for row in Questions.read(folder, split="train")} == {"writer"}


def test_a_form_that_relations_toml_gives_twice_is_told(folder):
    (folder / "relations.toml").write_text('author = "Who wrote {subject}?"\nwriter = "Who wrote {subject}?"\n')
    assert told(folder) == [("shared-form", "warning", "relations.toml")]


DOCUMENTS = (
    'id,title,text\n1,Blue Ponies,"Blue Ponies was written by ""Bo"" Lee, in Rome.\n\nIt burned."\n2,Green Dogs,No.\n'
)


def test_a_table_of_documents_is_read_and_repaired_in_its_form(folder, tmp_path):
    file = folder / "docs.csv"
    file.write_text(DOCUMENTS)
    lines = [(line.number, line.subject, line.text) for line in Corpus.read(file)]
    assert lines == [
        (2, "Blue Ponies", 'Blue Ponies. Blue Ponies was written by "Bo" Lee, in Rome.'),
        (2, "Blue Ponies", "Blue Ponies. It burned."),
        (5, "Green Dogs", "Green Dogs. No."),
    ]
    assert told(folder) == []
    assert set(Corpus.read(folder).by_subject) == {"Red Roses", "Old Roses", "Blue Ponies", "Green Dogs"}
    file.write_text(DOCUMENTS.replace("burned", "bur⁇ned") + "3,Odd Cats,They ran, and sat.\n4,,Nobody.\n\n")
    errors = [(kind, name) for kind, severity, name in told(folder) if severity == "error"]
    assert errors == [(kind, "docs.csv") for kind in ("extra-column", "special-symbol", "unknown-record")]
    write_repaired(diagnose(folder), tmp_path / "out")
    assert (tmp_path / "out" / "docs.csv").read_text() == DOCUMENTS
    assert not diagnose(tmp_path / "out").changes


def test_a_table_with_questions_is_no_table_of_documents(folder):
    (folder / "more_dev.csv").write_text("title,text,question,answer\nRed,Roses,Who wrote Old Roses?,Cy Dow\n")
    assert [(file.role, file.form) for file in diagnose(folder).files][1:] == [("train", "tsv"), ("dev", "csv")]
