import json

import pytest

from loci.errors import LociError
from loci.text.corpus import Corpus
from loci.text.diagnosis import diagnose
from loci.text.findings import Notes
from loci.text.formats import json_text
from loci.text.questions import Questions
from loci.text.relations import relations_from
from loci.text.repair import write_repaired
from loci.text.source import Source

FACTS = {"place_of_birth": "Oslo", "date_of_birth": "1900", "place_of_death": "Cork"}
BORN, DIED = "In which town was {subject} born?", "In which town did {subject} die?"


def records(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def fact(predicate, answer, subject="Ada Moss"):
    return {"sub_label": subject, "obj_label": answer, **predicate}


@pytest.fixture
def google_re(tmp_path):
    for name, answer in FACTS.items():
        (tmp_path / f"{name}_test.jsonl").write_text(records(fact({"pred": f"/people/person/{name}"}, answer)))
    return tmp_path


def asked(folder, *templates):
    questions = Questions.read(folder, split="test", relations=relations_from(templates))
    return {(row.relation, row.text, row.answer) for row in questions}


def test_a_template_asks_the_facts_of_its_own_predicate(google_re):
    assert asked(google_re, "Where was {subject} born?") == {
        ("birthplace", "Where was Ada Moss born?", "Oslo"),
        ("date_of_birth", "When was Ada Moss born?", "1900"),
        ("place_of_death", "Where did Ada Moss die?", "Cork"),
    }


def test_relations_toml_names_the_predicates_it_asks(google_re):
    (google_re / "relations.toml").write_text(f'place_of_birth = "{BORN}"\nplace_of_death = "{DIED}"\n')
    assert asked(google_re) == {
        ("place_of_birth", BORN.format(subject="Ada Moss"), "Oslo"),
        ("date_of_birth", "When was Ada Moss born?", "1900"),
        ("place_of_death", DIED.format(subject="Ada Moss"), "Cork"),
    }


@pytest.mark.parametrize("name", ["P19", "place_of_birth", "birthplace"])
def test_a_property_of_wikidata_has_several_names(tmp_path, name):
    file = tmp_path / "facts.jsonl"
    file.write_text(records(fact({"predicate_id": "P19"}, "Oslo"), fact({"predicate_id": "P1303"}, "violin")))
    (tmp_path / "relations.toml").write_text(f'{name} = "{BORN}"\n')
    assert [(row.relation, row.text) for row in Questions.read(file)] == [
        (name, BORN.format(subject="Ada Moss")),
        ("what-instrument", "What is the instrument of Ada Moss?"),
    ]


def test_a_single_relation_serves_one_predicate_of_another_name_and_not_several(tmp_path):
    file = tmp_path / "facts.jsonl"
    file.write_text(records(fact({"predicate_id": "P19"}, "Oslo")))
    assert [row.relation for row in Questions.read(file, relations=relations_from(["Which town is {subject} from?"]))]
    file.write_text(records(fact({"predicate_id": "P19"}, "Oslo"), fact({"predicate_id": "P20"}, "Cork")))
    both = Questions.read(file, relations=relations_from(["Which town is {subject} from?"]))
    assert [row.relation for row in both] == ["birthplace", "where-die"]


def test_every_property_has_a_form_of_its_own(tmp_path):
    from loci.text.formats.google_re import _PROPERTIES

    file = tmp_path / "facts.jsonl"
    file.write_text(records(*(fact({"predicate_id": name}, "x") for name in _PROPERTIES)))
    questions = Questions.read(file)
    assert len({row.text for row in questions}) == len({row.relation for row in questions}) == len(_PROPERTIES)


def popqa(answers, **fields):
    return {"subj": "Bo Lee", "prop": "occupation", "question": "What is Bo Lee's occupation?", **fields} | {
        "possible_answers": answers
    }


def test_answers_may_be_a_list_that_is_written_as_text(tmp_path):
    file = tmp_path / "popqa.jsonl"
    file.write_text(records(popqa('["politician", "mayor"]'), popqa("poet", subj="Di Wu")))
    assert [row.answers for row in Questions.read(file)] == [("politician", "mayor"), ("poet",)]
    file.write_text(records(popqa('["politician", ')))
    with pytest.raises(LociError, match=r":1: the answers are not a JSON list"):
        Questions.read(file)


def test_a_single_answer_in_brackets_is_no_list(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text(records({"question": "Who?", "answer": "[sic"}))
    assert [row.answers for row in Questions.read(file)] == [("[sic",)]


def test_a_list_as_text_is_repaired_once(tmp_path):
    file = tmp_path / "popqa.jsonl"
    file.write_text(records(popqa('[" politi\u2047cian", "mayor"]', id=7)))
    write_repaired(diagnose(file), tmp_path / "out")
    again = diagnose(tmp_path / "out" / "popqa.jsonl")
    assert again.changes == ()
    assert json.loads((tmp_path / "out" / "popqa.jsonl").read_text()) == popqa(["politician", "mayor"], id=7)


@pytest.mark.parametrize("toml", ["", f'birthplace = "{BORN}"\nyear = "Since when is {{subject}} there?"\n'])
@pytest.mark.parametrize("name", ["facts_train.jsonl", "facts_train.tsv"])
def test_subject_relation_and_answer_are_a_question(tmp_path, name, toml):
    rows = [("Ada Moss", "birthplace", "Oslo"), ("Ada Moss", "year", "1900"), ("Bo Lee", "birthplace", "Rome")]
    fields = ("subject", "relation", "answer")
    table = "".join("\t".join(row) + "\n" for row in [fields, *rows])
    lines = records(*(dict(zip(fields, row, strict=True)) for row in rows))
    (tmp_path / name).write_text(table if name.endswith(".tsv") else lines)
    (tmp_path / "relations.toml").write_text(toml)
    asked = (
        BORN if toml else "Where was {subject} born?",
        "Since when is {} there?" if toml else "What is the year of {}?",
    )
    found = Questions.read(tmp_path, split="train")
    assert [(row.subject, row.relation, row.answer) for row in found] == rows
    assert [row.text for row in found][:2] == [asked[0].format(subject="Ada Moss"), asked[1].format("Ada Moss")]
    assert write_repaired(diagnose(tmp_path), tmp_path / "out").changes == ()
    assert (tmp_path / "out" / name).read_text() == (tmp_path / name).read_text()


def test_a_fact_without_subject_or_relation_is_told(tmp_path):
    (tmp_path / "a.tsv").write_text("subject\trelation\tanswer\nAda\t\tOslo\n\tjob\tpoet\nBo\tjob\tpoet\n")
    assert [(one.line, one.message) for one in diagnose(tmp_path / "a.tsv").findings if one.severity == "error"] == [
        (2, "no relation, and no question"),
        (3, "no subject, and no question"),
    ]
    (tmp_path / "a.jsonl").write_text(records({"subject": "Ada", "answer": "Oslo"}))
    with pytest.raises(
        LociError, match=r":1: no question and no subject with a relation .*subject, relation and answer"
    ):
        Questions.read(tmp_path / "a.jsonl")


def test_headings_and_the_title_again_are_no_lines_of_a_document(tmp_path):
    text = "Ada Moss\n# Ada Moss\n\nShe was born in Oslo.\n## Death\n== Later ==\n##\nAda Moss.\n#1 is her best song."
    (tmp_path / "docs.jsonl").write_text(records({"title": "Ada Moss", "text": text}))
    assert [line.text for line in Corpus.read(tmp_path)] == [
        "Ada Moss. She was born in Oslo.",
        "Ada Moss. #1 is her best song.",
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"title": "Ada", "text": "She s', 'Unterminated string starting at «"She s»'),
        ('{"title": "Ada", "text": "She \ts"}', 'Invalid control character at «\\ts"}»'),
        ('{"title": "Ada", "text": "\\x"}', "Invalid \\escape"),
    ],
)
def test_what_is_wrong_with_a_record_is_said_to_the_end(line, said):
    notes = Notes(None)
    assert not list(json_text.records(Source(None, line), notes))
    assert [found.message for found in notes.found] == [f"not valid JSON: {said}"]
