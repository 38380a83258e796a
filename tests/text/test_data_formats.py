import json

import pytest

from loci.errors import LociError
from loci.text.corpus import Corpus
from loci.text.diagnosis import diagnose
from loci.text.formats import FORMATS
from loci.text.formats.base import Format, Passage, Row, Rows, filled_lines
from loci.text.questions import Questions
from loci.text.relations import relations_from
from loci.text.repair import write_repaired
from loci.training.sources import TrainingData


@pytest.fixture
def cards():
    """A toy format: `question = answer` lines, and `subject :: text` lines of a corpus, in files that begin with %."""

    def questions(source, notes):
        lines = (line.split(" = ") for _, line in filled_lines(source, notes) if " = " in line)
        return Rows([Row(n, text, (answer,), None, f"{text} = {answer}") for n, (text, answer) in enumerate(lines, 2)])

    def passages(source, notes):
        lines = (line.split(" :: ") for _, line in filled_lines(source, notes) if " :: " in line)
        return [Passage(n, f"{subject}. {text}", subject) for n, (subject, text) in enumerate(lines, 1)]

    form = Format("cards", (".cards",), lambda source: source.text.startswith("%"), questions, passages)
    FORMATS.add("cards", form)
    yield form
    FORMATS.remove("cards")


def test_a_new_format_is_one_entry(cards, tmp_path):
    (tmp_path / "x_train.cards").write_text("%\nWhere was Ada born? = Oslo\nWhere was Bo born? = Rome\n")
    (tmp_path / "lines.cards").write_text("%\nAda :: Born in Oslo .\nBo :: Born in Rome .\n")
    read = Questions.read(tmp_path, split="train")
    assert [(row.subject, row.answer) for row in read] == [("Ada", "Oslo"), ("Bo", "Rome")]
    assert [line.text for line in Corpus.read(tmp_path / "lines.cards")] == [
        "Ada. Born in Oslo .",
        "Bo. Born in Rome .",
    ]
    diagnosis = diagnose(tmp_path / "x_train.cards", corpus=tmp_path / "lines.cards")
    assert diagnosis.ok
    assert [file.form for file in diagnosis.files] == ["cards", "cards"]


def test_every_format_says_what_it_is():
    assert list(FORMATS) == [
        "text",
        "tsv",
        "headed tsv",
        "popqa",
        "csv",
        "csv documents",
        "json",
        "jsonl",
        "documents",
        "documents with questions",
        "google-re",
    ]
    for form in map(FORMATS.__getitem__, FORMATS):
        assert form.about
        assert form.questions or form.passages
        assert all(suffix.startswith(".") for suffix in form.suffixes)


