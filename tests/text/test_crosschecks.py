import pytest

from loci.errors import LociError
from loci.text.corpus import Corpus
from loci.text.crosschecks import require_told, untold
from loci.text.questions import Questions
from loci.text.relations import relations_from

LINES = [f"{name}. {name} was born in Rome (Italy) on May 12, 1901 ." for name in ("Ada Moss", "Bo Lind", "Cy Berg")]
CORPUS = Corpus.from_lines(LINES)


def asked(answer):
    pairs = [(f"Where was {line.subject} born?", answer) for line in CORPUS]
    return Questions.from_pairs(pairs)


@pytest.mark.parametrize("answer", ["Rome", "Italy", "May 12, 1901"])
def test_answers_that_can_be_quoted_are_no_trouble(answer):
    assert untold([asked(answer)], CORPUS) == []


@pytest.mark.parametrize("answer", ["Rome (Italy)", "Rome (Italy"])
def test_an_answer_in_its_line_that_is_no_run_of_words_is_a_warning_and_no_error(answer):
    (found,) = untold([asked(answer)], CORPUS)
    assert (found.kind, found.severity, found.line) == ("unquotable-answer", "warning", 1)
    assert "3 answers stand in their lines, but are no runs of words" in found.message
    assert f"«{answer}»" in found.message
    require_told(asked(answer), CORPUS)


def test_of_several_files_the_one_with_the_untold_relation_is_named(tmp_path):
    (tmp_path / "a_train.tsv").write_text("".join(f"Where was {line.subject} born?\tRome\n" for line in CORPUS))
    (tmp_path / "b_train.tsv").write_text("".join(f"Who married {line.subject}?\tJoe\n" for line in CORPUS))
    questions = Questions.read(tmp_path, split="train", subjects=CORPUS.by_subject)
    with pytest.raises(LociError) as error:
        require_told(questions, CORPUS)
    assert (error.value.path, error.value.line) == (tmp_path / "b_train.tsv", 1)


def test_where_no_form_is_found_the_remedy_is_a_template():
    questions = Questions.from_pairs([("เกิดที่ไหน", "Rome"), ("李白生于哪里？", "Rome")])
    with pytest.raises(LociError, match="no subject is found in any train question") as error:
        require_told(questions, CORPUS)
    assert "--template" in error.value.remedy


def test_an_untold_relation_names_the_line_that_tells_it_of_another():
    corpus = Corpus.from_lines(["Bo Lind designed the Delta Desk.", "Cy Berg sang in Rome."])
    questions = Questions.from_pairs([("Who designed the Delta Desk?", "Bo Lind"), ("Who designed the Ark?", "Cy")])
    (found,) = untold([questions], corpus)
    assert found.kind == "untold-relation"
    assert found.message.endswith("«Who designed the Delta Desk?»: line 1 names it, but is about «Bo Lind»")


def test_a_form_that_asks_two_relations_is_doubtful(tmp_path):
    row = '{{"question": "Tell me of {0}.", "answer": "Rome", "relation": "{1}"}}\n'
    text = "".join(row.format(line.subject, name) for line in CORPUS for name in ("place", "town"))
    (tmp_path / "q_train.jsonl").write_text(text)
    (found,) = untold([Questions.read(tmp_path / "q_train.jsonl")], CORPUS)
    assert (found.kind, found.severity) == ("shared-form", "warning")
    assert "«Tell me of {subject}.» asks place and town" in found.message


@pytest.mark.parametrize(
    ("forms", "doubtful"),
    [
        (["Where is the delta {subject} made?", "Where is the comet {subject} made?"], True),
        (["Where is the {subject} desk made?", "Where is the {subject} lamp made?"], True),
        (["Where is the {subject} made?", "Where is the {subject} sold?"], False),
        (["Who wrote {subject}?", "Who sang {subject}?"], False),
        (["Where is a {subject} made?", "Where is the {subject} made?"], False),
    ],
)
def test_forms_that_seem_to_hold_a_part_of_the_names_are_doubtful(forms, doubtful):
    pairs = [(form.replace("{subject}", line.subject), "Rome") for form in forms for line in CORPUS]
    found = untold([Questions.from_pairs(pairs, relations=relations_from(forms))], CORPUS)
    assert [one.kind for one in found] == ["alike-forms"] * doubtful