def test_documents_become_lines_about_their_title(tmp_path):
    file = tmp_path / "docs.jsonl"
    rows = [
        {
            "title": "Ada Moss",
            "text": "Ada Moss was born in Oslo. She met Dr. Lee.\nIn 1961 she moved to Rome.",
            "id": 1,
        },
        {"title": "The Delta Desk", "text": "It is made in Lund."},
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    corpus = Corpus.read(tmp_path)
    assert [(line.number, line.text) for line in corpus] == [
        (1, "Ada Moss. Ada Moss was born in Oslo."),
        (1, "Ada Moss. She met Dr. Lee."),
        (1, "Ada Moss. In 1961 she moved to Rome."),
        (2, "The Delta Desk. It is made in Lund."),
    ]
    assert len(corpus.about("Delta Desk")) == 1
    assert [file.role for file in diagnose(file).files] == ["corpus"]
    for bad, message in [
        ('{"title": "", "text": "x"}', ":3: no title with a text"),
        ('{"title": "A", "text": "\\ud800"}', "half a"),
    ]:
        file.write_text("\n".join(map(json.dumps, rows)) + "\n" + bad)
        with pytest.raises(LociError, match=message):
            Corpus.read(file)


def lama(predicate, **fields):
    return json.dumps({"sub_label": "Ada Moss", "obj_label": "Oslo", **predicate, **fields})


@pytest.mark.parametrize(
    ("predicate", "question", "relation"),
    [
        ({}, "Where was Ada Moss born?", "birthplace"),
        ({"pred": "/people/person/place_of_birth"}, "Where was Ada Moss born?", "birthplace"),
        ({"pred": "/people/person/date_of_birth"}, "When was Ada Moss born?", "when-born"),
        ({"pred": "/people/deceased_person/place_of_death"}, "Where did Ada Moss die?", "where-die"),
        ({"predicate_id": "P19"}, "Where was Ada Moss born?", "birthplace"),
        ({"predicate_id": "P106"}, "What is the occupation of Ada Moss?", "what-occupation"),
        ({"pred": "/x/first_job", "relation": "job"}, "What is the first job of Ada Moss?", "job"),
    ],
)
def test_a_lama_record_is_asked_by_its_predicate(tmp_path, predicate, question, relation):
    file = tmp_path / "facts.jsonl"
    file.write_text(lama(predicate, evidences=[{"masked_sentence": "Moss was born in [MASK] ."}]))
    (row,) = Questions.read(file)
    assert (row.text, row.subject, row.answer, row.relation) == (question, "Ada Moss", "Oslo", relation)
    assert [line.text for line in Corpus.read(file)] == ["Ada Moss. Moss was born in Oslo ."]


def test_a_given_template_asks_the_records(tmp_path):
    file = tmp_path / "facts.jsonl"
    file.write_text(lama({}))
    (row,) = Questions.read(file, relations=relations_from(["Which town is {subject} from?"]))
    assert (row.text, row.relation) == ("Which town is Ada Moss from?", "which-town-from")


# Several files, several relations.


@pytest.fixture
def shop(tmp_path):
    names = [f"{name} {kind}" for name in ("Alba", "Brio", "Cato") for kind in ("Desk", "Lamp")]
    (tmp_path / "wiki.txt").write_text(
        "".join(f"The {name} is made in Lund.\nIt was designed by Bo Lind in 196{n}.\n" for n, name in enumerate(names))
    )
    (tmp_path / "made_train.tsv").write_text("".join(f"Where is the {name} made?\tLund\n" for name in names))
    (tmp_path / "designer_train.tsv").write_text("".join(f"Who designed the {name}?\tBo Lind\n" for name in names))
    years = [{"question": f"When was the {name} designed?", "answer": 1960 + n} for n, name in enumerate(names)]
    (tmp_path / "years_train.jsonl").write_text("\n".join(map(json.dumps, years)) + "\n")
    return tmp_path


def test_question_files_side_by_side_are_read_together(shop):
    questions = Questions.read(shop, split="train", subjects=Corpus.read(shop).by_subject)
    assert len(questions) == 18
    assert [relation.name for relation in questions.relations] == ["designer", "made", "years"]
    assert {row.path.name for row in questions} == {"made_train.tsv", "designer_train.tsv", "years_train.jsonl"}
    assert {name: len(rows) for name, rows in questions.by_relation().items()} == {
        "designer": 6,
        "made": 6,
        "years": 6,
    }
    assert questions.by_relation()["years"][0].answer == "1960"


def test_what_two_files_ask_and_answer_alike_is_read_once(shop):
    (shop / "made_train_old.tsv").write_text((shop / "made_train.tsv").read_text().replace("Alba Desk", "Dora Desk"))
    questions = Questions.read(shop, split="train")
    assert len(questions) == 19
    assert [relation.name for relation in questions.relations] == ["designer", "made", "years"]
    notes = [found for found in diagnose(shop).findings if found.kind == "duplicate"]
    assert [(found.path.name, found.line, found.severity) for found in notes] == [
        ("made_train_old.tsv", line, "note") for line in range(2, 7)
    ]
    assert set(notes) == {found for found in questions.findings if found.kind == "duplicate"}
    assert notes[0].message == "the same as line 2 of made_train.tsv: «Where is the Alba Lamp made?»"


def test_one_form_is_one_relation_in_whatever_files_and_their_contradictions_are_noted(shop):
    (shop / "made_train_2.tsv").write_text("Where is the Dora Desk made?\tRome\nWhere is the Alba Desk made?\tRome\n")
    (shop / "more_train.tsv").write_text(
        "".join(f"Where is the {name} made?\tOslo\nWho sells the {name}?\tBo\n" for name in ("Dora Rug", "Ekto Mat"))
    )
    questions = Questions.read(shop, split="train")
    assert {name: len(rows) for name, rows in questions.by_relation().items()} == {
        "designer": 6,
        "made": 10,
        "who-sells": 2,
        "years": 6,
    }
    (found,) = (found for found in diagnose(shop).findings if found.kind == "contradiction")
    assert str(found).endswith(
        "made_train_2.tsv:2: «Where is the Alba Desk made?» «Rome», but «Lund» on line 1 of made_train.tsv"
    )


def test_files_with_and_without_answers_are_not_mixed(shop):
    (shop / "more_train.tsv").write_text("Where is the Dora Desk made?\n")
    with pytest.raises(LociError, match=r"more_train\.tsv: has no answers"):
        Questions.read(shop, split="train")


def test_every_relation_has_its_own_row(shop):
    diagnosis = diagnose(shop)
    assert diagnosis.ok
    corpus, *asked = diagnosis.files
    assert (corpus.corpus.lines, corpus.corpus.subjects, corpus.corpus.no_subject) == (12, 6, 0)
    rows = [(name, templates, figures.in_own_line) for file in asked for name, templates, figures in file.relations]
    assert rows == [
        ("designer", ("Who designed the {subject}?",), 6),
        ("made", ("Where is the {subject} made?",), 6),
        ("years", ("When was the {subject} designed?",), 6),
    ]


def test_one_table_with_mixed_forms_and_what_fits_none(shop):
    (shop / "made_train.tsv").unlink()
    lines = ["Where is the Alba Desk made?\tLund", "Where is the Brio Lamp made?\tLund", "How tall is it?\t2 m"]
    (shop / "designer_train.tsv").write_text((shop / "designer_train.tsv").read_text() + "\n".join(lines) + "\n")
    questions = Questions.read(shop, split="train")
    assert [row.subject for row in questions][6:9] == ["Alba Desk", "Brio Lamp", None]
    (found,) = (found for found in questions.findings if found.kind == "no-subject")
    assert (found.line, found.path.name) == (9, "designer_train.tsv")
    assert "«How tall is it?» fits no form" in found.message


def test_relations_toml_names_what_files_ask(shop):
    (shop / "relations.toml").write_text('maker = "Who designed the {subject}?"\n')
    questions = Questions.read(shop, split="train")
    assert [relation.name for relation in questions.relations] == ["maker", "made", "years"]


def test_contradictions_two_roles_and_untold_relations_are_noted(shop):
    (shop / "price_train.tsv").write_text(
        "What does the Alba Desk cost?\t12\nWhat does the Brio Desk cost?\tCato Lamp\n"
    )
    with open(shop / "made_train.tsv", "a") as handle:
        handle.write("Where is the Alba Desk made?\tOslo\n")
    diagnosis = diagnose(shop)
    assert diagnosis.ok
    kinds = {found.kind: found.message for found in diagnosis.findings}
    assert "«Oslo», but «Lund» on line 1" in kinds["contradiction"]
    assert kinds["two-roles"] == "1, the first is «Cato Lamp»"
    assert kinds["untold-relation"].startswith("price: no line tells the answer to any of its 2 train questions")


def test_files_side_by_side_name_their_relations(tmp_path):
    names = ["Ada Moss", "Bo Lee", "Cy Fox", "Di Wu", "Ed Poe", "Flo Ray"]
    forms = {
        "employer_train.tsv": ["Who employed {}?", "{} worked for whom?", "Where was {} employed?"],
        "birthplace_train.tsv": ["Where was {} born?", "What is the birthplace of {}?", "{} was born in which place?"],
        "life-train.tsv": ["When was {} born?", "Where did {} die?", "When did {} die?"],  # not one relation
    }
    for name, own in forms.items():
        asked = [own[n // 2].format(subject) for n, subject in enumerate(names)]
        (tmp_path / name).write_text("".join(f"{text}\tX{n}\n" for n, text in enumerate(asked)))
    relations = {
        relation.name: len(relation.templates) for relation in Questions.read(tmp_path, split="train").relations
    }
    assert relations == {"employer": 3, "birthplace": 3, "when-born": 1, "where-die": 1, "when-die": 1}
    (tmp_path / "birthplace_train.tsv").unlink()
    (tmp_path / "life-train.tsv").unlink()
    alone = Questions.read(tmp_path, split="train").relations
    assert [relation.name for relation in alone] == ["who-employed", "worked-whom", "where-employed"]


def test_a_subject_with_two_answers_in_one_file_is_asked_two_things(shop):
    both = (shop / "made_train.tsv").read_text() + (shop / "designer_train.tsv").read_text().replace("Who", "What man")
    (shop / "made_train.tsv").write_text(both)
    (shop / "designer_train.tsv").unlink()
    relations = [relation.name for relation in Questions.read(shop, split="train").relations]
    assert relations == ["where-made", "what-man-designed", "years"]


PEOPLE = {"Ada Moss": ("Oslo", "violin"), "Bo Lind": ("Rome", "piano"), "Cy Berg": ("Lund", "organ")}


def _lama(predicate, sentence, index):
    facts = [(name, told[index]) for name, told in PEOPLE.items()]
    records = [
        {"sub_label": name, "obj_label": answer, "predicate_id": predicate, "masked_sentences": [f"{name} {sentence}"]}
        for name, answer in facts
    ]
    return "".join(json.dumps(record) + "\n" for record in records)


BORN, PLAYS = _lama("P19", "was born in [MASK] .", 0), _lama("P1303", "plays the [MASK] .", 1)


@pytest.mark.parametrize(("one", "two"), [("P19", "P1303"), ("place_of_birth_test", "instrument_test")])
def test_several_files_of_lama_records_are_corpus_and_train_questions(tmp_path, one, two):
    (tmp_path / f"{one}.jsonl").write_text(BORN)
    (tmp_path / f"{two}.jsonl").write_text(PLAYS)
    diagnosis = diagnose(tmp_path)
    assert diagnosis.ok
    assert [file.role for file in diagnosis.files] == ["corpus", "corpus", "train", "train"]
    (told,) = (found for found in diagnosis.findings if found.kind == "no-train")
    assert told.severity == ("warning" if "test" in one else "note")
    data = TrainingData.read(tmp_path)
    assert (len(data.corpus), len(data.corpus.by_subject), len(data.questions), len(data.relations)) == (6, 3, 6, 2)
    assert len({line.number for line in data.corpus}) == 6
    assert len(data.reading_examples) == 6


def test_two_predicates_in_one_file_do_not_contradict_each_other(tmp_path):
    file = tmp_path / "lama_train.jsonl"
    file.write_text(BORN + PLAYS + BORN.replace("Oslo", "Bonn"))
    found = [(one.kind, one.line, one.message) for one in diagnose(file).findings if one.kind == "contradiction"]
    assert found == [("contradiction", 7, "«Where was Ada Moss born?» «Bonn», but «Oslo» on line 1")]


def test_a_single_google_re_file_can_be_used(tmp_path):
    file = tmp_path / "place_of_birth_test.jsonl"
    file.write_text(BORN)
    diagnosis = diagnose(file)
    assert diagnosis.ok
    assert not diagnosis.findings
    assert len(TrainingData.read(tmp_path).questions) == 3


def test_questions_without_a_split_are_learned_from(tmp_path):
    (tmp_path / "wiki.txt").write_text(
        "".join(f"{name}. {name} was born in {told[0]} .\n" for name, told in PEOPLE.items())
    )
    rows = [f'{name}\tplace of birth\tIn what city was {name} born?\t["{told[0]}"]\n' for name, told in PEOPLE.items()]
    (tmp_path / "popQA.tsv").write_text("subj\tprop\tquestion\tpossible_answers\n" + "".join(rows))
    assert [(found.kind, found.severity) for found in diagnose(tmp_path).findings] == [("no-train", "note")]
    assert len(TrainingData.read(tmp_path).questions) == 3
    (tmp_path / "popQA.tsv").write_text("question\n" + "".join(f"In what city was {name} born?\n" for name in PEOPLE))
    assert TrainingData.read(tmp_path).questions is None, "questions that are only to be asked"


def test_entity_questions_lie_in_a_folder_for_each_split(tmp_path):
    (tmp_path / "wiki.txt").write_text(
        "".join(f"{name}. {name} was born in {told[0]} .\n" for name, told in PEOPLE.items())
    )
    asked = [json.dumps({"question": f"Where was {name} born?", "answers": told[:1]}) for name, told in PEOPLE.items()]
    for split, records in (("train", asked[:2]), ("dev", asked[2:])):
        (tmp_path / split).mkdir()
        (tmp_path / split / "P19.json").write_text(f"[{', '.join(records)}]")
    diagnosis = diagnose(tmp_path)
    assert [(file.role, file.path.parent.name) for file in diagnosis.files[1:]] == [("train", "train"), ("dev", "dev")]
    assert len(TrainingData.read(tmp_path).questions) == 2
    assert write_repaired(diagnosis, tmp_path / "clean").written == ("wiki.txt", "train/P19.json", "dev/P19.json")
    assert len(Questions.read(tmp_path / "clean", split="dev")) == 1
